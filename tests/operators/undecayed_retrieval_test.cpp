// retrieval by equation (13): values fade, and the matches that divide them do not (VORT).
// SPDX-License-Identifier: MIT
#include "wane/operators/undecayed_retrieval.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/memory_case.hpp"
#include "support/retrieval_problem.hpp"
#include "wane/run/adjoint.hpp"

namespace wane::testing {
namespace {

using support::memory_case, support::tensor;

constexpr auto undecayed = normaliser::undecayed;
constexpr auto excluded = own_token::excluded;
constexpr index nodes = 4;

static_assert(diagonal_recurrence<retrieval<float, undecayed>>);
static_assert(paired_recurrence<retrieval<bfloat16, undecayed>>);
static_assert(reads_lanes<wane::impl::match_sum<float>> && scannable<wane::impl::match_sum<float>>);

template <class T>
spectra::order_weights<T> const& weights() {
  static spectra::order_weights<T> const found(support::rates_of(nodes, 100));
  return found;
}

// For every layout, direction, packing and grouping: the undivided naive retrieval, and sums of
// keys that do not fade, each with its part of the state.
template <own_token Own, class Io>
void expect_formula() {
  using T = widened<Io>;
  auto const table = weights<T>().table();
  auto const fade = [&](index s) { return static_cast<double>(table.log_decay(0, 0, 0, s)); };
  support::for_each_memory<Io>([&](auto& c) {
    c.make_features(nodes, false);
    support::random_values random(3);
    c.strength.fill([&](auto...) { return random.uniform(0.1, 1); });
    retrieval<Io, undecayed, T> const op({.query = c.query,
                                          .key = c.key,
                                          .value = c.value,
                                          .alpha = support::by_token<Io const>(c.strength)},
                                         table, {c.shape.options, Own, 0.01});
    c.initial = {c.shape.sequences(), c.shape.heads, 1, op.shape().columns}, c.final = c.initial;
    for (auto& x : c.initial.values()) x = static_cast<widened<Io>>(random.uniform(0, 1));
    auto inputs = c.naive();
    inputs.scale = c.shape.options.scale.value_or(1);
    c.expect(op, inputs, [&](auto const& in, auto& s, index b, index t, index h) {
      auto const K = static_cast<std::size_t>(c.shape.rows),
                 V = static_cast<std::size_t>(c.shape.columns);
      support::naive_state<double> above{nodes * K, V};
      auto const z = s.s.begin() + static_cast<std::ptrdiff_t>(above.s.size());
      above.s.assign(s.s.begin(), z);
      auto const order = table.at(static_cast<T>(c.strength(b, t, h, 0)));
      auto const weight = [&](index n) { return static_cast<double>(order.weight(n)); };
      auto y = support::naive_retrieval<double>(in, above, b, t, h, nodes, weight, fade,
                                                Own == own_token::included, false);
      std::copy(above.s.begin(), above.s.end(), s.s.begin());
      auto const q = in.template direction<double>(in.query, b, t, h),
                 k = in.template direction<double>(in.key, b, t, h);
      double d = 0;
      for (std::size_t f = 0; f < K; ++f) {
        auto& sum = z[static_cast<std::ptrdiff_t>(f)];
        d += in.scale * q[f] * (Own == excluded ? sum : sum + k[f]);
        sum += k[f];
      }
      for (double& each : y) each /= std::max(d, 0.01);
      return y;
    });
  });
}

template <class Io>
class UndecayedRetrieval : public ::testing::Test {};
using Types = ::testing::Types<float, double, bfloat16, float16>;
TYPED_TEST_SUITE(UndecayedRetrieval, Types);

TYPED_TEST(UndecayedRetrieval, IsItsFormula) { expect_formula<own_token::included, TypeParam>(); }
TYPED_TEST(UndecayedRetrieval, IsItsFormulaWithoutTheOwnToken) {
  expect_formula<excluded, TypeParam>();
}

// Equation (13), literally: a sum over pairs with power laws. The first token has no earlier token
// and gives 0.
TEST(UndecayedRetrievalInParallelForm, IsEquation13) {
  retrieval_problem<double, undecayed, excluded> const p({1, 300, 2, 4, 5});
  spectra::order_weights<double> const many(support::rates_of(16, 1000));
  std::vector<double> y(300 * 2 * 5);
  sequence_view<double> const to(y.data(), 1, 300, 2, 5);
  retrieval_options const without{.own = excluded};
  auto const in = p.in(0, 300);
  auto const alpha = p.by_token(p.alpha, 0, 300);
  run(retrieval<double, undecayed>(
          {.query = in.query, .key = in.key, .value = in.value, .alpha = alpha}, many.table(),
          without),
      to);
  support::nearness near;
  for (index h = 0; h < 2; ++h)
    for (index t = 0; t < 300; ++t)
      for (index j = 0; j < 5; ++j) {
        double above = 0, below = 0;
        for (index i = 0; i < t; ++i) {
          double match = 0;
          for (index f = 0; f < 4; ++f) match += in.query(0, t, h, f) * in.key(0, i, h, f);
          below += match;
          above += match * support::exact_kernel(alpha(0, i, h), t - i) * in.value(0, i, h, j);
        }
        near.add(to(0, t, h, j), t ? above / below : 0);
      }
  EXPECT_LT(near.both(), 1e-4);  // the exponentials approximate the power laws
}

// Below the floor the output is n / floor, which has no gradient by d. The weight at lag 0 is 1.
TEST(UndecayedRetrievalFloor, DividesWhereADenominatorIsLess) {
  double const query[] = {1, 1}, key[] = {0.25, 0.75}, value[] = {8, 4}, alpha[] = {1, 1};
  double y[2], dv[2], dk[2], dq[2];
  auto const one = [](auto* x) {
    return sequence_view<std::remove_pointer_t<decltype(x)>>(x, 1, 2, 1, 1);
  };
  auto const table = weights<double>().table();
  retrieval<double, undecayed> const op(
      {.query = one(query), .key = one(key), .value = one(value), .alpha = {alpha, 1, 2, 1}}, table,
      {.floor = 0.5});
  run(op, one(y));
  double const dy[] = {1, 0};
  EXPECT_NEAR(y[0], 4, 1e-12);
  EXPECT_NEAR(y[1], 5, 0.01);  // order 1 hardly fades, so y is nearly the mean
  adjoint(op, one(dy), {.query = one(dq), .key = one(dk), .value = one(dv)});
  EXPECT_NEAR(dq[0], 4, 1e-12);
  EXPECT_NEAR(dk[0], 16, 1e-12);
  EXPECT_NEAR(dv[0], 0.5, 1e-12);
}

// Gradients in a narrower type are those in double for the same numbers, rounded to that type.
template <class Io>
void expect_gradients(double bound) {
  memory_case<Io> c({2, 60, 4, 5, 9, 2});
  c.make_features(nodes, false);
  support::random_values random(3);
  c.strength.fill([&](auto...) { return random.uniform(0.2, 1); });
  memory_case<double> exact(c.shape);
  auto const copy = [](tensor<Io> const& from, tensor<double>& to) {
    to.fill([&](auto... at) { return static_cast<double>(static_cast<widened<Io>>(from(at...))); });
  };
  copy(c.query, exact.query), copy(c.key, exact.key), copy(c.value, exact.value);
  copy(c.strength, exact.strength);
  c.output.fill([&](auto...) { return random.uniform(-1, 1); });
  copy(c.output, exact.output);
  auto const gradients_of = [](auto& of) {
    using T = typename std::remove_cvref_t<decltype(of)>::io_type;
    struct {
      tensor<T> query{2, 60, 4, 5}, key{2, 60, 4, 5}, value{2, 60, 4, 9}, alpha{2, 60, 4, 1};
    } to;
    adjoint(retrieval<T, undecayed>({.query = of.query,
                                     .key = of.key,
                                     .value = of.value,
                                     .alpha = support::by_token<T const>(of.strength)},
                                    weights<widened<T>>().table()),
            of.output.view(),
            {.query = to.query,
             .key = to.key,
             .value = to.value,
             .alpha = support::by_token(to.alpha.view())});
    std::vector<std::vector<double>> all;
    for (auto const* x : {&to.query, &to.key, &to.value, &to.alpha}) {
      all.emplace_back();
      x->for_each([&](auto... at) {
        all.back().push_back(static_cast<double>(static_cast<widened<T>>((*x)(at...))));
      });
    }
    return all;
  };
  auto const is = gradients_of(c), must_be = gradients_of(exact);
  for (std::size_t i = 0; i < is.size(); ++i) {
    support::nearness near;
    for (std::size_t n = 0; n < is[i].size(); ++n) near.add(is[i][n], must_be[i][n]);
    EXPECT_LE(near.both(), bound) << i;
  }
}

// Float sums are over 4 nodes and 60 tokens. 16-bit gradients are rounded once, by half an ulp.
TEST(UndecayedRetrievalGradients, AreRoundedOnce) {
  expect_gradients<float>(2e-6);
  expect_gradients<bfloat16>(0x1p-8);
  expect_gradients<float16>(0x1p-11);
}

// A gradient computed alone has the same bits as with all others.
TEST(UndecayedRetrievalGradients, MayBeAbsent) {
  using op = retrieval<double, undecayed>;
  retrieval_problem<double, undecayed> p({2, 35, 2, 3, 5});
  std::vector<double> const dy(2 * 35 * 2 * 5, 0.7);
  sequence_view<double const> const gradient(dy.data(), 2, 35, 2, 5);
  adjoint(p.make(0, 35), gradient, p.gradients());
  auto const all = p.gradients();
  retrieval_problem<double, undecayed> q({2, 35, 2, 3, 5});
  auto const to = q.gradients();
  for (op::gradients const& alone :
       {op::gradients{.query = to.query}, op::gradients{.key = to.key},
        op::gradients{.value = to.value}, op::gradients{.alpha = to.alpha}, op::gradients{}})
    adjoint(q.make(0, 35), gradient, alone);
  auto const expect_same = [](auto const& x, auto const& y, index count) {
    for (index i = 0; i < count; ++i) ASSERT_EQ(x.data[i], y.data[i]) << i;
  };
  expect_same(to.query, all.query, 2 * 35 * 2 * 3);
  expect_same(to.key, all.key, 2 * 35 * 2 * 3);
  expect_same(to.value, all.value, 2 * 35 * 2 * 5);
  expect_same(to.alpha, all.alpha, 2 * 35 * 2);
}

TEST(UndecayedRetrievalErrors, SayWhatDoesNotFit) {
  memory_case<float> c({2, 3, 4, 5, 6});
  auto const table = weights<float>().table();
  using op = retrieval<float, undecayed>;
  retrieval_inputs<float> in{.query = c.query,
                             .key = c.key,
                             .value = c.value,
                             .alpha = support::by_token<float const>(c.strength)};
  support::expect_error({"the nodes of retrieval are empty"}, [&] { op(in, {}); });
  for (double floor : {0., std::nan(""), HUGE_VAL})
    support::expect_error({"floor", "finite"}, [&] { op(in, table, {.floor = floor}); });
  support::expect_error({"scale", "finite"}, [&] { op(in, table, {.keys = {.scale = HUGE_VAL}}); });
  op const good(in, table);
  in.alpha.data = nullptr;
  support::expect_error({"alpha has no data"}, [&] { run(op(in, table), c.output.view()); });
  recurrent_state<float> state(good), wrong(2, 4, nodes * 5, 6);
  EXPECT_EQ(state.values().size(), 2 * 4 * (nodes * 5 * 6 + 5));
  support::expect_error({"state", "rows 20", "must be 1"},
                        [&] { step(good, c.output.view(), wrong); });
  support::expect_error({"output", "columns 5", "must be 6"}, [&] { run(good, c.query.view()); });
  std::vector<float> written(2 * 3 * 4 * 20, -7.f);
  float* const to = written.data();
  auto const refuse = [&](std::vector<std::string> const& pieces, op::gradients const& gradients) {
    support::expect_error(pieces, [&] { adjoint(good, c.value.view(), gradients); });
  };
  refuse({"gradient of key", "rows 20", "must be 5"}, {.key = {to, 2, 3, 4, 20}});
  refuse({"gradient of value", "columns 7"},
         {.query = {to, 2, 3, 4, 5}, .value = {to, 2, 3, 4, 7}});
  refuse({"gradient of alpha", "time 2"}, {.query = {to, 2, 3, 4, 5}, .alpha = {to, 2, 2, 4}});
  support::expect_error({"output_gradient", "columns 5", "must be 6"}, [&] {
    adjoint(good, c.query.view(), {.query = {to, 2, 3, 4, 5}});
  });
  EXPECT_EQ(written, std::vector<float>(written.size(), -7.f)) << "written in spite of the error";
}

}  // namespace
}  // namespace wane::testing
