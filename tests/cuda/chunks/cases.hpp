// What memories must do by the chunk kernel of wane::cuda, on a GPU and on an emulated one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include "cuda/chunks/numbers.hpp"
#include "support/in_double.hpp"

namespace support {

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
  void hgrn2(chunk_shape const& shape, bool strong = false) const {
    both_ways<Io>("hgrn2", shape, strong, [](auto const& x) { return x.hgrn2(); });
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
    expect_near<Io>("gated_delta_net", x.gated_delta_net(), exact.gated_delta_net(),
                    direction::forward, starts);
    expect_near<Io>("kimi_delta_attention", x.kimi(), exact.kimi(), direction::reverse, starts);
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

  // A decay that is no number leaves no trace in the tokens before it.
  void keep_decays_that_are_no_number_behind() const {
    behind([](auto const& x) { return x.rwkv7(); });
    behind([](auto const& x) { return x.vla_delta_net(); });
  }

 protected:
  template <class Io, class Make>
  void both_ways(char const* name, chunk_shape const& shape, bool strong, Make const& make) const {
    chunk_numbers<Io> const x{.shape = shape, .strong = strong};
    chunk_numbers<double> const exact{.shape = shape, .strong = strong};
    for (auto way : {direction::forward, direction::reverse})
      expect_near<Io>(name, make(x), make(exact), way);
  }
  template <class Io, class Op, class Exact>
  void expect_near(char const* name, Op const& op, Exact const& exact, direction way,
                   std::vector<index> const& starts = {}) const {
    auto const is = results_of<Io>(op, way, starts, runner);
    auto const should_be = results_of<double>(exact, way, starts, in_order{});
    double const bound = is.bound;
    EXPECT_LT(apart(is.output, should_be.output), bound) << name;
    EXPECT_LT(apart(is.final, should_be.final), bound) << name;
    for (std::size_t n = 0; n < is.positions.size(); ++n)
      EXPECT_EQ(is.positions[n], 1000 + static_cast<index>(n) +
                                     (starts.empty() ? op.shape().time : starts[n + 1] - starts[n]))
          << name;
  }

 private:
  template <class Make>
  void behind(Make const& make) const {
    chunk_numbers<float> x{.shape = {.time = 40, .heads = 1}};
    x.factor.assign(x.factor.size(), 0.5f);
    auto const outputs = [&] {
      auto const op = make(x);
      std::vector<float> y(40 * 17);
      runner(op, wane::sequence_view<float>(y.data(), 1, 40, 1, 17), wane::run_options<float>{});
      return y;
    };
    auto const should_be = outputs();
    float const none = std::numeric_limits<float>::quiet_NaN();
    x.by_row[5 * 21 + 3] = x.factor[21] = none;
    auto const is = outputs();
    for (std::size_t n = 0; n < 21 * 17; ++n) EXPECT_NEAR(is[n], should_be[n], 1e-5) << n;
    EXPECT_TRUE(std::isnan(is[22 * 17]));
  }
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

  struct results {
    std::vector<double> output, final;
    std::vector<index> positions;
    double bound;
  };
  template <class Io, class Op>
  static results results_of(Op const& op, direction way, std::vector<index> const& starts,
                            auto const& run_by) {
    using T = wane::widened<Io>;
    wane::recurrence_shape const shape = op.shape();
    index const sequences = starts.empty() ? shape.batch : std::ssize(starts) - 1;
    wane::recurrent_state<T> start(op, sequences), last(op, sequences);
    random_values random(3);
    for (T& x : start.values()) x = T(wane::bfloat16(static_cast<float>(random.uniform(-1, 1))));
    set_factors(start.values(), op);
    for (T& x : last.values()) x = std::numeric_limits<T>::quiet_NaN();
    for (index& n : start.positions()) n = 1000 + (&n - start.positions().data());
    index const columns = wane::output_shape_of(op).columns;
    std::vector<Io> y(static_cast<std::size_t>(shape.batch * shape.time * shape.heads * columns),
                      Io(std::numeric_limits<float>::quiet_NaN()));
    run_by(
        op, wane::sequence_view<Io>(y.data(), shape.batch, shape.time, shape.heads, columns),
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
