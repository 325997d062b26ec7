// Random inputs of a keyed memory, one run, and its distance from the naive loop in double.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "support/naive_memories.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/tensor.hpp"
#include "wane/operators/delta_net.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/run/run.hpp"

namespace support {

struct memory_shape {
  index batch = 1, time = 1, heads = 1, rows = 1, columns = 1;
  index groups = 0;  // of query and key heads; 0 for as many as heads
  wane::keyed_options options = {};
  arrangement how = arrangement::plain;
  wane::direction way = wane::direction::forward;
  std::vector<index> starts = {};  // of packed sequences, if any

  index shared() const { return groups ? groups : heads; }
  index sequences() const { return starts.empty() ? batch : static_cast<index>(starts.size()) - 1; }
  span_of_time span(index n) const {
    auto const i = static_cast<std::size_t>(n);
    bool const reverse = way == wane::direction::reverse;
    if (starts.empty()) return {0, time, reverse};
    return {starts[i], starts[i + 1], reverse};
  }
  std::string text() const {
    return testing::PrintToString(std::vector<index>{batch, time, heads, rows, columns, groups}) +
           " (batch, time, heads, rows, columns, groups)";
  }
};

// [B, T, H] of a [B, T, H, C] tensor: its channel 0.
template <class T>
wane::token_view<T> by_token(wane::sequence_view<T> const& x) {
  return {x.data, {x.extent[0], x.extent[1], x.extent[2]}, {x.stride[0], x.stride[1], x.stride[2]}};
}

// Every tensor that one of the operators reads. Keys are at most 1 long and strengths in [0, 2]:
// no token of a delta rule makes the state larger.
template <class Io>
struct memory_case {
  using io_type = Io;
  using accumulate = wane::widened<Io>;
  // Agreement of runners, HOUSE's 1e-6 in float; in double the same multiple of its rounding. Half
  // an ulp of a shorter output comes on top.
  static constexpr double rounding = std::is_same_v<Io, wane::bfloat16>  ? 0x1p-8
                                     : std::is_same_v<Io, wane::float16> ? 0x1p-11
                                                                         : 0;
  static constexpr double agreement = sizeof(accumulate) == 4 ? 1e-6 : 1e-13;
  memory_shape shape;
  double longer_sums = 1;  // sums over n times as many rows round as the root of n
  tensor<Io> query, key, value, row_decay, head_decay, slow_decay, strength, removal, rate, output;
  std::vector<wane::widened<Io>> bonus;
  wane::recurrent_state<accumulate> initial, final;

  explicit memory_case(memory_shape const& s, std::uint64_t seed = 1)
      : shape(s),
        query(s.batch, s.time, s.shared(), s.rows, s.how),
        key(s.batch, s.time, s.shared(), s.rows, s.how),
        value(s.batch, s.time, s.heads, s.columns, s.how),
        row_decay(s.batch, s.time, s.heads, s.rows, s.how),
        head_decay(s.batch, s.time, s.heads, 1, s.how),
        slow_decay(s.batch, s.time, s.heads, s.rows, s.how),
        strength(s.batch, s.time, s.heads, 1, s.how),
        removal(s.batch, s.time, s.shared(), s.rows, s.how),
        rate(s.batch, s.time, s.shared(), s.rows, s.how),
        output(s.batch, s.time, s.heads, s.columns, s.how),
        initial(s.sequences(), s.heads, s.rows, s.columns),
        final(s.sequences(), s.heads, s.rows, s.columns) {
    random_values random(seed);
    auto const even = [&](double low, double high) {
      return [&random, low, high](auto...) { return random.uniform(low, high); };
    };
    double const longest = 1 / std::sqrt(static_cast<double>(s.rows));
    query.fill(even(-1, 1)), value.fill(even(-1, 1));
    key.fill(even(-longest, longest)), removal.fill(even(-longest, longest));
    // Log decays of every size, one in eight of them 0 and one in eight a reset.
    auto const any_decay = [&](auto...) {
      auto const kind = random.bits() % 8;
      double const g = random.log_decay(1e-5, 2);
      return kind == 0 ? 0 : kind == 1 ? -HUGE_VAL : g;
    };
    row_decay.fill(any_decay), head_decay.fill(any_decay);
    // RWKV-7's are never below -e^{-1/2}.
    slow_decay.fill(even(-0.6065, 0));
    strength.fill(even(0, 2)), rate.fill(even(0, 1));
    for (index i = 0; i < s.heads * s.rows; ++i)
      bonus.push_back(static_cast<wane::widened<Io>>(random.uniform(-1, 1)));
    for (auto& x : initial.values()) x = static_cast<accumulate>(random.uniform(-1, 1));
    for (auto& x : final.values()) x = not_a_number<accumulate>();
  }

  // For linear attention and retrieval: positive features, and states of so many nodes, with the
  // column of their sums or without it.
  void make_features(index nodes = 1, bool sums = true) {
    longer_sums = std::sqrt(static_cast<double>(nodes));
    random_values random(2);
    auto const positive = [&](auto...) { return random.uniform(0.1, 1); };
    query.fill(positive), key.fill(positive);
    initial = {shape.sequences(), shape.heads, nodes * shape.rows, shape.columns + sums};
    final = initial;
    for (auto& x : initial.values()) x = static_cast<accumulate>(random.uniform(0, 1));
    for (auto& x : final.values()) x = not_a_number<accumulate>();
  }

  wane::keyed_inputs<Io> in() const { return {.query = query, .key = key, .value = value}; }
  wane::delta_inputs<Io> delta_in() const {
    return {.query = query, .key = key, .value = value, .strength = by_token(strength.view())};
  }
  wane::rwkv7_inputs<Io> rwkv7_in() const {
    return {.query = query,
            .key = key,
            .value = value,
            .removal = removal,
            .rate = rate,
            .bonus = bonus_view()};
  }
  wane::view<wane::widened<Io> const, 2> bonus_view() const {
    return {bonus.data(), shape.heads, shape.rows};
  }

  naive_inputs<Io> naive() const {
    naive_inputs<Io> x{query, key, value};
    if (shape.options.scale) x.scale = *shape.options.scale;
    x.normalise = shape.options.normalise, x.epsilon = shape.options.epsilon;
    x.tiled = shape.options.groups == wane::head_groups::tiled;
    return x;
  }

  // Runs `op`; `token` is one of the naive functions, with naive() completed in `inputs`.
  template <class Op, class Token>
  void expect(Op const& op, naive_inputs<Io> const& inputs, Token const& token) {
    wane::run(op, output.view(),
              wane::run_options<accumulate>{.initial = std::as_const(initial),
                                            .final = final,
                                            .packed = {shape.starts},
                                            .direction = shape.way});
    nearness outputs, states;
    auto const K = static_cast<std::size_t>(op.shape().rows),
               V = static_cast<std::size_t>(op.shape().columns);
    for (index n = 0; n < shape.sequences(); ++n)
      for (index h = 0; h < shape.heads; ++h) {
        index const b = shape.starts.empty() ? n : 0;
        auto const first = static_cast<std::size_t>(n * shape.heads + h) * K * V;
        naive_state<double> s{K, V};
        for (std::size_t i = 0; i < K * V; ++i)
          s.s[i] = static_cast<double>(initial.values()[first + i]);
        shape.span(n).for_each([&](index t) {
          auto const y = token(inputs, s, b, t, h);
          for (index j = 0; j < shape.columns; ++j)
            outputs.add(static_cast<double>(static_cast<accumulate>(output(b, t, h, j))),
                        y[static_cast<std::size_t>(j)]);
        });
        for (std::size_t i = 0; i < K * V; ++i)
          states.add(static_cast<double>(final.values()[first + i]), s.s[i]);
      }
    EXPECT_LE(outputs.both(), agreement * longer_sums + rounding) << shape.text();
    EXPECT_LE(states.both(), agreement) << shape.text();
    EXPECT_TRUE(output.margins_untouched()) << shape.text();
  }
};

// Shapes: ragged in rows and columns, in every layout and direction, packed, grouped, normalised.
inline std::vector<memory_shape> memory_shapes() {
  using enum arrangement;
  using wane::direction, wane::head_groups;
  std::vector<memory_shape> shapes;
  for (index rows : {1, 3, 5, 17, 64, 65})
    for (index columns : {1, 3, 5, 17, 64, 65}) shapes.push_back({1, 70, 1, rows, columns});
  for (arrangement how : all_arrangements)
    for (direction way : {direction::forward, direction::reverse})
      shapes.push_back({2, 37, 3, 5, 7, 0, {}, how, way});
  for (direction way : {direction::forward, direction::reverse})
    for (arrangement how : {plain, spread})
      shapes.push_back({1, 71, 2, 9, 8, 0, {}, how, way, {0, 0, 1, 17, 17, 64, 71}});
  for (head_groups groups : {head_groups::interleaved, head_groups::tiled})
    for (index each : {1, 2, 3}) shapes.push_back({2, 33, 6, 5, 3, 6 / each, {.groups = groups}});
  shapes.push_back({2, 33, 6, 5, 3, 1, {.normalise = true, .groups = head_groups::tiled}});
  for (index rows : {1, 3, 17, 65})
    for (double epsilon : {1e-6, 0.1})
      shapes.push_back({1, 40, 2, rows, 5, 0, {.normalise = true, .epsilon = epsilon}});
  shapes.push_back({1, 40, 2, 17, 5, 0, {.scale = 1, .normalise = true}, spread});
  for (double scale : {1., -0.37, 20.}) shapes.push_back({1, 40, 2, 4, 5, 0, {.scale = scale}});
  shapes.push_back({1, 300, 1, 32, 33});
  shapes.push_back({1, 1, 1, 8, 8});
  shapes.push_back({2, 0, 2, 4, 3});
  return shapes;
}

// body(c), with c a memory_case of Io, for every shape.
template <class Io, class Body>
void for_each_memory(Body const& body) {
  for (memory_shape const& shape : memory_shapes()) {
    memory_case<Io> c(shape);
    body(c);
    if (testing::Test::HasFailure()) return;  // one shape says it all
  }
}

}  // namespace support
