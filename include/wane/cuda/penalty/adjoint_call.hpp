// The adjoint of penalised memories: its workspace, its arguments, and its kernels in their order.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/chunks/adjoint_call.hpp"
#include "wane/cuda/penalty/call.hpp"
#include "wane/cuda/penalty/inverse_gradients.hpp"
#include "wane/cuda/penalty/sequence_gradients.hpp"
#include "wane/cuda/penalty/sum.hpp"
#include "wane/cuda/penalty/token_gradients.hpp"

namespace wane::cuda::impl {

template <class Op, class State>
adjoint_options<State> memory_options(Op const& op, adjoint_options<State> options) {
  index const columns = op.output_columns();
  options.initial = memory_columns(options.initial, columns);
  options.final_gradient = memory_columns(options.final_gradient, columns);
  options.initial_gradient = memory_columns(options.initial_gradient, columns);
  return options;
}

// Options of the run of penalty_sum, which passes the tokens in the opposite direction.
template <class State>
run_options<float> options_of_sums(adjoint_options<State> const& options) {
  return {.packed = options.packed,
          .direction =
              options.direction == direction::forward ? direction::reverse : direction::forward};
}

// Offsets of the workspace parts in bytes. `lent` serves the adjoint of S, then the run of
// penalty_sum. The other names are those of penalty/gradients.hpp.
struct penalised_adjoint_workspace : room {
  std::size_t lent, factors_of_segments, directions, inverse_gradients, key_gradients, sums;
  std::size_t factors, lefts, log_decays, decays, changes, traces;
  std::size_t before, behind, whole, lambdas;

  template <class Config, class MemoryConfig, class Out, class Op, class State>
  static penalised_adjoint_workspace of(Op const& op, adjoint_options<State> const& options) {
    recurrence_shape const s = checked_extents(op);
    index const sequences = sequences_of(s, options.packed), sequence_heads = sequences * s.heads;
    index const tokens = s.batch * s.time * s.heads, square = s.rows * s.rows;
    auto const cut =
        segments_of_penalty<Config>(op, sequences_of_call(s.time, sequences, options), sequences);
    penalised_adjoint_workspace at;
    std::size_t const of_memory = chunk_adjoint_workspace_bytes<MemoryConfig, Out>(
        memory_recurrence(op, nullptr), memory_options(op, options));
    std::size_t const of_sums = chunk_workspace_bytes<MemoryConfig>(penalty_sum<Op>(op, {}, {}, {}),
                                                                    options_of_sums(options));
    at.lent = at.take(1, std::max(of_memory, of_sums));
    at.factors_of_segments =
        at.take(cut.count == 1 ? 0 : cut.count * sequence_heads * numbers_of_triangle(s.rows));
    at.directions = at.take(tokens * s.rows), at.inverse_gradients = at.take(tokens * s.rows);
    at.key_gradients = at.take(tokens * s.rows), at.sums = at.take(2 * tokens * s.rows);
    index const of_tokens = fading_penalty<Op> ? tokens : 0;
    at.factors = at.take(Op::rule == write_rule::rls ? 0 : tokens);
    for (std::size_t* each : {&at.lefts, &at.log_decays, &at.decays, &at.changes, &at.traces})
      *each = at.take(of_tokens);
    at.before = at.take(2 * sequence_heads * square);
    at.behind = at.take(options.final_gradient.present() ? 2 * sequence_heads * square : 0);
    at.whole = at.take(sequence_heads), at.lambdas = at.take(sequence_heads, sizeof(double));
    return at;
  }
};

// Arguments of the kernels in the order in which they run: `directions`; the adjoint of S
// (`memory`, `of_memory`, `options`); `inverse_gradients`; the run of `sums`, which writes
// `gradients.sums`; then three kernels take `gradients`: for tokens, for heads of sequences, for
// heads.
template <class Op, class Gradients, class State>
struct penalised_adjoint_calls {
  using S = decltype(memory_recurrence(std::declval<Op const&>(), nullptr));
  using of_rows = sequence_view<float>;
  penalty_arguments<Op, State> directions;
  S memory;
  decltype(std::declval<Gradients const&>().of_memory(of_rows(), of_rows(),
                                                      token_view<float>())) of_memory;
  adjoint_options<State> options;
  inverse_gradient_arguments<Op, State> inverse_gradients;
  penalty_sum<Op> sums;
  run_options<float> options_of_sums;
  penalised_gradient_arguments<Op, Gradients, State> gradients;
  workspace lent;
};

// Throws wane::error, before anything is written, when a shape does not fit.
template <class Config, class MemoryConfig, class Op, class Out, class Gradients, class State>
auto penalised_adjoint_call(Op const& op, sequence_view<Out> output_gradient,
                            Gradients const& gradients, workspace const& memory,
                            adjoint_options<State> const& options) {
  using Dy = std::remove_const_t<Out>;
  index const sequences = checked_adjoint_call(op, output_gradient, gradients, options);
  check_penalty<Config>(op);
  auto const at = penalised_adjoint_workspace::of<Config, MemoryConfig, Dy>(op, options);
  check_workspace(memory, at.bytes, "adjoint_workspace_bytes_for");
  recurrence_shape const s = op.shape();
  index const columns = op.output_columns();
  auto const numbers = [&](std::size_t place) {
    return reinterpret_cast<float*>(static_cast<std::byte*>(memory.data) + place);
  };
  auto const rows = [&](std::size_t place) {
    return sequence_view<float>(numbers(place), s.batch, s.time, s.heads, s.rows);
  };
  auto const of_tokens = [&](std::size_t place, bool present = fading_penalty<Op>) {
    return token_view<float>(present ? numbers(place) : nullptr, s.batch, s.time, s.heads);
  };
  auto const states = [&](std::size_t place) {
    return view<float, 4>(numbers(place), sequences, 2 * s.heads, s.rows, s.rows);
  };
  sequence_list const list = sequences_of_call(s.time, sequences, options);
  auto cut = segments_of_penalty<Config>(op, list, sequences);
  cut.states = numbers(at.factors_of_segments);
  penalty_marks const marks{of_tokens(at.factors, Op::rule != write_rule::rls), of_tokens(at.lefts),
                            of_tokens(at.log_decays), of_tokens(at.decays)};
  bool const behind = options.final_gradient.present();
  penalty_arguments<Op, State> const directions{
      {op, rows(at.directions), options.initial.values, {}, nullptr, list, sequences},
      s,
      columns,
      penalty_layout::of<Config>(s.rows, !op.penalises_keys()),
      cut,
      marks};
  inverse_gradient_arguments<Op, State> inverse_gradients{directions,
                                                          rows(at.inverse_gradients),
                                                          rows(at.key_gradients),
                                                          of_tokens(at.changes),
                                                          options.final_gradient.values,
                                                          behind ? numbers(at.behind) : nullptr,
                                                          numbers(at.whole)};
  inverse_gradients.layout = penalty_layout::of<Config>(s.rows, true);
  inverse_gradients.marks = {marks.factors, {}, {}, {}};
  if (cut.count > 1) inverse_gradients.segments.now = chunk_segments::part::outputs;
  auto of_sums = options_of_sums(options);
  if (behind) of_sums.initial.values = states(at.behind);
  of_sums.final.values = states(at.before);
  return penalised_adjoint_calls<Op, Gradients, State>{
      directions,
      memory_recurrence(op, numbers(at.directions)),
      gradients.of_memory(rows(at.inverse_gradients), rows(at.key_gradients), marks.decays),
      memory_options(op, options),
      inverse_gradients,
      {op, rows(at.directions), rows(at.inverse_gradients), marks},
      of_sums,
      {op,
       gradients,
       s,
       columns,
       list,
       sequences,
       options.initial.values,
       options.final_gradient.values,
       options.initial_gradient.values,
       rows(at.directions),
       rows(at.inverse_gradients),
       rows(at.key_gradients),
       {numbers(at.sums), s.batch, s.time, 2 * s.heads, s.rows},
       marks,
       of_tokens(at.changes),
       of_tokens(at.traces),
       numbers(at.before),
       numbers(at.behind),
       numbers(at.whole),
       reinterpret_cast<double*>(numbers(at.lambdas))},
      {numbers(at.lent), at.factors_of_segments}};
}

// Kernel of penalty_inverse_gradients, between the adjoint of S and the run of penalty_sum.
struct inverse_gradients_kernel : penalty_kernel {
  template <class Config, machine M, class Op, class State>
  WANE_HOST_DEVICE static void run(M& machine, inverse_gradient_arguments<Op, State> const& a,
                                   index block) {
    penalty_inverse_gradients<Config, M, Op, State>(machine, a, block)();
  }
};

template <class Config, class MemoryConfig, class Queue, class Op, class Out, class Gradients,
          class State>
void queue_penalised_adjoint(Queue const& queue, Op const& op,
                             sequence_view<Out> const& output_gradient, Gradients const& gradients,
                             workspace const& memory, adjoint_options<State> const& options) {
  auto const calls =
      penalised_adjoint_call<Config, MemoryConfig>(op, output_gradient, gradients, memory, options);
  queue.template prepare<inverse_gradients_kernel, Config>(calls.inverse_gradients);
  auto const of_memory = chunk_adjoint_call<MemoryConfig>(
      calls.memory, output_gradient, calls.of_memory, calls.lent, calls.options);
  prepare_chunk_adjoint<MemoryConfig>(queue, of_memory);
  queue_penalties<Config>(queue, calls.directions);
  queue_prepared_adjoint<MemoryConfig>(queue, of_memory);
  queue.template run_blocks<inverse_gradients_kernel, Config>(calls.inverse_gradients,
                                                              calls.inverse_gradients.work_items());
  queue_chunks<MemoryConfig>(queue, calls.sums, calls.gradients.sums, calls.lent,
                             calls.options_of_sums);
  auto const& last = calls.gradients;
  queue.template run_blocks<penalised_token_kernel, no_config>(last, last.chunks());
  queue.template run_blocks<penalised_sequence_kernel, no_config>(last, last.sequence_heads());
  queue.template run_blocks<penalised_lambda_kernel, no_config>(last, last.shape.heads);
}

}  // namespace wane::cuda::impl
