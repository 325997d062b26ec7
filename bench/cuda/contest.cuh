// A contest on the GPU: our kernel, what it is compared with, and the oracle's verdict on each.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <optional>

#include "cuda/row.hpp"

namespace wane::bench {

struct entrant {
  // Queues the work and allocates nothing: it is captured in a graph.
  std::function<void(cudaStream_t)> run;
  // Largest difference of the outputs, as they are now, from those in double, over the largest
  // value of the latter.
  std::function<double()> error;
  double bytes = 0;
};

struct contest {
  entrant ours;
  std::optional<entrant> cub, walk;  // other kernels for the same problem
  std::optional<entrant> softmax;    // another problem on the same tensors, with its own error
  // A product of matrices, and the useful operations of ours over the operations of this product.
  std::function<void(cudaStream_t)> gemm = {};
  double flops_over_gemm = 0;
  // The memory of the inputs and of the outputs. Each holds at least half of the bytes that ours
  // must move: the copy reads half of them from `inputs` and writes as many to `outputs`.
  void const* inputs = nullptr;
  void* outputs = nullptr;
  // The error that rounding explains, of outputs and of factors to 16 or 22 bits.
  double rounding = 0;
};

// Throws disagreement, and times nothing, when ours or a rival is further from the oracle than
// rounding explains.
measurement held(contest const& what, int rounds);

// A Problem has by_wane, by_walk, error, and bytes(numbers), the bytes that each of them moves.
template <class Problem>
measurement held_against_walk(extents const& e, int rounds) {
  auto const p = std::make_shared<Problem>(e);
  auto const error = [p] { return p->error(); };
  contest c;
  c.ours = {[p](cudaStream_t on) { p->by_wane(on); }, error, p->bytes(Problem::moved_numbers)};
  c.walk = {[p](cudaStream_t on) { p->by_walk(on); }, error, p->bytes(Problem::moved_by_walk)};
  c.inputs = p->inputs(), c.outputs = p->outputs();
  return held(c, rounds);
}

}  // namespace wane::bench
