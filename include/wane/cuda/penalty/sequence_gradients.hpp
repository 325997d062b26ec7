// Gradient kernels of penalised memories, by log decays, initial R and lambda.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/penalty/gradients.hpp"

namespace wane::cuda::impl {

// One block for each head of a sequence: gradients by log decays, by the initial R and by lambda.
template <machine M, class Arguments>
class penalised_sequence_gradients {
  using Op = decltype(Arguments::op);
  using State = std::remove_pointer_t<decltype(Arguments::initial_gradient.data)>;
  static constexpr bool fades = fading_penalty<Op>;

 public:
  WANE_HOST_DEVICE penalised_sequence_gradients(M& machine, Arguments const& a, index sequence_head)
      : machine_(machine),
        a_(a),
        sequence_head_(sequence_head),
        head_(sequence_head % a.shape.heads),
        sequence_(sequence_head / a.shape.heads),
        of_(a.sequences, sequence_) {}

  WANE_HOST_DEVICE void operator()() {
    bool const seen = a_.initial.data && of_initial(0, 0) != 0.f;
    double of_lambda = 0, trace;
    if constexpr (fades)
      of_lambda = walk_back(trace);
    else
      trace = trace_of(a_.before);
    give_initial(seen);
    if (machine_.thread() != 0) return;
    if (!seen && of_.count > 0) of_lambda -= trace / 2;
    a_.lambdas[sequence_head_] = of_lambda;
  }

 private:
  // Writes gradients by log decays. Returns the part of lambda's gradient that comes from renewals
  // (run/penalty/fading_adjoint.hpp). Sets `trace` to the trace of N before the first token.
  WANE_HOST_DEVICE double walk_back(double& trace) {
    trace = a_.final_gradient.data ? trace_of(a_.behind) : 0;
    double of_lambda = 0, whole = 0;
    if (a_.final_gradient.data) of_left_ = of_final(0, rows()), whole = a_.whole[sequence_head_];
    double const lambda = static_cast<double>(a_.op.lambda(head_));
    auto* const change = reinterpret_cast<float*>(machine_.shared());
    float *const traces = change + M::threads, *const lefts = traces + M::threads;
    auto const get = [&](float const* x, index n) { return machine_.read_shared(x + n); };
    machine_.barrier();
    for (index end = of_.count, first; end > 0; end = first) {
      first = at_least(index{0}, end - M::threads);
      int const thread = machine_.thread();
      place<> const where = of_.at(at_most(first + thread, end - 1), head_);
      machine_.write_shared(change + thread, a_.changes.read(where));
      machine_.write_shared(traces + thread, a_.traces.read(where));
      machine_.write_shared(lefts + thread, a_.marks.lefts.read(where));
      machine_.barrier();
      for (index n = end - first; n-- > 0 && thread == 0;) {
        of_left_ += static_cast<double>(get(change, n)),
            whole += static_cast<double>(get(change, n));
        trace += static_cast<double>(get(traces, n));
        float const log_left = get(lefts, n);
        if (log_left < static_cast<float>(a_.op.log_renewal())) {
          double const given = -std::expm1(static_cast<double>(log_left)), of_m = -trace / 2;
          float const left = std::exp(log_left);
          of_lambda += given * of_m;
          of_left_ = left == 0.f ? 0 : whole - lambda * of_m;
          whole = left == 0.f ? 0 : whole - given * lambda * of_m;
          trace *= static_cast<double>(left);
        }
        machine_.write_shared(change + n, static_cast<float>(of_left_));
      }
      machine_.barrier();
      if (first + thread < end)
        a_.gradients.give_decay(where, a_.marks.decays.read(where) + get(change, thread));
    }
    return of_lambda;
  }

  // The gradient by the initial state: dL/dR = -R N on and above the diagonal, and dL/dlog l.
  WANE_HOST_DEVICE void give_initial(bool seen) const {
    if (!a_.initial_gradient.data) return;
    float by = 1;
    if constexpr (fades)
      if (of_.count > 0 && a_.marks.renewed_before(a_.op, of_.at(0, head_)))
        by = std::exp(a_.marks.lefts.read(of_.at(0, head_)));
    for (index j = machine_.thread(); j < rows(); j += M::threads)
      for (index i = 0; i < rows(); ++i) {
        float sum = 0;
        if (of_.count == 0)
          sum = of_final(i, j);
        else
          for (index l = i; l < rows() && seen && j >= i; ++l)
            sum = multiply_add(-by * of_initial(i, l), n(a_.before, l, j), sum);
        give(i, j, sum);
      }
    if constexpr (fades)
      for (index i = machine_.thread(); i < rows(); i += M::threads)
        give(i, rows(),
             of_.count == 0   ? of_final(i, rows())
             : seen && i == 0 ? static_cast<float>(of_left_)
                              : 0.f);
  }
  WANE_HOST_DEVICE void give(index i, index j, float x) const {
    a_.initial_gradient(sequence_, head_, i, a_.values + j) = static_cast<State>(x);
  }

  // Only thread 0 gets the trace.
  WANE_HOST_DEVICE double trace_of(float const* sums) const {
    double sum = 0;
    for (index i = machine_.thread(); i < rows(); i += M::threads)
      sum += static_cast<double>(n(sums, i, i));
    return sum_of_threads<M>{machine_}(sum);
  }
  WANE_HOST_DEVICE float n(float const* sums, index i, index j) const {
    index const heads = a_.shape.heads, each = rows() * rows();
    float const* const from = sums + (sequence_ * 2 * heads + head_) * each + i * rows() + j;
    return from[0] + from[heads * each];
  }
  WANE_HOST_DEVICE float of_initial(index i, index j) const {
    return static_cast<float>(a_.initial(sequence_, head_, i, a_.values + j));
  }
  WANE_HOST_DEVICE float of_final(index i, index j) const {
    auto const& g = a_.final_gradient;
    return g.data ? static_cast<float>(g(sequence_, head_, i, a_.values + j)) : 0.f;
  }
  WANE_HOST_DEVICE index rows() const { return a_.shape.rows; }

  M& machine_;
  Arguments const& a_;
  index const sequence_head_, head_, sequence_;
  sequence_tokens const of_;
  double of_left_ = 0;  // dL/dlog l, in thread 0 only
};

// Passes on the gradient by lambda of one head, summed over sequences.
template <machine M, class Arguments>
WANE_HOST_DEVICE void give_lambda(M& machine, Arguments const& a, index head) {
  double sum = 0;
  for (index n = machine.thread(); n < a.states; n += M::threads)
    sum += a.lambdas[n * a.shape.heads + head];
  sum = sum_of_threads<M>{machine}(sum);
  if (machine.thread() == 0) a.gradients.give_lambda(head, sum);
}

struct penalised_sequence_kernel : penalised_gradient_kernel {
  // Three numbers for each thread's token, or one term of a sum for each thread.
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const&) {
    return penalised_gradient_threads * std::max(3 * sizeof(float), sizeof(double));
  }
  template <class Config, machine M, class Arguments>
  WANE_HOST_DEVICE static void run(M& machine, Arguments const& a, index block) {
    penalised_sequence_gradients<M, Arguments>(machine, a, block)();
  }
};
struct penalised_lambda_kernel : penalised_gradient_kernel {
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const&) {
    return penalised_gradient_threads * sizeof(double);
  }
  template <class Config, machine M, class Arguments>
  WANE_HOST_DEVICE static void run(M& machine, Arguments const& a, index block) {
    give_lambda(machine, a, block);
  }
};

}  // namespace wane::cuda::impl
