// Every form of VLA's recurrence, in chunks of any length, is the loop over tokens, and vla is too.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <random>

#include "bench/process.hpp"
#include "vla_forms/forms.hpp"
#include "wane/core/config.hpp"
#include "wane/operators/vla.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {
namespace {

using matrix = dense<double>;

// Sanitizers make Eigen's loops 15 times slower.
#ifdef WANE_ADDRESS_SANITIZER
constexpr index count = 512;
#else
constexpr index count = 4096;
#endif

token_matrices<double> some_tokens(index size) {
  std::mt19937 bits(11);
  std::normal_distribution<double> normal;
  auto const some = [&] {
    return matrix(matrix::NullaryExpr(size, count, [&] { return normal(bits); }));
  };
  token_matrices<double> x{some(), some(), some()};
  x.key.colwise().normalize();
  return x;
}

TEST(VlaForms, AreTheLoop) {
  for (auto const& [lambda, bound] : {std::pair(0.1, 1e-12), {1e-3, 1e-10}})
    for (index const size : {32, 64, 128}) {
      auto const x = some_tokens(size);
      matrix const right = by_token(x, lambda);
      auto const far = [&](matrix const& y) {
        return (y - right).cwiseAbs().maxCoeff() / right.cwiseAbs().maxCoeff();
      };
      for (index const chunk : {4, 16, 30, 64, 128}) {
        EXPECT_LE(far(by_chunk<inverse_held>(x, lambda, chunk)), bound) << size << " " << chunk;
        EXPECT_LE(far(by_chunk<root_held>(x, lambda, chunk)), bound) << size << " " << chunk;
      }
      auto const rows = [&](matrix const& of) {
        return sequence_view<double const>(of.data(), 1, count, 1, size);
      };
      matrix y(size, count);
      run(vla<double>({.query = rows(x.query), .key = rows(x.key), .value = rows(x.value)},
                      {.lambda = lambda, .normalise = false}),
          sequence_view<double>(y.data(), 1, count, 1, size));
      EXPECT_LE(far(y), bound) << size;
    }
}

#ifdef WANE_VLA_FORMS
TEST(VlaForms, ProgramTellsOfEveryForm) {
  auto const result = run(WANE_VLA_FORMS, {"--tokens", "64"});
  ASSERT_EQ(result.status, 0) << result.err;
  for (char const* text : {"D 64", "D 128", "wane run, R", "wane step, R", "ns/token"})
    EXPECT_NE(result.out.find(text), std::string::npos) << text;
  EXPECT_NE(run(WANE_VLA_FORMS, {"--tokens", "none"}).status, 0);
}
#endif

}  // namespace
}  // namespace wane::bench
