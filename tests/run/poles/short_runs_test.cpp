// Poles that turn and do not fade, in runs of a few tokens and in steps: no drift.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "wane/operators/laplace.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace {

using wane::index;

// How far the last numbers are from double, of the largest of them: outputs of runs of `piece`
// tokens, or steps where it is 1; backwards, gradients of inputs, from the last token to the first.
double error_of(index piece, float omega, bool backwards) {
  constexpr index time = 1 << 16;
  std::vector<float> x(time), y(time);
  std::mt19937 bits(3);
  for (float& v : x) v = static_cast<float>(bits()) * 0x1p-31f - 1;
  float const sigma = 0;
  std::complex<float> const read_out(1);
  wane::laplace_parameters<float const> const nodes{
      .sigma = {&sigma, 1, 1}, .omega = {&omega, 1, 1}, .read_out = {&read_out, 1, 1, 1}};
  auto const make = [&](index begin, index end) {
    return wane::laplace<float>({.value = {x.data() + begin, 1, end - begin, 1, 1}}, nodes);
  };
  wane::recurrent_state<std::complex<float>> state(make(0, 1));
  for (index n = 0; n < time; n += piece) {
    index const t = backwards ? time - n - piece : n;
    wane::sequence_view<float> const to(y.data() + t, 1, piece, 1, 1);
    auto const op = make(t, t + piece);
    if (backwards)
      wane::adjoint(op, wane::sequence_view<float const>(x.data() + t, 1, piece, 1, 1),
                    {.value = to},
                    wane::adjoint_options<std::complex<float>>{.final_gradient = state,
                                                               .initial_gradient = state});
    else if (piece == 1)
      wane::step(op, to, state);
    else
      wane::run(op, to, wane::run_options<std::complex<float>>{.initial = state, .final = state});
  }
  if (backwards) std::reverse(x.begin(), x.end()), std::reverse(y.begin(), y.end());
  std::complex<double> const pole = std::polar(1., -static_cast<double>(omega));
  std::complex<double> sum = 0;
  double apart = 0, largest = 0;
  for (index t = 0; t < time; ++t) {
    auto const n = static_cast<std::size_t>(t);
    sum = pole * sum + static_cast<double>(x[n]);
    if (t < time - 1000) continue;
    apart = std::max(apart, std::abs(sum.real() - static_cast<double>(y[n])));
    largest = std::max(largest, std::abs(sum.real()));
  }
  return apart / largest;
}

TEST(ShortRunsOfPoles, CorrectTheRoundingOfAPole) {
  for (float omega : {0.5f, 0.7f, 1.5f})
    for (index piece : {1, 4, 16})
      for (bool backwards : {false, true}) {
        // Near a quarter turn roundings add up to more where no multiply-add is fused: to over
        // 1e-4 in fours with AVX-512, which takes them one by one.
        bool const near_a_quarter = omega == 1.5f;
        if (near_a_quarter && piece == 4 && piece < wane::impl::pole_tokens) continue;
        EXPECT_LT(error_of(piece, omega, backwards), near_a_quarter ? 1e-4 : 3e-5)
            << piece << ", " << omega << (backwards ? ", backwards" : "");
      }
}

}  // namespace
