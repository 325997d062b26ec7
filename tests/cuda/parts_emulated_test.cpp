// The parts of gradients of parameters are added up on an emulated GPU, in memory of the workspace.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "support/expect_error.hpp"
#include "support/random_values.hpp"
#include "wane/operators/mamba2.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using wane::index;

constexpr index heads = 3;
using parameter =
    wane::impl::parameter_gradient<"D", wane::view<float, 1>, wane::token_view<float>>;

// 9000 parts need three rounds of sums.
TEST(EmulatedParts, AreAddedUpHoweverManyThereAre) {
  for (index count : {0, 1, 63, 64, 65, 4096, 4097, 9000}) {
    support::random_values random(3);
    std::vector<float> parts(static_cast<std::size_t>(count * heads)), to(2 * heads, NAN);
    for (float& part : parts) part = static_cast<float>(random.uniform(-1, 1));
    parameter gradient(wane::view<float, 1>(to.data(), {heads}, {2}));
    gradient.parts = {parts.data(), 1, count, heads};
    wane::recurrence_shape const shape{1, count, heads, 1, 1};
    wane::cuda::impl::room bytes;
    wane::cuda::impl::parts_in_workspace<parameter> const its(bytes, shape, 1, heads);
    std::vector<double> memory(bytes.bytes / sizeof(double) + 1, NAN);
    wane::cuda::impl::queue_parameter(wane::testing::impl::emulated_queue<>({}), gradient, its,
                                      shape, reinterpret_cast<std::byte*>(memory.data()));
    for (index h = 0; h < heads; ++h) {
      double sum = 0;
      for (index n = 0; n < count; ++n) sum += double(parts[std::size_t(n * heads + h)]);
      EXPECT_NEAR(to[std::size_t(2 * h)], sum, 1e-6 * (1 + std::abs(sum))) << count << " parts";
      EXPECT_TRUE(std::isnan(to[std::size_t(2 * h + 1)])) << "written between the numbers";
    }
  }
}

struct mamba2_case {
  index time;
  support::random_values random{7};
  std::vector<float> x = some(heads * 2), dt = some(heads), b = some(16), c = some(16),
                     dy = some(heads * 2);
  std::vector<float> A = std::vector<float>(heads, -0.5f), D = std::vector<float>(heads, 0.25f);

  std::vector<float> some(index each) {
    std::vector<float> numbers(static_cast<std::size_t>(time * each));
    for (float& number : numbers) number = static_cast<float>(random.uniform(-1, 1));
    return numbers;
  }
  wane::mamba2<float> op() const {
    return wane::mamba2<float>({.x = {x.data(), 1, time, heads, 2},
                                .dt = {dt.data(), 1, time, heads},
                                .A = {A.data(), heads},
                                .B = {b.data(), 1, time, 1, 16},
                                .C = {c.data(), 1, time, 1, 16},
                                .D = {D.data(), heads}},
                               {.dt_softplus = true});
  }
  wane::sequence_view<float const> output_gradient() const {
    return {dy.data(), 1, time, heads, 2};
  }
};

TEST(EmulatedParts, AreOnlyOfParametersThatAreAskedFor) {
  for (index time : {0, 1, 100}) {
    mamba2_case const c{time};
    std::vector<float> on_gpu(heads, NAN), on_cpu = on_gpu;
    wane::mamba2<float>::gradients to{.dt_bias = {on_gpu.data(), heads}};
    wane::testing::adjoint({}, c.op(), c.output_gradient(), to);
    to.dt_bias = {on_cpu.data(), heads};
    wane::adjoint(c.op(), c.output_gradient(), to);
    for (std::size_t h = 0; h < heads; ++h)
      EXPECT_NEAR(on_gpu[h], on_cpu[h], 1e-5) << time << " tokens";
  }
}

TEST(EmulatedParts, NeedTheirWorkspace) {
  mamba2_case const c{100};
  std::vector<float> numbers(2 * heads, -7);
  wane::mamba2<float>::gradients const none,
      to{.A = {numbers.data(), heads}, .D = {numbers.data() + heads, heads}};
  using sizes = wane::testing::impl::small_sizes;
  wane::testing::impl::emulated_queue<> const queue({});
  std::size_t const bytes =
      wane::cuda::impl::adjoint_bytes<sizes, float>(c.op(), wane::adjoint_options<float>{});
  std::vector<double> memory(bytes / sizeof(double) + 1);
  auto const call = [&](auto const& gradients, std::size_t lent) {
    wane::cuda::impl::queue_adjoint<sizes>(queue, c.op(), c.output_gradient(), gradients,
                                           wane::cuda::workspace{memory.data(), lent},
                                           wane::adjoint_options<float>{});
  };
  std::size_t const parts =
      wane::cuda::impl::bytes_of_parts<wane::mamba2<float>::gradients>(c.op().shape(), 1);
  EXPECT_GT(parts, 4 * 100 * heads * sizeof(float));
  call(none, bytes - parts);
  support::expect_error({"the workspace has", "adjoint_workspace_bytes_for"},
                        [&] { call(to, bytes - parts); });
  EXPECT_EQ(numbers, std::vector<float>(2 * heads, -7)) << "written in spite of the error";
  call(to, bytes);
  EXPECT_NE(numbers[0], -7);
}

}  // namespace
