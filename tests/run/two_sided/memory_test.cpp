// Two-sided transforms and their adjoint allocate as much memory for every length.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <thread>

#include "support/laplace_problem.hpp"
#include "support/memory_asked.hpp"
#include "wane/run/two_sided/adjoint.hpp"
#include "wane/run/two_sided/stream.hpp"

namespace wane {
namespace {

template <spectra::window_shape Window>
std::ptrdiff_t bytes_on_this_thread(index tokens) {
  using problem = support::laplace_problem<float, Window>;
  using State = accumulate_type<typename problem::operation>;
  problem p({.batch = 1, .tokens = tokens, .heads = 1, .columns = 2, .width = 30});
  p.widths = {30};
  auto const op = p.make(0, tokens);
  std::vector<float> y(p.x.size());
  sequence_view<float> const output(y.data(), 1, tokens, 1, 2);
  std::ptrdiff_t const before = support::memory_taken.bytes;
  run_two_sided(op, op.future(), output, run_options<State>{.threads = 1});
  adjoint_two_sided(op, op.future(), output, p.gradients(), adjoint_options<State>{.threads = 1});
  return support::memory_taken.bytes - before;
}

// On a thread of its own, which has kept no memory of an earlier call.
template <spectra::window_shape Window>
std::ptrdiff_t bytes_of(index tokens) {
  std::ptrdiff_t bytes = 0;
  std::thread([&] { bytes = bytes_on_this_thread<Window>(tokens); }).join();
  return bytes;
}

TEST(TwoSidedMemory, DoesNotGrowWithTheLength) {
  using enum spectra::window_shape;
  (void)bytes_of<none>(1000);  // OpenMP allocates memory on its first use
  EXPECT_EQ(bytes_of<none>(1000), bytes_of<none>(20000));
  EXPECT_EQ(bytes_of<hann>(1000), bytes_of<hann>(20000));
}

TEST(TwoSidedMemory, OfAStreamIsThatOfItsWindow) {
  using problem = support::laplace_problem<float, spectra::window_shape::hann>;
  problem p({.batch = 1, .tokens = 20000, .heads = 1, .columns = 2, .width = 30});
  auto const op = p.make(0, 0);
  std::vector<float> y(p.x.size());
  support::memory_taken.largest = 0;
  two_sided_stream stream(op, op.future(), 1);
  stream.push({p.x.data(), 1, 20000, 1, 2},
              sequence_view<float>(y.data(), 1, stream.ready(20000), 1, 2));
  EXPECT_LT(support::memory_taken.largest, 20000);  // bytes, an eighth of the outputs
}

}  // namespace
}  // namespace wane
