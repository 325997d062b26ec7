// The verdict on a case: how far the GPU is from the oracle, and whether it repeats itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "selftest/call.hpp"
#include "wane/core/numbers/storage.hpp"

namespace wane::selftest {

struct verdict {
  double error = HUGE_VAL, bound = 0;
  bool same_bits = false;
  std::string problem = {};  // not empty: why there is no answer

  bool agrees() const { return problem.empty() && error <= bound && same_bits; }
};

struct test_case {
  std::string operation, type, name;
  std::function<verdict()> judge;
};

// is - should_be|| / ||should_be||; NaN counts as infinite.
template <class Wide>
double relative_error(std::vector<Wide> const& is, std::vector<Wide> const& should_be) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < is.size(); ++i) {
    error += std::norm(is[i] - should_be[i]);
    norm += std::norm(should_be[i]);
  }
  double const relative = error == 0 ? 0 : std::sqrt(error / norm);
  return relative == relative ? relative : HUGE_VAL;
}

template <class Wide>
bool same_bits(std::vector<Wide> const& a, std::vector<Wide> const& b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Wide)) == 0;
}

// One rounding to the type of the output, where this type is narrower than that of the computation.
template <class Io>
constexpr double rounding_of_storage = 0;
template <>
inline constexpr double rounding_of_storage<bfloat16> = 0x1p-8;
template <>
inline constexpr double rounding_of_storage<float16> = 0x1p-11;

// A state is rounded once for each token. Roundings have random signs and fade as the state does,
// so they add up as the root of the number of tokens that the state remembers. The bound is four
// times that, because a token also rounds its decay and its output, and the two parts of complex
// numbers mix. Memories also round the factors of their products to the precision of their outputs.
template <class Io>
double bound_of(form what, scenario const& s) {
  double const rounding = std::numeric_limits<real_type<widened<Io>>>::epsilon() / 2;
  double const tokens = std::min(s.memory, static_cast<double>(s.time));
  return rounding_of_storage<Io> * (is_memory(what) ? 4 : 1) +
         4 * rounding * (1 + std::sqrt(tokens));
}

// ask(problem) is the answer of the GPU. It is called twice.
template <class Io, class Ask>
verdict judge(form what, scenario const& s, Ask const& ask) {
  using Wide = std::conditional_t<is_complex<Io>, std::complex<double>, double>;
  verdict found;
  found.bound = bound_of<Io>(what, s);
  auto const data = rounded<Io>(make_problem<Wide>(what, s));
  answer<Wide> const right = oracle(data), first = ask(data), second = ask(data);
  found.same_bits = same_bits(first.output, second.output) && same_bits(first.final, second.final);
  found.error = std::max(relative_error(first.output, right.output),
                         relative_error(first.final, right.final));
  if (first.positions != right.positions) found.problem = "the positions of the states differ";
  return found;
}

}  // namespace wane::selftest
