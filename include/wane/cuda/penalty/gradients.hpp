// What directions and lambda of a penalised memory get: kernels over tokens, lines and heads.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/unroll.hpp"
#include "wane/core/recurrence/penalised_memory.hpp"
#include "wane/cuda/machine/lane_sums.hpp"
#include "wane/cuda/penalty/plan.hpp"

namespace wane::cuda {

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
  // a, g, and what keys get, [B, T, H, K]; what penalty_sum gives, [B, T, 2 H, K].
  sequence_view<float> directions, answers, keys, sums;
  penalty_marks marks;
  // Where M fades, [B, T, H]: what log l gets of each token (under the rule rls, at first of itself
  // alone), and what that adds to the trace of N.
  token_view<float> changes, traces;
  // N before and behind each sequence, [sequence][2 H][K][K]; <dL/d(R^T R), R^T R> behind.
  float const *before, *behind, *whole;
  double* lambdas;  // [sequence][head]

  WANE_HOST_DEVICE index lines() const { return states * shape.heads; }
  WANE_HOST_DEVICE index chunks() const {
    return numbers_of_chunks(sequences, states) * shape.heads;
  }
};

// Threads of a block add up in shared memory, which is free behind the next barrier.
template <machine M>
class sum_of_threads {
 public:
  static constexpr std::size_t bytes = M::threads * sizeof(double);

  WANE_HOST_DEVICE explicit sum_of_threads(M& machine) : machine_(machine) {}

  // For thread 0.
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

// A chunk of tokens of a head: what directions get is given to whom they were made of.
template <machine M, class Arguments>
class penalised_token_gradients {
  static constexpr int parts = M::threads / chunk_tokens;
  static constexpr bool fades = fading_penalty<decltype(Arguments::op)>;
  static_assert(warp_size % parts == 0);

 public:
  WANE_HOST_DEVICE penalised_token_gradients(M& machine, Arguments const& a, index block)
      : machine_(machine),
        a_(a),
        head_(block % a.shape.heads),
        number_(block / a.shape.heads),
        sequence_(sequence_of_chunk(a.sequences, number_)),
        first_((number_ - first_chunk(a.sequences, sequence_)) * chunk_tokens) {}

  WANE_HOST_DEVICE void operator()() {
    sequence_tokens const of(a_.sequences, sequence_);
    if (first_ >= of.count) return;
    int const thread = machine_.thread();
    int const count = static_cast<int>(at_most(index{chunk_tokens}, of.count - first_));
    add_up(of.at(first_ + at_most(thread / parts, count - 1), head_), thread / parts < count);
    machine_.barrier();
    if (thread >= count) return;
    place<> const where = of.at(first_ + thread, head_);
    a_.gradients.give_rows(a_.op, where, false, a_.keys.element(where, 0),
                           a_.sums.element(where, 0));
  }

 private:
  WANE_HOST_DEVICE void add_up(place<> where, bool present) const {
    place<> other = where;
    other.head += a_.shape.heads;
    auto const direction = a_.op.direction_at(where);
    bool const own = a_.op.penalises_keys();
    penalty_left<float> left{0};
    if constexpr (fades) left = a_.marks.left_at(a_.op, where);
    // What the token gives itself, of a direction that is given: -g (a . u) - a (g . u).
    float a_u = 0, g_u = 0, of_later = 0, trace = 0;
    for (index i = machine_.thread() % parts; i < a_.shape.rows && present && !own; i += parts) {
      a_u = multiply_add(a_.directions.read(where, i), direction(i), a_u);
      g_u = multiply_add(a_.answers.read(where, i), direction(i), g_u);
    }
    a_u = sum_of_neighbours<parts>(machine_, a_u), g_u = sum_of_neighbours<parts>(machine_, g_u);
    for (index i = machine_.thread() % parts; i < a_.shape.rows && present; i += parts) {
      float u = -left.over() * (a_.sums.read(where, i) + a_.sums.read(other, i));
      float const a = a_.directions.read(where, i), g = a_.answers.read(where, i);
      if constexpr (fades) {
        of_later = multiply_add(direction(i), u, of_later);
        trace = multiply_add(g, a, trace);
      }
      u = multiply_add(-g, a_u, multiply_add(-a, g_u, u));
      a_.sums.write(where, i, u);
      if (own) a_.keys.write(where, i, a_.keys.read(where, i) + u);
    }
    if constexpr (fades) {
      of_later = sum_of_neighbours<parts>(machine_, of_later);
      trace = sum_of_neighbours<parts>(machine_, trace);
      using std::exp;
      if (!present || machine_.thread() % parts != 0) return;
      float change = a_u * g_u;
      if constexpr (decltype(Arguments::op)::rule == write_rule::rls)
        change = a_.changes.read(where);
      a_.changes.write(where, change - of_later / 2);
      a_.traces.write(where, 2 * exp(left.log) * trace);
    }
  }

  M& machine_;
  Arguments const& a_;
  index const head_, number_, sequence_, first_;
};

// A head of a sequence: gradients of log decays, of the initial R, and of lambda.
template <machine M, class Arguments>
class penalised_line_gradients {
  using Op = decltype(Arguments::op);
  using State = std::remove_pointer_t<decltype(Arguments::initial_gradient.data)>;
  static constexpr bool fades = fading_penalty<Op>;

 public:
  // Three numbers a token at a time, or a sum.
  static constexpr std::size_t shared_bytes = std::size_t{3} * M::threads * sizeof(float);
  static_assert(shared_bytes >= sum_of_threads<M>::bytes);

  WANE_HOST_DEVICE penalised_line_gradients(M& machine, Arguments const& a, index line)
      : machine_(machine),
        a_(a),
        line_(line),
        head_(line % a.shape.heads),
        sequence_(line / a.shape.heads),
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
    a_.lambdas[line_] = of_lambda;
  }

 private:
  // Gradients by log decays; returns that of lambda by what is renewed (fading_adjoint.hpp), and
  // the trace of N before all tokens.
  WANE_HOST_DEVICE double walk_back(double& trace) {
    trace = a_.final_gradient.data ? trace_of(a_.behind) : 0;
    double of_lambda = 0, whole = 0;
    if (a_.final_gradient.data) of_left_ = of_final(0, rows()), whole = a_.whole[line_];
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

  // dL/dR = -R N above and on the diagonal, and what log l gets.
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

  // For thread 0.
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
  index const line_, head_, sequence_;
  sequence_tokens const of_;
  double of_left_ = 0;  // thread 0 knows it
};

// lambda's gradient, of one head.
template <machine M, class Arguments>
WANE_HOST_DEVICE void give_lambda(M& machine, Arguments const& a, index head) {
  double sum = 0;
  for (index n = machine.thread(); n < a.states; n += M::threads)
    sum += a.lambdas[n * a.shape.heads + head];
  sum = sum_of_threads<M>{machine}(sum);
  if (machine.thread() == 0) a.gradients.give_lambda(head, sum);
}

}  // namespace wane::cuda
