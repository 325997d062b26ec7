// Arguments of the kernels for gradients by directions, log decays, the initial R and lambda.
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
  // directions a, inverse_gradients g and the gradients by keys, [B, T, H, K]; sums, the outputs of
  // penalty_sum, [B, T, 2 H, K].
  sequence_view<float> directions, inverse_gradients, key_gradients, sums;
  penalty_marks marks;
  // Where M fades, [B, T, H]. changes: the term of each token in dL/dlog l. Under the rule rls
  // penalty_inverse_gradients writes it first, without the part of later tokens. traces: the term
  // of each token in the trace of N.
  token_view<float> changes, traces;
  // before, behind: N before the first token and after the last one, [sequence][2 H][K][K]. whole:
  // <dL/d(R^T R), R^T R> after the last token.
  float const *before, *behind, *whole;
  double* lambdas;  // [sequence][head]

  WANE_HOST_DEVICE index sequence_heads() const { return states * shape.heads; }
  WANE_HOST_DEVICE index chunks() const {
    return numbers_of_chunks(sequences, states) * shape.heads;
  }
};

// Sum over the threads of a block. It uses shared memory until the next barrier.
template <machine M>
class sum_of_threads {
 public:
  WANE_HOST_DEVICE explicit sum_of_threads(M& machine) : machine_(machine) {}

  // Only thread 0 gets the sum.
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

// Common configuration of the kernels.
struct penalised_gradient_kernel {
  template <class Config>
  static constexpr int threads = penalised_gradient_threads;
  template <class Config, class Arguments>
  static constexpr int resident = 1;
};

}  // namespace wane::cuda::impl
