// What the kernels read and write that find gradients by directions, decays, initial R and lambda.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/unroll.hpp"
#include "wane/core/recurrence/penalised_memory.hpp"
#include "wane/cuda/penalty/plan.hpp"

namespace wane::cuda::impl {

inline constexpr int penalised_gradient_threads = 128;

template <class Op, class Gradients, class State>
struct penalised_gradient_arguments {
  Op op;
  Gradients gradients;
  recurrence_shape shape;
  index values;  // columns of a state before those of R
  sequence_list sequences;
  index states;
  view<State const, 4> initial, final_gradient;
  view<State, 4> initial_gradient;
  // a, g and the gradients by keys, [B, T, H, K]; the outputs of penalty_sum, [B, T, 2 H, K].
  sequence_view<float> directions, inverse_gradients, key_gradients, sums;
  penalty_marks marks;
  // Where M fades, [B, T, H]: the gradient by log l that comes from each token (under the rule rls,
  // at first from the token itself alone), and what the token adds to the trace of N.
  token_view<float> changes, traces;
  // N before and behind each sequence, [sequence][2 H][K][K]; <dL/d(R^T R), R^T R> behind.
  float const *before, *behind, *whole;
  double* lambdas;  // [sequence][head]

  WANE_HOST_DEVICE index sequence_heads() const { return states * shape.heads; }
  WANE_HOST_DEVICE index chunks() const {
    return numbers_of_chunks(sequences, states) * shape.heads;
  }
};

// Threads of a block add up in shared memory, which is free behind the next barrier.
template <machine M>
class sum_of_threads {
 public:
  WANE_HOST_DEVICE explicit sum_of_threads(M& machine) : machine_(machine) {}

  // Thread 0 gets the sum.
  WANE_HOST_DEVICE double operator()(double x) const {
    auto* const all = reinterpret_cast<double*>(machine_.shared());
    machine_.write_shared(all + machine_.thread(), x);
    machine_.barrier();
    double total = 0;
    for (int n = 0; n < M::threads && machine_.thread() == 0; ++n)
      total += machine_.read_shared(static_cast<double const*>(all + n));
    return total;
  }

 private:
  M& machine_;
};

// What the kernels have in common.
struct penalised_gradient_kernel {
  template <class Config>
  static constexpr int threads = penalised_gradient_threads;
  template <class Config, class Arguments>
  static constexpr int resident = 1;
};

}  // namespace wane::cuda::impl
