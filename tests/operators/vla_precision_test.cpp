// vla over many tokens: the paper's loop in double, and float against double on hard keys.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <string>

#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "wane/operators/vla.hpp"
#include "wane/run/run.hpp"

namespace {

using wane::index;
using wane::vla;
using enum wane::write_rule;
using rows_of_tokens = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

rows_of_tokens normal(index rows, index columns, std::uint64_t seed) {
  support::random_values random(seed);
  rows_of_tokens x(rows, columns);
  for (index i = 0; i < x.size(); ++i) {
    double sum = 0;
    for (int n = 0; n < 12; ++n) sum += random.uniform(-0.5, 0.5);
    x.data()[i] = sum;
  }
  return x;
}

template <class Io>
std::vector<Io> numbers_of(rows_of_tokens const& x) {
  std::vector<Io> all;
  for (index i = 0; i < x.size(); ++i) all.push_back(static_cast<Io>(x.data()[i]));
  return all;
}

// One head; keys and queries [T, K], of unit length, values [T, V].
struct tokens {
  rows_of_tokens query, key, value;

  template <class Io, wane::write_rule Rule = rls>
  rows_of_tokens run(double lambda, bool by_step = false, std::vector<Io>* last = nullptr) const {
    auto const q = numbers_of<Io>(query), k = numbers_of<Io>(key), v = numbers_of<Io>(value);
    auto const view_of = [&](std::vector<Io> const& x, rows_of_tokens const& of) {
      return wane::sequence_view<Io const>(x.data(), 1, of.rows(), 1, of.cols());
    };
    vla<Io, Rule> const op(
        {.query = view_of(q, query), .key = view_of(k, key), .value = view_of(v, value)},
        {.lambda = lambda, .normalise = false});
    std::vector<Io> y(v.size());
    wane::sequence_view<Io> const output(y.data(), 1, value.rows(), 1, value.cols());
    wane::recurrent_state<Io> state(op);
    if (by_step)
      step(op, output, state);
    else
      wane::run(op, output, wane::run_options<Io>{.final = state});
    if (last) *last = state.values();
    rows_of_tokens found(value.rows(), value.cols());
    for (index i = 0; i < found.size(); ++i)
      found.data()[i] = static_cast<double>(y[static_cast<std::size_t>(i)]);
    return found;
  }
  // The paper's loop: A by Sherman and Morrison.
  rows_of_tokens loop(double lambda, wane::write_rule rule) const {
    index const rows = key.cols();
    Eigen::MatrixXd a = Eigen::MatrixXd::Identity(rows, rows) / lambda,
                    s = Eigen::MatrixXd::Zero(rows, value.cols());
    rows_of_tokens y(value.rows(), value.cols());
    for (index t = 0; t < key.rows(); ++t) {
      Eigen::VectorXd const k = key.row(t).transpose(), z = a * k;
      double const delta = 1 + k.dot(z);
      a -= z * z.transpose() / delta;
      Eigen::VectorXd alpha = z / delta;
      if (rule == unit) alpha.normalize();
      if (rule == projective) alpha /= k.dot(alpha);
      s += alpha * (value.row(t) - k.transpose() * s);
      y.row(t) = query.row(t) * s;
    }
    return y;
  }
};

double largest_error(rows_of_tokens const& is, rows_of_tokens const& should_be) {
  support::nearness near;
  for (index i = 0; i < is.size(); ++i) near.add(is.data()[i], should_be.data()[i]);
  return near.of_largest();
}

tokens iid(index time, index rows, index columns) {
  return {normal(time, rows, 1).rowwise().normalized(),
          normal(time, rows, 2).rowwise().normalized(), normal(time, columns, 3)};
}

TEST(VlaInDouble, IsThePapersLoopSlow) {
  for (index rows : {32, 64, 128}) {
    tokens const x = iid(4096, rows, 8);
    for (double const lambda : {0.1, 1e-3}) {
      double const bound = lambda == 0.1 ? 1e-12 : 1e-10;
      auto const expect_near = [&]<wane::write_rule Rule>() {
        auto const should_be = x.loop(lambda, Rule);
        EXPECT_LE(largest_error(x.run<double, Rule>(lambda), should_be), bound) << rows;
        EXPECT_LE(largest_error(x.run<double, Rule>(lambda, true), should_be), bound) << rows;
      };
      expect_near.template operator()<rls>();
      expect_near.template operator()<projective>();
      expect_near.template operator()<unit>();
    }
  }
}

// Keys and queries of one kind: 2 T rows, each second a query.
tokens of_rows(rows_of_tokens const& all, index columns) {
  index const time = all.rows() / 2;
  rows_of_tokens const some = all.rowwise().normalized();
  return {some.bottomRows(time), some.topRows(time), normal(time, columns, 3)};
}
tokens dictionary(index time, index rows, index words) {
  rows_of_tokens const each = normal(words, rows, 4);
  rows_of_tokens all(2 * time, rows);
  support::random_values random(5);
  for (index t = 0; t < 2 * time; ++t)
    all.row(t) = each.row(static_cast<index>(random.bits() % static_cast<std::uint64_t>(words)));
  return of_rows(all, 4);
}

TEST(VlaInFloat, IsThatInDoubleAfter100000TokensSlow) {
  index const time = 100000, rows = 64;
  rows_of_tokens const all = normal(2 * time, rows, 6);
  rows_of_tokens scaled = all;
  for (index i = 0; i < rows; ++i)
    scaled.col(i) *= std::pow(1e-3, static_cast<double>(i) / static_cast<double>(rows - 1));
  struct {
    std::string name;
    tokens x;
    double bound_of_small_lambda;
  } const cases[] = {
      {"iid", of_rows(all, 4), 1e-5},
      {"elu + 1", of_rows((all.array() > 0).select(all.array() + 1, all.array().exp()), 4), 1e-5},
      {"8 words", dictionary(time, rows, 8), 2e-5},
      // The aim is 1e-5, which this dictionary reaches and others may not.
      {"100 words", dictionary(time, rows, 100), 2e-5},
      {"1000 : 1", of_rows(scaled, 4), 1e-5},
      {"subspace", of_rows(normal(2 * time, rows / 2, 7) * normal(rows / 2, rows, 8), 4), 1e-5}};
  for (auto const& [name, as_made, bound] : cases) {
    // Both precisions read the same numbers, rounded to float.
    tokens const x{as_made.query.cast<float>().cast<double>(),
                   as_made.key.cast<float>().cast<double>(),
                   as_made.value.cast<float>().cast<double>()};
    std::vector<float> state;
    for (double const lambda : {0.1, 1e-3}) {
      double const error =
          largest_error(x.run<float>(lambda, false, &state), x.run<double>(lambda));
      EXPECT_LE(error, lambda == 0.1 ? 1e-5 : bound) << name << ", lambda " << lambda;
      RecordProperty(name + ", lambda " + std::to_string(lambda), std::to_string(error));
      index const width = rows + x.value.cols();
      for (index i = 0; i < rows; ++i)
        EXPECT_GT(state[static_cast<std::size_t>(i * width + x.value.cols() + i)], 0) << name;
    }
    EXPECT_TRUE(x.run<float>(1e-6).allFinite()) << name;
  }
}

// More tokens than rows and a small lambda: the inverse falls from 1/lambda within a chunk.
TEST(VlaInFloat, IsThatInDoubleWhereRowsAreFew) {
  struct {
    index rows;
    double lambda, bound_of_run, bound_of_step;
  } const cases[] = {{8, 1e-3, 1e-5, 5e-6}, {4, 1e-6, 1e-3, 1e-4}};
  for (auto const& one : cases) {
    std::vector<double> of_run, of_step;
    for (std::uint64_t seed = 0; seed < 9; ++seed) {
      auto const all = [&](std::uint64_t n) { return normal(64, one.rows, 10 + 3 * seed + n); };
      tokens const x{all(0).cast<float>().cast<double>(), all(1).cast<float>().cast<double>(),
                     all(2).cast<float>().cast<double>()};
      auto const should_be = x.run<double, projective>(one.lambda);
      of_run.push_back(largest_error(x.run<float, projective>(one.lambda), should_be));
      of_step.push_back(largest_error(x.run<float, projective>(one.lambda, true), should_be));
    }
    auto const median = [](std::vector<double>& all) {
      std::nth_element(all.begin(), all.begin() + 4, all.end());
      return all[4];
    };
    EXPECT_LE(median(of_run), one.bound_of_run) << one.rows;
    EXPECT_LE(median(of_step), one.bound_of_step) << one.rows;
  }
}

}  // namespace
