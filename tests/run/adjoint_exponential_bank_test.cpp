// The adjoint of exponential_bank against derivatives of the naive loop by complex steps.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/bank_case.hpp"
#include "wane/run/adjoint.hpp"

namespace {

using support::arrangement;
using support::bank_case;
using support::bank_shape;
using support::index;
using support::linear_shape;
using support::nearness;
using wane::direction;

// Gradients of L = sum of dy y + sum of dfinal final, by every input of the bank.
template <class Io>
class bank_gradients {
 public:
  bank_case<Io> run;
  support::tensor<Io> dy, values;
  std::vector<Io> log_decay, key, query, direct;
  wane::recurrent_state<Io> last, initial;

  explicit bank_gradients(bank_shape const& s)
      : run(s),
        dy(s.of.batch, s.of.time, s.of.heads, s.of.columns, s.of.output),
        values(s.of.batch, s.of.time, s.of.heads, s.of.columns, s.of.output),
        log_decay(run.log_decay.size(), Io(-7)),
        key(log_decay),
        query(log_decay),
        direct(run.direct.size(), Io(-7)),
        last(s.of.sequences(), s.of.heads, s.rows, s.of.columns),
        initial(s.of.sequences(), s.of.heads, s.rows, s.of.columns) {
    support::random_values random(77);
    dy.fill([&](auto...) { return random.uniform(-1, 1); });
    for (auto& x : last.values()) x = static_cast<Io>(random.uniform(-1, 1));
  }
  void find() {
    index const heads = run.shape.of.heads, rows = run.shape.rows;
    typename bank_case<Io>::op_type::gradients const to{
        .value = values,
        .log_decay = {log_decay.data(), heads, rows},
        .key = {key.data(), heads, rows},
        .query = {query.data(), heads, rows},
        .direct = {direct.data(), heads}};
    wane::adjoint_options<Io> options;
    if (run.shape.of.carries) options.initial = std::as_const(run.initial);
    options.final_gradient = std::as_const(last);
    options.initial_gradient = initial;
    options.packed = {run.shape.of.starts};
    options.direction = run.shape.of.direction;
    options.threads = run.shape.of.threads;
    wane::adjoint(run.op(), dy.view(), to, options);
  }
  double error() {
    using Real = std::complex<double>;
    auto const& s = run.shape.of;
    wane::state_view<Io> const before = run.initial, end = last, found = initial;
    nearness of_values, of_initial, of_nodes[4];
    for (index h = 0; h < s.heads; ++h) {
      auto nodes = run.template head<Real>(h);
      // The loss of one column, as far as it depends on the numbers of its walk.
      auto const loss = [&](index n, index c, std::vector<Real> const& v, std::vector<Real> state) {
        Real total = 0;
        support::naive_bank<Real>(
            s.span(n), nodes, state, [&](index t) { return v[static_cast<std::size_t>(t)]; },
            [&](index t, Real y, double) {
              total += static_cast<double>(dy(s.row(n), t, h, c)) * y;
            });
        for (index i = 0; i < run.shape.rows; ++i)
          total += static_cast<double>(end.values(n, h, i, c)) * state[static_cast<std::size_t>(i)];
        return total.imag() / step;
      };
      auto const column = [&](index n, index c, auto const& body) {
        std::vector<Real> v(static_cast<std::size_t>(s.time)), state;
        for (index t = 0; t < s.time; ++t)
          v[static_cast<std::size_t>(t)] = static_cast<double>(run.values(s.row(n), t, h, c));
        for (index i = 0; i < run.shape.rows; ++i)
          state.push_back(static_cast<double>(before.values(n, h, i, c)));
        body(v, state);
      };
      auto const total = [&](Real& x) {
        x += Real(0, step);
        double sum = 0;
        for (index n = 0; n < s.sequences(); ++n)
          for (index c = 0; c < s.columns; ++c)
            column(n, c, [&](auto& v, auto& state) { sum += loss(n, c, v, state); });
        x = x.real();
        return sum;
      };
      for (index i = 0; i < run.shape.rows; ++i) {
        auto const k = static_cast<std::size_t>(i),
                   at = static_cast<std::size_t>(h * run.shape.rows + i);
        of_nodes[0].add(static_cast<double>(log_decay[at]), total(nodes.log_decay[k]));
        of_nodes[1].add(static_cast<double>(key[at]), total(nodes.key[k]));
        of_nodes[2].add(static_cast<double>(query[at]), total(nodes.query[k]));
      }
      if (run.shape.direct)
        of_nodes[3].add(static_cast<double>(direct[static_cast<std::size_t>(h)]),
                        total(nodes.direct));
      for (index n = 0; n < s.sequences(); ++n)
        for (index c = 0; c < s.columns; ++c)
          column(n, c, [&](auto& v, auto& state) {
            auto const by = [&](Real& x) {
              x += Real(0, step);
              double const derivative = loss(n, c, v, state);
              x = x.real();
              return derivative;
            };
            s.span(n).for_each([&](index t) {
              of_values.add(static_cast<double>(values(s.row(n), t, h, c)),
                            by(v[static_cast<std::size_t>(t)]));
            });
            for (index i = 0; i < run.shape.rows; ++i)
              of_initial.add(static_cast<double>(found.values(n, h, i, c)),
                             by(state[static_cast<std::size_t>(i)]));
          });
    }
    return std::max({of_values.both(), of_initial.both(), of_nodes[0].both(), of_nodes[1].both(),
                     of_nodes[2].both(), of_nodes[3].both()});
  }

 private:
  static constexpr double step = 1e-150;
};

template <class Io>
void expect_right(bank_shape const& s, double bound) {
  bank_gradients<Io> gradients(s);
  gradients.find();
  EXPECT_LT(gradients.error(), bound)
      << s.rows << " rows, " << s.of.time << " tokens, " << s.of.columns << " columns";
}

TEST(AdjointOfExponentialBank, IsTheDerivativeForRaggedSizes) {
  for (index rows : {1, 3, 17})
    for (index time : {1, 2, 15, 16, 33})
      for (index columns : {1, 3, 9}) {
        expect_right<double>({rows, {.batch = 2, .time = time, .columns = columns}}, 1e-9);
      }
  expect_right<double>({2, {.time = 130, .columns = 2}}, 1e-9);
}

TEST(AdjointOfExponentialBank, IsTheDerivativeInEveryLayoutAndDirection) {
  for (arrangement how : support::all_arrangements)
    for (direction way : {direction::forward, direction::reverse})
      expect_right<double>({3, {2, 18, 3, 5, how, how, way}}, 1e-9);
}

TEST(AdjointOfExponentialBank, IsTheDerivativeForPackedSequences) {
  for (direction way : {direction::forward, direction::reverse}) {
    linear_shape s{.time = 40, .heads = 2, .columns = 3, .direction = way};
    s.starts = {0, 0, 1, 20, 20, 39, 40, 40};
    expect_right<double>({3, s}, 1e-9);
  }
}

TEST(AdjointOfExponentialBank, WithoutDirectTermOrInitialStateIsTheDerivative) {
  expect_right<double>({4, {.time = 20, .columns = 3, .carries = false}, false}, 1e-9);
}

TEST(AdjointOfExponentialBank, OfFloatsSumsOverTokensInDouble) {
  // States and cotangents err by a rounding a token; the sums over tokens add none.
  expect_right<float>({3, {.batch = 2, .time = 100, .columns = 9}}, 9 * 6e-8 * 10);
}

TEST(AdjointOfExponentialBank, OfNoTokensIsZeroForTheNodes) {
  bank_gradients<double> none({3, {.batch = 2, .time = 0, .heads = 2, .columns = 5}});
  none.find();
  for (auto const* g : {&none.log_decay, &none.key, &none.query, &none.direct})
    for (double x : *g) EXPECT_EQ(x, 0);
  EXPECT_EQ(none.initial.values(), none.last.values());
}

TEST(AdjointOfExponentialBank, HasTheSameBitsForAnyNumberOfThreads) {
  bank_shape s{17, {.batch = 3, .time = 100, .heads = 2, .columns = 40}};
  bank_gradients<float> one(s);
  one.find();
  for (int threads : {2, 3, 7}) {
    s.of.threads = threads;
    bank_gradients<float> more(s);
    more.find();
    EXPECT_EQ(one.log_decay, more.log_decay);
    EXPECT_EQ(one.key, more.key);
    EXPECT_EQ(one.query, more.query);
    EXPECT_EQ(one.direct, more.direct);
    EXPECT_EQ(one.initial.values(), more.initial.values());
  }
}

}  // namespace
