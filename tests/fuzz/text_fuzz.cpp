// Any texts are a corpus or refused; the alphabet is that of the texts, and shuffling keeps them.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>
#include <vector>

#include "fuzz/input.hpp"
#include "fuzz/memory_file.hpp"
#include "spectra/text.hpp"

// How many texts; the texts, with a byte of 255 between them.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace wane::bench;
  static fuzz::memory_file const files[] = {fuzz::memory_file("1"), fuzz::memory_file("2"),
                                            fuzz::memory_file("3"), fuzz::memory_file("4")};
  fuzz::input in(data, size);
  std::vector<std::string> texts, paths;
  for (int const count = 1 + in.below(4); static_cast<int>(texts.size()) < count;) {
    texts.push_back(in.until('\xff'));
    paths.push_back(files[texts.size() - 1].with(texts.back()));
  }
  corpus found;
  if (!fuzz::takes([&] { found = read_corpus(paths); })) return 0;
  std::set<char> seen;
  for (auto const& text : texts) seen.insert(text.begin(), text.end());
  fuzz::must(found.symbols == seen.size(), "an alphabet has other symbols than its texts");
  corpus const mixed = shuffled(found, 1);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto before = found.texts.at(i), after = mixed.texts.at(i);
    fuzz::must(before.size() == texts[i].size(), "a text has another number of tokens than bytes");
    for (std::size_t t = 0; t < before.size(); ++t) {
      auto const byte = static_cast<unsigned char>(texts[i][t]);
      auto const number = std::count_if(
          seen.begin(), seen.end(), [&](char c) { return static_cast<unsigned char>(c) < byte; });
      fuzz::must(before[t] == number, "a byte has the number of another");
    }
    std::sort(before.begin(), before.end()), std::sort(after.begin(), after.end());
    fuzz::must(before == after, "a shuffled text has other tokens");
  }
  return 0;
}
