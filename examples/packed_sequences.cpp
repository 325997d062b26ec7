// Packed sequences: texts of different lengths in one tensor, each with a state of its own.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>
#include <wane/wane.hpp>

// A fading count of recent vowels in each text: h_t = e^{-1/4} h_{t-1} + [the letter is a vowel].
int main() {
  std::string const texts[] = {"to be or not to be", "", "the rest is silence", "a"};
  std::vector<wane::index> starts{0};
  std::vector<float> vowel;
  for (std::string const& text : texts) {
    for (char letter : text)
      vowel.push_back(std::string("aeiou").find(letter) == std::string::npos ? 0.f : 1.f);
    starts.push_back(static_cast<wane::index>(vowel.size()));
  }
  auto const tokens = static_cast<wane::index>(vowel.size());

  // One decay for all tokens: a stride of zero reads the same number everywhere.
  float const log_decay = -0.25f;
  wane::sequence_view<float const> const decay(&log_decay, {1, tokens, 1, 1}, {0, 0, 0, 0});
  wane::sequence_view<float const> const drive(vowel.data(), 1, tokens, 1, 1);
  wane::linear_recurrence<wane::decay_as::log, float> const memory(
      {.decay = decay, .drive = drive});

  std::vector<float> h(vowel.size());
  wane::recurrent_state<float> last(memory, std::ssize(texts));
  wane::run_options<float> options;
  options.packed = {starts};
  options.final = last;
  wane::run(memory, {h.data(), 1, tokens, 1, 1}, options);

  bool right = true;
  for (std::size_t n = 0; n < std::size(texts); ++n) {
    float alone = 0;
    for (wane::index t = starts[n]; t < starts[n + 1]; ++t)
      alone = std::exp(log_decay) * alone + vowel[static_cast<std::size_t>(t)];
    std::printf("%-22s %2d letters, ends with h = %.6f, alone %.6f\n",
                ('"' + texts[n] + '"').c_str(), static_cast<int>(last.positions()[n]),
                static_cast<double>(last.values()[n]), static_cast<double>(alone));
    right = right && std::abs(last.values()[n] - alone) <= 1e-6f * (1 + alone);
    right = right && last.positions()[n] == std::ssize(texts[n]);
  }

  // A NaN in the first text changes nothing in the others.
  std::vector<float> const clean = h;
  vowel[3] = std::numeric_limits<float>::quiet_NaN();
  wane::run(memory, {h.data(), 1, tokens, 1, 1}, options);
  auto const third = static_cast<std::size_t>(starts[2]);
  bool const kept = std::equal(clean.begin() + starts[2], clean.end(), h.begin() + starts[2]);
  std::printf("a NaN in the first text: its end is %g, the other texts are %s\n",
              static_cast<double>(h[third - 1]), kept ? "unchanged" : "CHANGED");
  return right && kept && std::isnan(h[third - 1]) ? 0 : 1;
}
