// VLA (arXiv 2605.11196), section 6: the gain of chunks, linear time, and the crossing with
// softmax.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "claims/claim.hpp"
#include "shared/stopwatch.hpp"
#include "wane/operators/softmax_attention.hpp"
#include "wane/operators/vla.hpp"
#include "wane/run/attention/attend.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {
namespace {

constexpr index heads = 4, rows = 64;

struct tokens_of_heads {
  index tokens;
  std::vector<float> query, key, value, y;

  explicit tokens_of_heads(index n)
      : tokens(n), query(numbers()), key(numbers()), value(numbers()), y(numbers()) {
    for (std::size_t i = 0; i < query.size(); ++i) {
      auto const number = [i](std::size_t prime) {
        return static_cast<float>(i * prime % 1013) / 1013 - 0.5f;
      };
      query[i] = number(7919), key[i] = number(6271), value[i] = number(4409);
    }
  }
  std::size_t numbers() const { return static_cast<std::size_t>(tokens * heads * rows); }
  sequence_view<float> view_of(std::vector<float>& x) const {
    return {x.data(), 1, tokens, heads, rows};
  }
  vla_inputs<float> in() {
    return {.query = view_of(query), .key = view_of(key), .value = view_of(value)};
  }

  void take() { run(vla<float>(in()), view_of(y), {.threads = 1}); }
  void take_by_token() {
    auto const all = in();
    recurrent_state<float> state(1, heads, rows, 2 * rows);
    for (index t = 0; t < tokens; ++t) {
      auto const own = [t](auto const& x) { return x.tokens(t, t + 1); };
      step(vla<float>({.query = own(all.query), .key = own(all.key), .value = own(all.value)}),
           own(view_of(y)), state);
    }
  }
  void attend_to_all() {
    attend(softmax_attention<float>(
               {.query = view_of(query), .key = view_of(key), .value = view_of(value)}),
           view_of(y), {.threads = 1});
  }
};

template <class Work>
double least_seconds(int times, Work const& work) {
  double least = HUGE_VAL;
  for (int i = 0; i < times; ++i) least = std::min(least, seconds_of(work, 1, 1));
  return least;
}

finding chunks_over_tokens() {
  tokens_of_heads x(2048);
  double const whole = least_seconds(5, [&] { x.take(); }),
               stepped = least_seconds(3, [&] { x.take_by_token(); });
  char remark[240];
  std::snprintf(remark, sizeof remark,
                "run, 16 tokens at a time, over step, one: %.0f and %.0f ns a token and head of "
                "64 x 64, one thread; the paper has a fused kernel over a loop of Python on a GPU",
                1e9 * whole / (2048 * heads), 1e9 * stepped / (2048 * heads));
  return {stepped / whole, stepped > 14 * whole, false, remark};
}

finding linear_time() {
  double per_token[3];
  index tokens = 1024;
  for (double& each : per_token) {
    tokens_of_heads x(tokens);
    each = least_seconds(5, [&] { x.take(); }) / static_cast<double>(tokens * heads);
    tokens *= 8;
  }
  char remark[200];
  std::snprintf(remark, sizeof remark,
                "%.0f, %.0f, %.0f ns a token and head for T = 1024, 8192, 65536, one thread",
                1e9 * per_token[0], 1e9 * per_token[1], 1e9 * per_token[2]);
  double const found =
      *std::max_element(per_token, per_token + 3) / *std::min_element(per_token, per_token + 3);
  return {found, found < 1.5, false, remark};
}

finding crossing() {
  index low = 64, high = 65536;  // softmax is faster, and slower
  while (high - low > 16) {
    index const tokens = (low + high) / 32 * 16;
    tokens_of_heads x(tokens);
    x.take(), x.attend_to_all();
    int const times = tokens > 4096 ? 1 : 7;
    bool const softmax_is_faster =
        least_seconds(times, [&] { x.attend_to_all(); }) < least_seconds(
                                                               times, [&] { x.take(); });
    (softmax_is_faster ? low : high) = tokens;
  }
  char remark[200];
  std::snprintf(remark, sizeof remark,
                "tokens from which vla takes less time than wane's softmax attention, in blocks; "
                "%d heads of 64, float, one thread; the paper's are on a GPU",
                static_cast<int>(heads));
  return {static_cast<double>(high), high <= 43000, false, remark};
}

}  // namespace

std::vector<claim> vla_cost_claims() {
  return {{"vla-6-kernel", "VLA, section 6", "times that one pass is faster than token by token",
           14, chunks_over_tokens},
          {"vla-6-linear", "VLA, section 6",
           "most time a token over least, T = 1024 to 65536; "
           "O(T) is 1",
           1, linear_time},
          {"vla-6-crossing", "VLA, section 6", "tokens from which it is faster than softmax", 43000,
           crossing}};
}

}  // namespace wane::bench
