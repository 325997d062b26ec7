// What the adjoint of penalised memories asks for: its kernels, and two runs between them.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/chunks/adjoint_call.hpp"
#include "wane/cuda/penalty/answers.hpp"
#include "wane/cuda/penalty/call.hpp"
#include "wane/cuda/penalty/gradients.hpp"
#include "wane/cuda/penalty/sum.hpp"

namespace wane::cuda {

template <class Op, class State>
adjoint_options<State> memory_of(Op const& op, adjoint_options<State> options) {
  index const columns = op.output_columns();
  options.initial = memory_of(options.initial, columns);
  options.final_gradient = memory_of(options.final_gradient, columns);
  options.initial_gradient = memory_of(options.initial_gradient, columns);
  return options;
}

// The sequences of penalty_sum's run, from the last token to the first.
template <class State>
run_options<float> options_of_sums(adjoint_options<State> const& options) {
  return {.packed = options.packed,
          .direction =
              options.direction == direction::forward ? direction::reverse : direction::forward};
}

// Parts of the workspace, in bytes from its start, the first for the adjoint of S and the run of
// penalty_sum; names as in penalty_gradients.hpp.
struct penalised_adjoint_workspace : room {
  std::size_t lent, factors_of_segments, directions, answers, keys, sums;
  std::size_t factors, lefts, log_decays, decays, changes, traces;
  std::size_t before, behind, whole, lambdas;

  template <class Config, class MemoryConfig, class Out, class Op, class State>
  static penalised_adjoint_workspace of(Op const& op, adjoint_options<State> const& options) {
    recurrence_shape const s = checked_extents(op);
    index const sequences = sequences_of(s, options.packed), lines = sequences * s.heads;
    index const tokens = s.batch * s.time * s.heads, square = s.rows * s.rows;
    auto const cut =
        segments_of_penalty<Config>(op, sequences_of_call(s.time, sequences, options), sequences);
    penalised_adjoint_workspace at;
    std::size_t const of_memory = chunk_adjoint_workspace_bytes<MemoryConfig, Out>(
        memory_of(op, nullptr), memory_of(op, options));
    std::size_t const of_sums = chunk_workspace_bytes<MemoryConfig>(penalty_sum<Op>(op, {}, {}, {}),
                                                                    options_of_sums(options));
    at.lent = at.take(1, std::max(of_memory, of_sums));
    at.factors_of_segments =
        at.take(cut.count == 1 ? 0 : cut.count * lines * numbers_of_triangle(s.rows));
    at.directions = at.take(tokens * s.rows), at.answers = at.take(tokens * s.rows);
    at.keys = at.take(tokens * s.rows), at.sums = at.take(2 * tokens * s.rows);
    index const of_tokens = fading_penalty<Op> ? tokens : 0;
    at.factors = at.take(Op::rule == write_rule::rls ? 0 : tokens);
    for (std::size_t* each : {&at.lefts, &at.log_decays, &at.decays, &at.changes, &at.traces})
      *each = at.take(of_tokens);
    at.before = at.take(2 * lines * square);
    at.behind = at.take(options.final_gradient.present() ? 2 * lines * square : 0);
    at.whole = at.take(lines), at.lambdas = at.take(lines, sizeof(double));
    return at;
  }
};

// In this order: `directions`; the adjoint of S, `memory`, into `of_memory`; `answers`; the run of
// `sums` into `gradients.sums`; `gradients`, of tokens, of lines, of heads.
template <class Op, class Gradients, class State>
struct penalised_adjoint_calls {
  using S = decltype(memory_of(std::declval<Op const&>(), nullptr));
  using of_rows = sequence_view<float>;
  penalty_arguments<Op, State> directions;
  S memory;
  decltype(std::declval<Gradients const&>().of_memory(of_rows(), of_rows(),
                                                      token_view<float>())) of_memory;
  adjoint_options<State> options;
  penalty_answer_arguments<Op, State> answers;
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
  penalty_answer_arguments<Op, State> answers{directions,
                                              rows(at.answers),
                                              rows(at.keys),
                                              of_tokens(at.changes),
                                              options.final_gradient.values,
                                              behind ? numbers(at.behind) : nullptr,
                                              numbers(at.whole)};
  answers.layout = penalty_layout::of<Config>(s.rows, true);
  answers.marks = {marks.factors, {}, {}, {}};
  if (cut.count > 1) answers.segments.now = chunk_segments::part::outputs;
  auto of_sums = options_of_sums(options);
  if (behind) of_sums.initial.values = states(at.behind);
  of_sums.final.values = states(at.before);
  return penalised_adjoint_calls<Op, Gradients, State>{
      directions,
      memory_of(op, numbers(at.directions)),
      gradients.of_memory(rows(at.answers), rows(at.keys), marks.decays),
      memory_of(op, options),
      answers,
      {op, rows(at.directions), rows(at.answers), marks},
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
       rows(at.answers),
       rows(at.keys),
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

// The kernel between the two runs, as every thread of the machine runs it.
template <class Config, machine M, class Op, class State>
WANE_HOST_DEVICE void penalty_answer_kernel(M& machine,
                                            penalty_answer_arguments<Op, State> const& arguments,
                                            index block) {
  penalty_answers<Config, M, Op, State>(machine, arguments, block)();
}

}  // namespace wane::cuda
