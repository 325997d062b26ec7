// Chunks of rows that fade by constants: the same as the plain order, forward and backward.
// SPDX-License-Identifier: MIT
#include "wane/run/lags/run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/affine_memory.hpp"
#include "support/nearness.hpp"
#include "support/strictly_causal.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/lags/runner.hpp"
#include "wane/run/run.hpp"

namespace {

using support::index, support::memory, support::tensor;
using wane::place;

constexpr double inf = std::numeric_limits<double>::infinity();

template <class Op, class Out, class State>
bool runs_in_lags(Op const& op, wane::sequence_view<Out> output,
                  wane::run_options<State> const& options) {
  bool const fits = wane::impl::lags_fit(op, output);
  if (fits) wane::impl::run_lags(op, output, options);
  return fits;
}

// Rows fade with the decays of the first token, or `scale` times as fast.
template <class T>
struct constant_memory {
  static constexpr bool has_constant_decays = true;
  using accumulate = T;

  wane::sequence_view<T const> key_, value_, decay_;
  T scale = 1;

  explicit constant_memory(memory<T> const& m, T scaled = 1)
      : key_(m.key.view()), value_(m.value.view()), decay_(m.decay.view()), scale(scaled) {}

  wane::recurrence_shape shape() const {
    auto const& v = value_.extent;
    return {v[0], v[1], v[2], key_.extent[3], v[3]};
  }
  wane::layout layout() const { return wane::layout_of(key_, value_, decay_); }

  struct token {
    constant_memory const& op;
    place<> where;

    auto log_decay(auto s) const {
      auto const x = op.decay_.read(place<>{}, s);
      return x * decltype(x)(op.scale);
    }
    auto key(auto s) const { return op.key_.read(where, s); }
    auto value(auto j) const { return op.value_.read(where, j); }
    T direct() const { return op.key_.read(where, index{0}); }
  };
  token at(place<> where) const { return {*this, where}; }

  struct gradients {
    wane::sequence_view<T> key, value;
    wane::token_view<T> direct;
    wane::layout layout() const { return wane::layout_of(key, value); }

    struct sink {
      gradients const& to;
      place<> where;
      void column(auto j, auto g) const { to.value.write(where, j, g); }
      void row(index s, wane::row_gradient<T> g) const { to.key.write(where, s, g.key); }
      void whole(wane::token_gradient<T> g) const { to.direct.write(where, g.direct); }
    };
    sink at(place<> where) const { return {*this, where}; }
  };
};
static_assert(wane::impl::has_lags<constant_memory<float>> &&
              wane::impl::has_lags<constant_memory<double>>);
static_assert(wane::impl::has_lags<wane::exponential_bank<wane::bfloat16>>);
static_assert(!wane::impl::has_lags<support::strictly<constant_memory<float>>>);

struct sizes {
  index time, rows, columns;
};
constexpr sizes all_sizes[] = {{1, 1, 1},  {2, 3, 15},  {5, 16, 16},  {6, 17, 17},
                               {7, 8, 33}, {12, 1, 64}, {13, 19, 65}, {64, 16, 31}};

// A bank whose nodes are the terms of a memory's first token.
template <class T>
wane::exponential_bank<T> bank(memory<T> const& m) {
  auto const node = [](tensor<T> const& x) {
    auto const v = x.view();
    return wane::view<T const, 2>(v.data, {v.extent[2], v.extent[3]}, {v.stride[2], v.stride[3]});
  };
  return wane::exponential_bank<T>({.value = m.value,
                                    .log_decay = node(m.decay),
                                    .key = node(m.key),
                                    .query = node(m.query),
                                    .direct = {m.direct.data(), m.heads}});
}
constexpr auto constants = [](auto const& m) { return constant_memory(m); };
constexpr auto banks = [](auto const& m) { return bank(m); };

// The distance between outputs and states by chunks in T and token by token in double.
template <class T, class Make>
double forward_apart(sizes const& n, wane::direction way, Make const& make) {
  memory<T> const m(2, n.time, 3, n.rows, n.columns);
  memory<double> const exact(2, n.time, 3, n.rows, n.columns);
  auto const op = make(m);
  auto const plain = make(exact);
  tensor<T> y(2, n.time, 3, n.columns);
  tensor<double> right(2, n.time, 3, n.columns);
  wane::recurrent_state<T> before(op), after(op);
  wane::recurrent_state<double> exact_before(plain), exact_after(plain);
  support::random_values random(3);
  for (std::size_t i = 0; i < before.values().size(); ++i) {
    auto const x = static_cast<float>(random.uniform(-1, 1));
    before.values()[i] = x, exact_before.values()[i] = x;
  }
  EXPECT_TRUE(
      runs_in_lags(op, wane::sequence_view<T>(y.view()),
                   wane::run_options<T>{.initial = before, .final = after, .direction = way}));
  wane::impl::run_in_order(
      plain, wane::sequence_view<double>(right.view()),
      wane::run_options<double>{.initial = exact_before, .final = exact_after, .direction = way});
  support::nearness near;
  y.for_each([&](auto... at) { near.add(static_cast<double>(y(at...)), right(at...)); });
  for (std::size_t i = 0; i < after.values().size(); ++i)
    near.add(static_cast<double>(after.values()[i]), exact_after.values()[i]);
  EXPECT_TRUE(y.margins_untouched());
  return near.both();
}

TEST(Lags, EqualThePlainOrder) {
  for (auto way : {wane::direction::forward, wane::direction::reverse})
    for (auto const& n : all_sizes) {
      std::string const where = std::to_string(n.time) + " tokens, " + std::to_string(n.rows) +
                                " x " + std::to_string(n.columns);
      EXPECT_LT(forward_apart<float>(n, way, constants), 1e-6) << where;
      EXPECT_LT(forward_apart<double>(n, way, constants), 1e-14) << where;
      EXPECT_LT(forward_apart<float>(n, way, banks), 1e-6) << where << ", a bank";
      EXPECT_LT(forward_apart<double>(n, way, banks), 1e-14) << where << ", a bank";
    }
}

// The distance between gradients by chunks in T and by micro-chunks in double. Other tests compare
// micro-chunks with derivatives.
template <class T>
double gradients_apart(sizes const& n) {
  memory<T> const m(2, n.time, 3, n.rows, n.columns);
  memory<double> const exact(2, n.time, 3, n.rows, n.columns);
  auto const gradients_of = [&](auto const& of, auto const& call) {
    using U = std::remove_cvref_t<decltype(of.value(0, 0, 0, 0))>;
    constant_memory<U> const op(of);
    tensor<U> dy(2, n.time, 3, n.columns), value(2, n.time, 3, n.columns),
        key(2, n.time, 3, n.rows);
    std::vector<U> direct(static_cast<std::size_t>(6 * n.time));
    support::random_values random(5);
    dy.fill([&](auto...) { return static_cast<float>(random.uniform(-1, 1)); });
    wane::recurrent_state<U> final(op), initial(op);
    for (U& x : final.values()) x = static_cast<float>(random.uniform(-1, 1));
    call(op, wane::sequence_view<U const>(dy.view()),
         typename constant_memory<U>::gradients{
             key.view(), value.view(), {direct.data(), 2, n.time, 3}},
         wane::adjoint_options<U>{.final_gradient = final, .initial_gradient = initial});
    std::vector<double> all;
    auto const add = [&](auto const& x) {
      for (auto const& g : x) all.push_back(static_cast<double>(g));
    };
    value.for_each([&](auto... at) { all.push_back(static_cast<double>(value(at...))); });
    key.for_each([&](auto... at) { all.push_back(static_cast<double>(key(at...))); });
    add(direct), add(initial.values());
    return all;
  };
  auto const found = gradients_of(m, [](auto const&... all) {
    ASSERT_TRUE(wane::impl::runners::lags::accepts_adjoint(all...));
    wane::impl::adjoint_lags(all...);
  });
  auto const right =
      gradients_of(exact, [](auto const&... all) { wane::impl::adjoint_panels(all...); });
  support::nearness near;
  for (std::size_t i = 0; i < found.size(); ++i) near.add(found[i], right[i]);
  return near.both();
}

TEST(Lags, HaveTheSameGradients) {
  for (auto const& n : all_sizes) {
    EXPECT_LT(gradients_apart<float>(n), 1e-6) << n.time << " " << n.rows << " " << n.columns;
    EXPECT_LT(gradients_apart<double>(n), 1e-14) << n.time << " " << n.rows << " " << n.columns;
  }
}

// Outputs too large for the caches, whose stores go past them.
TEST(Lags, EqualThePlainOrderWhereTheyStream) {
  constexpr index time = 16390, columns = 128;
  memory<float> const m(1, time, 1, 2, columns);
  constant_memory<float> const op(m);
  memory<double> const exact(1, time, 1, 2, columns);
  constant_memory<double> const plain(exact);
  wane::impl::aligned_numbers<float> const y(time * columns);
  wane::impl::aligned_numbers<double> const right(time * columns);
  wane::sequence_view<float> const to(y.data(), 1, time, 1, columns);
  ASSERT_EQ(wane::impl::choose_stores(op, to), wane::impl::store_by::stream);
  ASSERT_TRUE(runs_in_lags(op, to, wane::run_options<float>{}));
  wane::impl::run_in_order(plain, wane::sequence_view<double>(right.data(), 1, time, 1, columns),
                           wane::run_options<double>{});
  support::nearness near;
  for (index i = 0; i < time * columns; ++i)
    near.add(static_cast<double>(y.data()[i]), right.data()[i]);
  EXPECT_LT(near.both(), 1e-6);
}

// A million tokens after an impulse: rows of a float whose decay is less than half its last place.
TEST(Lags, FadeHoweverSlowly) {
  constexpr index time = 1 << 20, columns = 8;
  std::vector<float> drive(time * columns), y(drive.size());
  std::fill_n(drive.begin(), columns, 1.f);
  float const one = 1;
  for (float log_decay : {-1e-9f, -1e-8f, -1e-7f, -1e-6f}) {
    wane::exponential_bank<float> const bank({.value = {drive.data(), 1, time, 1, columns},
                                              .log_decay = {&log_decay, 1, 1},
                                              .key = {&one, 1, 1},
                                              .query = {&one, 1, 1}});
    ASSERT_TRUE(runs_in_lags(bank, wane::sequence_view<float>(y.data(), 1, time, 1, columns),
                             wane::run_options<float>{}));
    EXPECT_NEAR(y.back(), std::exp(static_cast<double>(log_decay) * (time - 1)), 2e-7) << log_decay;
  }
}

// A decay of a short piece by itself is less than half the last place of a state.
TEST(Lags, FadeInShortPieces) {
  constexpr index piece = 64, columns = 8;
  std::vector<float> drive(piece * columns), y(drive.size());
  float const log_decay = -1e-8f, one = 1;
  wane::exponential_bank<float> const bank({.value = {drive.data(), 1, piece, 1, columns},
                                            .log_decay = {&log_decay, 1, 1},
                                            .key = {&one, 1, 1},
                                            .query = {&one, 1, 1}});
  wane::recurrent_state<float> state(bank);
  std::vector<double> right(columns);
  std::mt19937 bits(1);
  double apart = 0, largest = 0;
  for (int n = 0; n < 4096; ++n) {
    for (float& x : drive) x = static_cast<float>(bits() % 65536) * 0x1p-16f;
    ASSERT_TRUE(runs_in_lags(bank, wane::sequence_view<float>(y.data(), 1, piece, 1, columns),
                             wane::run_options<float>{.initial = state, .final = state}));
    for (std::size_t i = 0; i < drive.size(); ++i) {
      double& s = right[i % columns];
      s = std::exp(static_cast<double>(log_decay)) * s + static_cast<double>(drive[i]);
      apart = std::max(apart, std::abs(static_cast<double>(y[i]) - s));
      largest = std::max(largest, s);
    }
  }
  EXPECT_LT(apart / largest, 2e-5);
}

TEST(Lags, FadeBackwardsInShortPieces) {
  constexpr index piece = 64, columns = 8;
  memory<float> m(1, piece, 1, 1, columns);
  m.decay.fill([](auto...) { return -1e-8f; });
  m.key.fill([](auto...) { return 1.f; });
  constant_memory<float> const op(m);
  tensor<float> dy(1, piece, 1, columns), value(1, piece, 1, columns);
  wane::recurrent_state<float> cotangent(op);
  std::vector<double> right(columns);
  std::mt19937 bits(1);
  double apart = 0, largest = 0;
  for (int n = 0; n < 4096; ++n) {
    dy.fill([&](auto...) { return static_cast<float>(bits() % 65536) * 0x1p-16f; });
    wane::impl::adjoint_lags(
        op, wane::sequence_view<float const>(dy.view()),
        constant_memory<float>::gradients{{}, value.view(), {}},
        wane::adjoint_options<float>{.final_gradient = cotangent, .initial_gradient = cotangent});
    for (index t = piece; t-- > 0;)
      for (index j = 0; j < columns; ++j) {
        double& g = right[static_cast<std::size_t>(j)];
        g += static_cast<double>(dy(0, t, 0, j));
        apart = std::max(apart, std::abs(static_cast<double>(value(0, t, 0, j)) - g));
        largest = std::max(largest, g);
        g *= std::exp(-1e-8);
      }
  }
  EXPECT_LT(apart / largest, 2e-5);
}

// A NaN reaches the outputs of its own column, from its own token on, and no others.
TEST(Lags, KeepWhatIsNoNumberWhereItIs) {
  memory<float> m(1, 15, 1, 4, 20);
  m.value(0, 7, 0, 3) = std::numeric_limits<float>::quiet_NaN();
  tensor<float> y(1, 15, 1, 20);
  ASSERT_TRUE(runs_in_lags(constant_memory<float>(m), wane::sequence_view<float>(y.view()),
                           wane::run_options<float>{}));
  y.for_each([&](index b, index t, index h, index j) {
    EXPECT_EQ(std::isnan(y(b, t, h, j)), t >= 7 && j == 3) << t << " " << j;
  });
}

// Rows that are reset, that grow, or that nearly vanish in one token are left to another runner.
// Rows that vanish within a chunk are not.
TEST(Lags, LeaveOtherDecaysToOthers) {
  for (double scale : {inf, -1., 1e4, 5e3}) {
    memory<double> m(1, 9, 1, 3, 18);
    m.decay.fill([](auto...) { return -0.01f; });
    constant_memory<double> const op(m, scale);
    tensor<double> y(1, 9, 1, 18), right(1, 9, 1, 18);
    EXPECT_EQ(runs_in_lags(op, wane::sequence_view<double>(y.view()), wane::run_options<double>{}),
              scale == 5e3);
    run(op, wane::sequence_view<double>(y.view()));
    wane::impl::run_in_order(op, wane::sequence_view<double>(right.view()),
                             wane::run_options<double>{});
    support::nearness near;
    y.for_each([&](auto... at) { near.add(y(at...), right(at...)); });
    EXPECT_LT(near.both(), 1e-14) << scale;
  }
}

}  // namespace
