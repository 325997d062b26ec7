// Gradients of large tensors, written past the caches, are the same bits as those of each head.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/run/adjoint.hpp"

namespace {

using wane::index;
using wane::sequence_view;
using wane::token_view;

constexpr index time = 512, heads = 16, width = 32;
static_assert(time * heads * 2 * width * 16 >= wane::impl::streaming_bytes);

// A tensor of rows for all heads, which begins `skip` numbers behind an aligned address.
struct tensor {
  index skip;
  wane::impl::aligned_vector<float> numbers = wane::impl::aligned_vector<float>(
      static_cast<std::size_t>(time * heads * width + 16), std::numeric_limits<float>::quiet_NaN());

  explicit tensor(index first = 0) : skip(first) {}
  tensor(unsigned seed, float low, float high) : skip(0) {
    std::mt19937 draw(seed);
    std::uniform_real_distribution<float> number(low, high);
    for (float& x : numbers) x = number(draw);
  }
  sequence_view<float> all() { return {numbers.data() + skip, 1, time, heads, width}; }
  // One head, or all of them for -1.
  sequence_view<float> of(index head) {
    sequence_view<float> x = all();
    if (head >= 0) x.data += head * width, x.extent[2] = 1;
    return x;
  }
  // The first number of each row.
  token_view<float> firsts(index head) {
    sequence_view<float> const x = of(head);
    return {
        x.data, {x.extent[0], x.extent[1], x.extent[2]}, {x.stride[0], x.stride[1], x.stride[2]}};
  }
};

struct inputs {
  tensor query{1, -1, 1}, key{2, -0.2f, 0.2f}, value{3, -1, 1}, log_decay{4, -0.2f, 0},
      strength{5, 0, 1}, output_gradient{6, -1, 1};
};
struct results {
  tensor query, key, value, log_decay, strength;
  explicit results(index skip)
      : query(skip), key(skip), value(skip), log_decay(skip), strength(skip) {}
};

// differentiate(inputs, results, head) finds the gradients of a head, or of all for -1.
template <class Differentiate>
void expect_the_same_bits(Differentiate const& differentiate) {
  inputs in;
  results each(0);
  for (index h = 0; h < heads; ++h) differentiate(in, each, h);
  for (index skip : {0, 1, 8}) {
    results large(skip);
    differentiate(in, large, -1);
    auto const expect_same = [&](char const* name, tensor& a, tensor& b) {
      index different = 0;
      for (index i = 0; i < time * heads * width; ++i) {
        float const x = a.all().data[i], y = b.all().data[i];
        different += !(x == y || (x != x && y != y));
      }
      EXPECT_EQ(different, 0) << name << ", tensors " << skip << " numbers behind a line";
    };
    expect_same("query", large.query, each.query), expect_same("key", large.key, each.key);
    expect_same("value", large.value, each.value);
    expect_same("log_decay", large.log_decay, each.log_decay);
    expect_same("strength", large.strength, each.strength);
  }
}

TEST(LargeGradients, Gla) {
  expect_the_same_bits([](inputs& in, results& to, index h) {
    wane::gla const op({.query = in.query.of(h), .key = in.key.of(h), .value = in.value.of(h)},
                       in.log_decay.of(h));
    decltype(op)::gradients g;
    g.query = to.query.of(h), g.key = to.key.of(h), g.value = to.value.of(h);
    g.log_decay = to.log_decay.of(h);
    wane::adjoint(op, in.output_gradient.of(h), g, wane::adjoint_options<float>{});
  });
}

TEST(LargeGradients, GatedDeltaNet) {
  expect_the_same_bits([](inputs& in, results& to, index h) {
    wane::gated_delta_net const op({.query = in.query.of(h),
                                    .key = in.key.of(h),
                                    .value = in.value.of(h),
                                    .strength = in.strength.firsts(h)},
                                   in.log_decay.firsts(h));
    decltype(op)::gradients g;
    g.query = to.query.of(h), g.key = to.key.of(h), g.value = to.value.of(h);
    g.log_decay = to.log_decay.firsts(h), g.strength = to.strength.firsts(h);
    wane::adjoint(op, in.output_gradient.of(h), g, wane::adjoint_options<float>{});
  });
}

// Constant decays have no gradient by token: the adjoint that goes two ways.
TEST(LargeGradients, Retnet) {
  std::vector<float> const decays(heads, -0.1f);
  expect_the_same_bits([&](inputs& in, results& to, index h) {
    wane::view<float const, 1> const decay(decays.data(), h < 0 ? heads : 1);
    wane::retnet<float> const op(
        {.query = in.query.of(h), .key = in.key.of(h), .value = in.value.of(h)}, {decay});
    wane::retnet<float>::gradients g;
    g.query = to.query.of(h), g.key = to.key.of(h), g.value = to.value.of(h);
    wane::adjoint(op, in.output_gradient.of(h), g, wane::adjoint_options<float>{});
  });
}

}  // namespace
