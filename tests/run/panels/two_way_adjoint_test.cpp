// Gradients without states: queries forward, the rest back, equal those of one token after another.
// SPDX-License-Identifier: MIT
#include "wane/run/panels/two_way_adjoint.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/affine_gradients.hpp"
#include "support/strictly_causal.hpp"
#include "wane/operators/gla.hpp"

namespace {

using support::apart, support::arranged, support::by;
using support::erases, support::forgets, support::index, support::memory, support::tensor;
using wane::direction;

// All tokens have the decays of the first one; `Constant` declares this.
template <class T, bool Constant>
struct fades_alike {
  static constexpr bool has_constant_decays = Constant;
  memory<T> const& m;
  wane::recurrence_shape shape() const { return {m.batch, m.time, m.heads, m.rows, m.columns}; }
  struct token {
    memory<T> const& m;
    wane::place<> where;
    T log_decay(index i) const { return m.decay.view().read(wane::place<>{}, i); }
    T key(index i) const { return m.key.view().read(where, i); }
    T query(index i) const { return m.query.view().read(where, i); }
    T value(index j) const { return m.value.view().read(where, j); }
    T direct() const { return T(0.3); }
  };
  token at(wane::place<> where) const { return {m, where}; }
};
TEST(TwoWayAdjoint, NoStateIsWantedWhereDecaysHaveNoGradient) {
  auto const expect_near = [](auto const& make, index time, index rows, index columns,
                              arranged const& how) {
    index const batch = how.starts.empty() ? 2 : 1;
    memory<float> const m(batch, time, 3, rows, columns);
    memory<double> const exact(batch, time, 3, rows, columns);
    auto const [op, op_in_double, op_exact] = std::tuple(
        make(m, std::true_type{}), make(exact, std::true_type{}), make(exact, std::false_type{}));
    EXPECT_LE(apart<by::two_ways>(op, op_exact, how), 2e-6)
        << rows << " x " << columns << ", " << time << " tokens";
    EXPECT_LE(apart<by::two_ways>(op_in_double, op_exact, how), 1e-14);
  };
  auto const never = [](auto const& m, auto) {
    return m.template keyed<forgets::never, erases::no>();
  };
  auto const alike = []<class T, bool Constant>(memory<T> const& m, std::bool_constant<Constant>) {
    return fades_alike<T, Constant>{m};
  };
  auto const alike_and_first = [&](auto const& m, auto constant) {
    return support::strictly(alike(m, constant));
  };
  auto const alike_and_old = [&](auto const& m, auto constant) {
    return support::reads_old(alike(m, constant));
  };
  for (auto [rows, columns] : {std::pair<index, index>{1, 1}, {3, 2}, {16, 16}, {17, 33}, {64, 65}})
    for (index time : {1, 3, 4, 5, 70}) {
      expect_near(never, time, rows, columns, {});
      expect_near(alike, time, rows, columns, {});
      expect_near(alike_and_first, time, rows, columns, {.way = direction::reverse});
      expect_near(alike_and_old, time, rows, columns, {});
    }
  expect_near(alike, 150, 9, 20, {.starts = {0, 0, 1, 5, 80, 150}});
  expect_near(never, 150, 9, 20, {.way = direction::reverse, .starts = {0, 0, 1, 5, 80, 150}});
}
// A memory without queries and decays.
struct unasked {
  memory<double> const& m;
  wane::recurrence_shape shape() const { return {m.batch, m.time, m.heads, m.rows, m.columns}; }
  struct token {
    memory<double> const& m;
    wane::place<> where;
    double key(index i) const { return m.key.view().read(where, i); }
    double value(index j) const { return m.value.view().read(where, j); }
  };
  token at(wane::place<> where) const { return {m, where}; }
};
TEST(TwoWayAdjoint, WithoutQueriesThereIsOneWay) {
  memory<double> const m(2, 22, 2, 17, 33);
  EXPECT_LE(apart<by::two_ways>(unasked{m}, unasked{m}), 1e-14);
}

// Tensors that can be read in lanes, tensors that cannot, and several threads.
TEST(TwoWayAdjoint, InAnyStridesAndAnyThreads) {
  auto const gradients = []<class T>(T, support::arrangement how, int threads, bool two_ways) {
    using gla = wane::gla<T, wane::no_gate>;
    memory<T> const m(2, 70, 3, 19, 37, how);
    gla const op(m.in(), {});
    tensor<T> dy(2, 70, 3, 37, how), value(2, 70, 3, 37, how), key(2, 70, 3, 19, how),
        query(2, 70, 3, 19, how);
    support::random_values random(3);
    dy.fill([&](auto...) { return static_cast<float>(random.uniform(-1, 1)); });
    typename gla::gradients const to{.query = query, .key = key, .value = value};
    wane::sequence_view<T const> const dy_view = dy.view();
    wane::adjoint_options<T> const options{.threads = threads};
    if (two_ways)
      wane::impl::adjoint_two_ways(op, dy_view, to, options);
    else
      wane::impl::adjoint_panels(op, dy_view, to, options);
    std::vector<double> all;
    for (auto const* x : {&value, &key, &query}) {
      EXPECT_TRUE(x->margins_untouched());
      x->for_each([&](auto... at) { all.push_back(static_cast<double>((*x)(at...))); });
    }
    return all;
  };
  auto const right = gradients(0., support::arrangement::plain, 1, false);
  auto const plain = gradients(0.f, support::arrangement::plain, 1, true);
  for (int threads : {2, 5})
    EXPECT_EQ(gradients(0.f, support::arrangement::plain, threads, true), plain);
  for (support::arrangement how : support::all_arrangements) {
    auto const found = gradients(0.f, how, 1, true);
    support::nearness near;
    for (std::size_t i = 0; i < right.size(); ++i) near.add(found[i], right[i]);
    EXPECT_LE(near.both(), 1e-6);
  }
}

TEST(TwoWayAdjoint, StatesAreWantedWhereDecaysDoMoreThanFade) {
  for (double log_decay : {-std::numeric_limits<double>::infinity(), -70., 0.05, -20., 0.}) {
    memory<double> m(1, 20, 1, 5, 6);
    m.decay(0, 0, 0, 3) = log_decay;
    fades_alike<double, true> const op{m};
    EXPECT_EQ(wane::impl::two_ways_fit(op), log_decay == -20. || log_decay == 0.) << log_decay;
    EXPECT_LE(apart(op, fades_alike<double, false>{m}), 1e-14) << log_decay;
  }
}

}  // namespace
