// Softmax attention of random tensors, and its equation as a naive loop.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/tensor.hpp"
#include "wane/operators/softmax_attention.hpp"
#include "wane/run/attention/attend.hpp"

namespace support {

using wane::head_groups;

struct attention_sizes {
  index batch = 1, time = 1, heads = 1, rows = 1, columns = 1;
  index cache = 0, query_heads = 0, key_heads = 0, value_heads = 0, window = 0;
  head_groups groups = head_groups::interleaved;
  bool entropy = false;
  std::vector<index> starts = {};
  support::arrangement lies = support::arrangement::plain;
  bool causal = true;
  std::vector<index> key_starts = {};  // of keys that lie apart

  index outputs() const { return columns + (entropy ? 1 : 0); }
  index of(index own) const { return own ? own : heads; }
  index head(index h, index own) const {
    return groups == head_groups::tiled ? h % of(own) : h / (heads / of(own));
  }
  // The keys that query t may see: first(t) <= s < end(t).
  index first(index t) const {
    if (!causal) return starts.empty() ? 0 : keys_from()[sequence(t)];
    index begin = 0;
    for (index start : starts)
      if (start <= t) begin = start;
    return window ? std::max(begin, t + cache - window + 1) : begin;
  }
  index end(index t) const {
    if (causal) return t + cache + 1;
    return starts.empty() ? time + cache : keys_from()[sequence(t) + 1];
  }

 private:
  std::vector<index> const& keys_from() const { return key_starts.empty() ? starts : key_starts; }
  std::size_t sequence(index t) const {
    std::size_t n = 0;
    while (starts[n + 1] <= t) ++n;
    return n;
  }
};

template <class Io>
struct attention_case {
  attention_sizes s;
  tensor<Io> query, key, value, output;

  explicit attention_case(attention_sizes const& of, double size = 1)
      : s(of),
        query(s.batch, s.time, s.of(s.query_heads), s.rows, s.lies),
        key(s.batch, s.cache + s.time, s.of(s.key_heads), s.rows, s.lies),
        value(s.batch, s.cache + s.time, s.of(s.value_heads), s.columns, s.lies),
        output(s.batch, s.time, s.heads, s.outputs(), s.lies) {
    support::random_values random(7);
    query.fill([&](auto...) { return random.uniform(-size, size); });
    key.fill([&](auto...) { return random.uniform(-1, 1); });
    value.fill([&](auto...) { return random.uniform(-1, 1); });
  }
  wane::softmax_attention<Io> op(std::optional<double> scale = {}) const {
    return {{.query = query, .key = key, .value = value},
            {.scale = scale,
             .window = s.window,
             .causal = s.causal,
             .groups = s.groups,
             .entropy = s.entropy}};
  }
  void run(int threads = 1) const {
    wane::attend(op(), output.view(),
                 {.packed = {s.starts}, .key_packed = {s.key_starts}, .threads = threads});
  }
  // The equation, in Real.
  template <class Real>
  std::vector<Real> naive(index b, index t, index h, double scale) const {
    std::vector<Real> weights, y(static_cast<std::size_t>(s.outputs()));
    Real greatest = -HUGE_VAL, total = 0;
    for (index n = s.first(t); n < s.end(t); ++n) {
      Real score = 0;
      for (index i = 0; i < s.rows; ++i)
        score += static_cast<Real>(query(b, t, s.head(h, s.query_heads), i)) *
                 static_cast<Real>(key(b, n, s.head(h, s.key_heads), i));
      weights.push_back(score * static_cast<Real>(scale));
      greatest = std::max(greatest, weights.back());
    }
    for (Real& w : weights) total += w = std::exp(w - greatest);
    for (index n = s.first(t), k = 0; n < s.end(t); ++n, ++k)
      for (index j = 0; j < s.columns; ++j)
        y[static_cast<std::size_t>(j)] +=
            weights[static_cast<std::size_t>(k)] / total *
            static_cast<Real>(value(b, n, s.head(h, s.value_heads), j));
    if (s.entropy)
      for (Real w : weights) y.back() -= w > 0 ? w / total * std::log(w / total) : 0;
    return y;
  }
  template <class Real = double>
  double error() const {
    nearness near;
    double const scale = 1 / std::sqrt(static_cast<double>(s.rows));
    for (index b = 0; b < s.batch; ++b)
      for (index t = 0; t < s.time; ++t)
        for (index h = 0; h < s.heads; ++h) {
          auto const y = naive<Real>(b, t, h, scale);
          for (index j = 0; j < s.outputs(); ++j)
            near.add(static_cast<double>(output(b, t, h, j)),
                     static_cast<double>(y[static_cast<std::size_t>(j)]));
        }
    EXPECT_TRUE(output.margins_untouched());
    return near.both();
  }
};

// Scores below 1 in size: their roundings are a few eps, and weights and sums add as many.
inline constexpr double in_float = 1e-6, in_double = 2e-15;

// How far the outputs of a case are from the equation in Real.
template <class Case, class Real = double>
double error_of(attention_sizes const& s) {
  Case const run(s);
  run.run();
  return run.template error<Real>();
}

}  // namespace support
