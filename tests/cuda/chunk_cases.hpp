// What memories must do by the chunk kernel of wane::cuda, on a GPU and on an emulated one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "support/in_double.hpp"
#include "support/random_values.hpp"
#include "wane/core/storage.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/kimi_delta_attention.hpp"
#include "wane/operators/mamba2.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/operators/vla_delta_net.hpp"

namespace support {

using wane::direction;
using wane::index;

struct chunk_shape {
  index batch = 1, time = 37, heads = 2, rows = 5, columns = 17;
  index of(index channels) const { return batch * time * heads * channels; }
};

// Numbers that every type holds exactly: those of bfloat16.
template <class Io>
struct chunk_numbers {
  using T = wane::widened<Io>;
  chunk_shape shape;
  random_values random{7};
  bool strong = false;  // some decays are 0, resets, or round to 1
  std::vector<Io> query = numbers(shape.rows, 1), key = numbers(shape.rows, 1),
                  value = numbers(shape.columns, 2), removal = numbers(shape.rows, 1),
                  rate = numbers(shape.rows, 0.5), strength = numbers(1, 1),
                  by_head = log_decays(1), by_row = log_decays(shape.rows),
                  bonus = numbers(shape.rows, 1), factor = factors();
  std::vector<T> constant = std::vector<T>(static_cast<std::size_t>(shape.heads), T(-0.03125)),
                 taper = std::vector<T>(static_cast<std::size_t>(shape.heads), T(0.5));

  wane::gla<Io> gla() const { return {in(), rows_of(by_row), {}}; }
  wane::retnet<Io> retnet() const {
    return {in(), {wane::view<T const, 1>(constant.data(), shape.heads)}, {}};
  }
  // Its taper looks at positions, its D is direct.
  wane::mamba2<Io> mamba2() const {
    wane::view<T const, 1> const of_heads(constant.data(), shape.heads);
    wane::view<T const, 1> const tapers(taper.data(), shape.heads);
    return {{.x = tensor(value, shape.columns),
             .dt = heads_of(strength),
             .A = of_heads,
             .B = rows_of(key),
             .C = rows_of(query),
             .D = of_heads,
             .taper = tapers}};
  }
  wane::gated_delta_net<Io> gated_delta_net() const {
    return {in(), heads_of(strength), heads_of(by_head), {.normalise = true}};
  }
  wane::delta_net<Io> delta_net() const {
    return {in(), heads_of(strength), {}, {.normalise = true}};
  }
  // One in four of its decays is 0.
  wane::vla_delta_net<Io> vla_delta_net() const {
    return {in(), heads_of(factor), {.normalise = true}};
  }
  wane::kimi_delta_attention<Io> kimi() const {
    return {in(), heads_of(strength), rows_of(by_row), {.normalise = true}};
  }
  wane::rwkv7<Io> rwkv7() const {
    return {in(),
            rows_of(by_row),
            {rows_of(removal), rows_of(rate),
             wane::view<Io const, 2>(bonus.data(), shape.heads, shape.rows)},
            {.normalise = true}};
  }

 private:
  static Io held(double x) { return static_cast<Io>(static_cast<float>(wane::bfloat16(float(x)))); }
  std::vector<Io> numbers(index channels, double size) {
    std::vector<Io> x;
    for (index i = 0; i < shape.of(channels); ++i) x.push_back(held(size * random.uniform(0, 1)));
    return x;
  }
  std::vector<Io> log_decays(index channels) {
    constexpr double reset = -std::numeric_limits<double>::infinity();
    double const kinds[] = {0, -1e-7, -0.5, -8, -60, -1000, reset};
    std::vector<Io> x;
    for (index i = 0; i < shape.of(channels); ++i) {
      double const slow = -0.1 * random.uniform(0, 1);
      auto const kind = static_cast<std::size_t>(random.uniform(0, 40));
      x.push_back(held(!strong || kind >= std::size(kinds) ? slow : kinds[kind]));
    }
    return x;
  }
  std::vector<Io> factors() {
    std::vector<Io> x = numbers(1, 1);
    for (std::size_t i = 0; i < x.size(); i += 4) x[i] = held(0);
    return x;
  }
  wane::sequence_view<Io const> tensor(std::vector<Io> const& x, index channels) const {
    return {x.data(), shape.batch, shape.time, shape.heads, channels};
  }
  wane::sequence_view<Io const> rows_of(std::vector<Io> const& x) const {
    return tensor(x, shape.rows);
  }
  wane::token_view<Io const> heads_of(std::vector<Io> const& x) const {
    return {x.data(), shape.batch, shape.time, shape.heads};
  }
  wane::keyed_inputs<Io> in() const {
    return {rows_of(query), rows_of(key), tensor(value, shape.columns)};
  }
};

// `runner` is called as wane::run is.
template <class Runner>
struct chunk_cases {
  Runner runner;

  // Each with its kind of decay and erasure; `strong` decays are of any size.
  template <class Io>
  void gla(chunk_shape const& shape, bool strong = false) const {
    both_ways<Io>("gla", shape, strong, [](auto const& x) { return x.gla(); });
  }
  template <class Io>
  void retnet(chunk_shape const& shape) const {
    both_ways<Io>("retnet", shape, false, [](auto const& x) { return x.retnet(); });
  }
  template <class Io>
  void mamba2(chunk_shape const& shape) const {
    both_ways<Io>("mamba2", shape, false, [](auto const& x) { return x.mamba2(); });
  }
  template <class Io>
  void gated_delta_net(chunk_shape const& shape, bool strong = false) const {
    both_ways<Io>("gated_delta_net", shape, strong,
                  [](auto const& x) { return x.gated_delta_net(); });
  }
  template <class Io>
  void kimi(chunk_shape const& shape, bool strong = false) const {
    both_ways<Io>("kimi_delta_attention", shape, strong, [](auto const& x) { return x.kimi(); });
  }
  template <class Io>
  void rwkv7(chunk_shape const& shape, bool strong = false) const {
    both_ways<Io>("rwkv7", shape, strong, [](auto const& x) { return x.rwkv7(); });
  }

  template <class Io>
  void delta_net(chunk_shape const& shape) const {
    both_ways<Io>("delta_net", shape, false, [](auto const& x) { return x.delta_net(); });
  }
  template <class Io>
  void vla_delta_net(chunk_shape const& shape) const {
    both_ways<Io>("vla_delta_net", shape, false, [](auto const& x) { return x.vla_delta_net(); });
  }

  // Sequences of 0, 1, 16 and other numbers of tokens, in one row.
  template <class Io>
  void pack() const {
    std::vector<index> const starts = {0, 0, 1, 17, 17, 36, 37};
    chunk_numbers<Io> const x{.shape = {}};
    chunk_numbers<double> const exact{.shape = {}};
    expect_near("gated_delta_net", x.gated_delta_net(), exact.gated_delta_net(), direction::forward,
                starts);
    expect_near("kimi_delta_attention", x.kimi(), exact.kimi(), direction::reverse, starts);
  }

  // A token that resets forgets what is no number, and so do the tokens after it.
  void forget_what_is_no_number() const {
    forget([](auto const& x) { return x.gated_delta_net(); });
  }
  // The same where every row of five fades by itself.
  void forget_in_rows() const {
    forget([](auto const& x) { return x.gla(); }), forget([](auto const& x) { return x.kimi(); });
  }
  // The same of a single token.
  void forget_in_one_token() const {
    chunk_numbers<float> x{.shape = {.time = 1, .heads = 1}};
    EXPECT_TRUE(std::isnan(outputs_after_nan(x.gated_delta_net(), runner)[2]));
    x.by_head[0] = -std::numeric_limits<float>::infinity();
    chunk_numbers<double> exact{.shape = x.shape};
    exact.by_head[0] = -std::numeric_limits<double>::infinity();
    EXPECT_LT(apart(outputs_after_nan(x.gated_delta_net(), runner),
                    outputs_after_nan(exact.gated_delta_net(), in_order{})),
              1e-6);
  }
  // Nor is it forgotten without a reset, however little is left.
  void keep_what_is_no_number() const {
    chunk_numbers<float> x{.shape = {.time = 40, .heads = 1}};
    x.by_head.assign(x.by_head.size(), -8);
    auto const y = outputs_after_nan(x.gated_delta_net(), runner);
    for (std::size_t t : {0u, 15u, 16u, 39u}) EXPECT_TRUE(std::isnan(y[t * 17 + 2])) << t;
  }

 private:
  template <class Make>
  void forget(Make const& make) const {
    chunk_numbers<float> x{.shape = {.time = 40, .heads = 1}};
    chunk_numbers<double> exact{.shape = x.shape};
    auto const reset = [](auto& of) {
      constexpr auto log =
          -std::numeric_limits<wane::widened<std::decay_t<decltype(of.by_head[0])>>>::infinity();
      for (std::size_t t : {21u, 33u}) {
        of.by_head[t] = log;
        for (std::size_t i = 0; i < 5; ++i) of.by_row[5 * t + i] = log;
      }
    };
    reset(x), reset(exact);
    x.value[9 * 17 + 5] = x.value[25 * 17 + 3] = std::numeric_limits<float>::quiet_NaN();
    auto const is = outputs_after_nan(make(x), runner);
    auto const should_be = outputs_after_nan(make(exact), in_order{});
    for (std::size_t t = 0; t < 9; ++t)
      EXPECT_NEAR(is[t * 17 + 5], should_be[t * 17 + 5], 1e-5) << "before a value, " << t;
    EXPECT_TRUE(std::isnan(is[9 * 17 + 5]));
    for (std::size_t t : {21u, 22u, 24u, 33u, 39u})
      for (std::size_t j = 0; j < 17; ++j)
        EXPECT_NEAR(is[t * 17 + j], should_be[t * 17 + j], 1e-5) << t << ", " << j;
    EXPECT_TRUE(std::isnan(is[20 * 17 + 2])) << "of the initial state";
    EXPECT_TRUE(std::isnan(is[32 * 17 + 3])) << "of a value";
  }

  // The initial state has a NaN in column 2.
  static std::vector<double> outputs_after_nan(auto const& op, auto const& run_by) {
    using T = wane::accumulate_type<std::decay_t<decltype(op)>>;
    wane::recurrence_shape const shape = op.shape();
    wane::recurrent_state<T> start(op);
    start.values()[2] = std::numeric_limits<T>::quiet_NaN();
    std::vector<T> y(static_cast<std::size_t>(shape.time * shape.columns));
    run_by(op, wane::sequence_view<T>(y.data(), 1, shape.time, 1, shape.columns),
           wane::run_options<T>{.initial = std::as_const(start)});
    return widened(y);
  }

  template <class Io, class Make>
  void both_ways(char const* name, chunk_shape const& shape, bool strong, Make const& make) const {
    chunk_numbers<Io> const x{.shape = shape, .strong = strong};
    chunk_numbers<double> const exact{.shape = shape, .strong = strong};
    for (auto way : {direction::forward, direction::reverse})
      expect_near(name, make(x), make(exact), way);
  }
  template <class Op, class Exact>
  void expect_near(char const* name, Op const& op, Exact const& exact, direction way,
                   std::vector<index> const& starts = {}) const {
    auto const is = results_of(op, way, starts, runner);
    auto const should_be = results_of(exact, way, starts, in_order{});
    double const bound = is.bound;
    EXPECT_LT(apart(is.output, should_be.output), bound) << name;
    EXPECT_LT(apart(is.final, should_be.final), bound) << name;
    for (std::size_t n = 0; n < is.positions.size(); ++n)
      EXPECT_EQ(is.positions[n], 1000 + static_cast<index>(n) +
                                     (starts.empty() ? op.shape().time : starts[n + 1] - starts[n]))
          << name;
  }

  struct results {
    std::vector<double> output, final;
    std::vector<index> positions;
    double bound;
  };
  template <template <class, class...> class Op, class Io, class... More>
  static results results_of(Op<Io, More...> const& op, direction way,
                            std::vector<index> const& starts, auto const& run_by) {
    using T = wane::widened<Io>;
    wane::recurrence_shape const shape = op.shape();
    index const sequences = starts.empty() ? shape.batch : std::ssize(starts) - 1;
    wane::recurrent_state<T> start(op, sequences), last(op, sequences);
    random_values random(3);
    for (T& x : start.values()) x = T(wane::bfloat16(static_cast<float>(random.uniform(-1, 1))));
    for (T& x : last.values()) x = std::numeric_limits<T>::quiet_NaN();
    for (index& n : start.positions()) n = 1000 + (&n - start.positions().data());
    std::vector<Io> y(
        static_cast<std::size_t>(shape.batch * shape.time * shape.heads * shape.columns),
        Io(std::numeric_limits<float>::quiet_NaN()));
    run_by(
        op, wane::sequence_view<Io>(y.data(), shape.batch, shape.time, shape.heads, shape.columns),
        wane::run_options<T>{
            .initial = std::as_const(start), .final = last, .packed = {starts}, .direction = way});
    // Products round to 8 bits, to 11, or not at all.
    double const bound = sizeof(Io) > 2                       ? 3e-6
                         : std::is_same_v<Io, wane::bfloat16> ? 0x1p-6
                                                              : 0x1p-10;
    return {widened(y), widened(last.values()), last.positions(), bound};
  }
};

}  // namespace support
