// Any command line of wane-spectra is taken or refused; options that are taken are in their ranges.
// SPDX-License-Identifier: MIT
#include <vector>

#include "fuzz/input.hpp"
#include "spectra/options.hpp"

// The arguments, one a line. Files that they name are looked for in the working directory, and
// those to be written are opened there.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::input in(data, size);
  std::vector<std::string> words{"wane-spectra"};
  while (!in.empty() && words.size() < 40) {
    words.push_back(in.until('\n'));
    if (words.back().find_first_of(std::string_view("/\0", 2)) != std::string::npos) return 0;
  }
  std::vector<char const*> pointers;
  for (auto const& word : words) pointers.push_back(word.c_str());
  pointers.push_back(nullptr);
  fuzz::takes([&] {
    auto const found = wane::bench::parse_options(static_cast<int>(words.size()), pointers.data());
    if (!found) return;
    int const sources = found->kernel.has_value() + !found->text.empty() + !found->series.empty() +
                        !found->checkpoint.empty() + found->laplace.has_value();
    fuzz::must(sources == 1, "there is not one source", sources);
    fuzz::must(found->threads >= 1 && found->threads <= 1024, "threads", found->threads);
    fuzz::must(found->coherence > 0 && found->coherence < 1, "coherence", found->coherence);
    fuzz::must(found->fit_from >= 1, "fit from", found->fit_from);
    fuzz::must(!found->horizon || *found->horizon >= 2, "horizon", found->horizon.value_or(0));
    fuzz::must(!found->channels.empty(), "no channels");
    for (auto const n : found->channels) fuzz::must(n >= 1 && n <= 256, "channels", n);
    for (auto const t : found->at) fuzz::must(t >= 2, "position", t);
    fuzz::must(!found->accuracy || (*found->accuracy >= 1e-13 && *found->accuracy < 1), "accuracy",
               found->accuracy.value_or(0));
    fuzz::must(found->layers.head_size >= 0, "head size", found->layers.head_size);
    if (found->kernel)
      fuzz::must(found->kernel->parameter > 0 && found->kernel->parameter <= 10, "kernel",
                 found->kernel->parameter);
  });
  return 0;
}
