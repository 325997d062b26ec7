// Streaming: tokens arrive one by one and the state is saved half way; outputs are unchanged.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>
#include <wane/wane.hpp>

// h_t = e^{-r_c t^{-1/2}} h_{t-1} + x_t, t the position: the longer it has run, the longer it
// remembers. Only with the right position does a decoder agree with a full pass.
struct tapered_memory {
  static constexpr bool is_channelwise = true;
  wane::sequence_view<float const> input;  // x, [B, T, H, C]
  float const* rate;                       // r, [C]

  wane::recurrence_shape shape() const {
    return {input.extent[0], input.extent[1], input.extent[2], 1, input.extent[3]};
  }
  struct token {
    tapered_memory const& op;
    wane::place<> where;
    float log_decay(wane::index, wane::index c) const {
      return -op.rate[c] / std::sqrt(static_cast<float>(where.position));
    }
    float value(wane::index c) const { return op.input.read(where, c); }
  };
  token at(wane::place<> where) const { return {*this, where}; }
};

int main() {
  constexpr wane::index tokens = 1000, channels = 8;
  std::vector<float> x, rate, whole(tokens * channels);
  for (int i = 0; i < tokens * channels; ++i) x.push_back(std::sin(0.37f * static_cast<float>(i)));
  for (int c = 0; c < channels; ++c) rate.push_back(std::pow(0.5f, static_cast<float>(c)));
  wane::sequence_view<float const> const all(x.data(), 1, tokens, 1, channels);
  wane::run(tapered_memory{all, rate.data()}, {whole.data(), 1, tokens, 1, channels});

  // A decoder owns one token of input and output, and a state; the operator reads the input anew
  // at every step.
  float now[channels], heard[channels];
  tapered_memory const decoder{{now, 1, 1, 1, channels}, rate.data()};
  wane::sequence_view<float> const output(heard, 1, 1, 1, channels);
  wane::recurrent_state<float> state(decoder), saved = state;
  float worst = 0, worst_resumed = 0, worst_lost = 0;
  auto const decode = [&](wane::recurrent_state<float>& held, wane::index t) {
    std::copy_n(x.data() + t * channels, channels, now);
    wane::step(decoder, output, held);
    float apart = 0;
    for (wane::index c = 0; c < channels; ++c)
      apart =
          std::max(apart, std::abs(heard[c] - whole[static_cast<std::size_t>(t * channels + c)]));
    return apart;
  };
  for (wane::index t = 0; t < tokens; ++t) {
    if (t == tokens / 2) saved = state;
    worst = std::max(worst, decode(state, t));
  }
  // The saved state holds the position; values alone would start the taper again.
  wane::recurrent_state<float> lost = saved;
  lost.positions()[0] = 0;
  for (wane::index t = tokens / 2; t < tokens; ++t) {
    worst_resumed = std::max(worst_resumed, decode(saved, t));
    worst_lost = std::max(worst_lost, decode(lost, t));
  }
  std::printf("largest difference to the run over all %d tokens:\n", int{tokens});
  std::printf("  token by token                    %.1e\n", static_cast<double>(worst));
  std::printf("  resumed from the saved state      %.1e\n", static_cast<double>(worst_resumed));
  std::printf("  resumed without its position      %.1e\n", static_cast<double>(worst_lost));
  return worst <= 1e-6f && worst_resumed <= 1e-6f && worst_lost > 0.1f ? 0 : 1;
}
