// log_linear is y_t = scale sum_j lambda_t[level(t, j)] e^{g_{j+1} + ... + g_t} (q_t . k_j) v_j.
// SPDX-License-Identifier: MIT
#include "wane/operators/log_linear.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/golden.hpp"
#include "support/log_linear_problem.hpp"
#include "support/memory_laws.hpp"
#include "support/nearness.hpp"
#include "wane/run/run.hpp"

namespace {

using support::index;
using wane::log_linear;

static_assert(wane::scannable<log_linear<float>>);

template <class T>
void expect_formula(index rows, index columns) {
  index const time = 100;
  wane::testing::log_linear_problem<T> p({1, time, 1, rows, columns});
  std::vector<T> y(static_cast<std::size_t>(time * columns));
  wane::run(p.make(0, time), {y.data(), 1, time, 1, columns});
  support::nearness near;
  auto const at = [](auto const& x, index t, index i) {
    return static_cast<double>(x.view()(0, t, 0, i));
  };
  for (index t = 0; t < time; ++t)
    for (index c = 0; c < columns; ++c) {
      double sum = 0, decay = 1;
      for (index j = t; j >= 0; --j) {
        double match = 0;
        for (index i = 0; i < rows; ++i) match += at(p.query.input, t, i) * at(p.key.input, j, i);
        sum +=
            at(p.scales, t, wane::testing::fenwick_level(t, j)) * decay * match * at(p.value, j, c);
        decay *= std::exp(at(p.gate.values, j, 0));
      }
      near.add(static_cast<double>(y[static_cast<std::size_t>(t * columns + c)]),
               sum / std::sqrt(double(rows)));
    }
  EXPECT_LE(near.both(), sizeof(T) == 4 ? 1e-6 : 1e-14) << rows << " x " << columns;
}
TEST(LogLinear, IsItsFormula) {
  for (auto [rows, columns] : {std::pair<index, index>{1, 1}, {5, 7}, {16, 8}, {32, 33}})
    expect_formula<float>(rows, columns), expect_formula<double>(rows, columns);
}

TEST(LogLinearLaws, Hold) { support::expect_memory_laws<wane::testing::log_linear_problem>(); }
TEST(LogLinearLaws, OfTheAdjointHold) {
  support::expect_memory_adjoint_laws<wane::testing::log_linear_problem>();
}

TEST(LogLinear, EqualsFlashLinearAttention) {
  constexpr index T = 17, H = 2, K = 5, V = 4, L = 6;
  auto const in = support::read_golden("inputs.csv"),
             more = support::read_golden("family_inputs.csv"),
             out = support::read_golden("family_outputs.csv");
  std::vector<float> y(T * H * V);
  wane::run(log_linear<float>({.query = {in.at("query").data(), 1, T, H, K},
                               .key = {in.at("key").data(), 1, T, H, K},
                               .value = {in.at("value").data(), 1, T, H, V},
                               .level_scale = {more.at("level_scale").data(), 1, T, H, L}},
                              wane::token_view<float const>(in.at("head_decay").data(), 1, T, H)),
            {y.data(), 1, T, H, V});
  support::expect_near_golden(y, out.at("log_linear"));
}

TEST(LogLinear, RefusesOneLevel) {
  float const x[4] = {};
  support::expect_error({"level_scale has channels 1; there must be 2 to 62 levels"}, [&] {
    log_linear<float>({.query = {x, 1, 1, 1, 2},
                       .key = {x, 1, 1, 1, 2},
                       .value = {x, 1, 1, 1, 2},
                       .level_scale = {x, 1, 1, 1, 1}},
                      wane::token_view<float const>(x, 1, 1, 1));
  });
}

}  // namespace
