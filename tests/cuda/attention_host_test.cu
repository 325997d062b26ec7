// What runs on the host alone compiles beside kernels too: attention in a file that nvcc reads.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "wane/operators/softmax_attention.hpp"
#include "wane/run/attention/attend_adjoint.hpp"

namespace {

// Keys that are all alike: the outputs are means of the values so far, whose gradient is shared
// out.
TEST(AttentionBesideKernels, IsAMeanWhereKeysAreAlike) {
  float const value[] = {1, 3, 8, 0}, same[] = {1, 1, 1, 1}, dy[] = {1, 0, 0, 4};
  float y[4], to_query[4], to_key[4], to_value[4];
  auto const of = [](auto* x) {
    return wane::sequence_view<std::remove_pointer_t<decltype(x)>>(x, 1, 4, 1, 1);
  };
  wane::softmax_attention<float> const op({.query = of(same), .key = of(same), .value = of(value)});
  wane::attend(op, of(y));
  wane::attend_adjoint(op, of(dy),
                       {.query = of(to_query), .key = of(to_key), .value = of(to_value)});
  for (int t = 0; t < 4; ++t) {
    EXPECT_FLOAT_EQ(y[t], (std::array{1.f, 2.f, 4.f, 3.f}[static_cast<std::size_t>(t)]));
    EXPECT_FLOAT_EQ(to_value[t], t == 0 ? 2.f : 1.f);
  }
}

}  // namespace
