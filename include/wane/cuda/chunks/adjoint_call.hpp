// The adjoint in chunks: its workspace, its arguments, and its kernels in their order.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/chunks/call.hpp"
#include "wane/cuda/chunks/gradients.hpp"

namespace wane::cuda::impl {

// The workspace: counters of both walks, the states before all chunks, sums over columns, and the
// states and effects between segments.
template <class Config, class Op, class Stored>
struct chunk_adjoint_workspace : room {
  std::size_t kept, sums, states;
  chunk_segments segments;

  chunk_adjoint_workspace(recurrence_shape const& shape, sequence_list const& all, index sequences)
      : segments(chunk_segments::of<Config>(shape, all, sequences)) {
    index const pieces = pieces_of<Config>(shape.columns), rows = whole_rows(shape.rows);
    index const of_each = numbers_of_chunks(all, sequences) * shape.heads * pieces;
    take(2, bytes_of_counters);
    kept = take(of_each * rows * Config::columns, sizeof(Stored));
    sums = take(of_each * chunk_sums<token_of<Op>>{rows}.size(), sizeof(Stored));
    states = take(numbers_of_segments<Config>(segments, shape, sequences));
  }
};

template <class Config, class Out, class Op, class State>
std::size_t chunk_adjoint_workspace_bytes(Op const& op, adjoint_options<State> const& options) {
  recurrence_shape const shape = checked_extents(op);
  index const sequences = sequences_of(shape, options.packed);
  return chunk_adjoint_workspace<Config, Op, stored_for<std::remove_const_t<Out>>>(
             shape, sequences_of_call(shape.time, sequences, options), sequences)
      .bytes;
}

// Arguments of the kernels. A run without output finds and keeps the states. Then gradients go back
// through the columns. Last, sums over columns become gradients of tokens.
template <class Op, class Out, class Gradients, class State>
struct chunk_adjoint_calls {
  chunk_arguments<Op, Out, State> forward;
  chunk_adjoint_arguments<Op, Out, Gradients, State> backward;
  index chunks;  // of all heads

  chunk_gradient_arguments<Op, Out, Gradients, State> last() const { return {backward}; }
};

// Throws wane::error, before anything is written, when a shape does not fit.
template <class Config, class Op, class Out, class Gradients, class State>
auto chunk_adjoint_call(Op const& op, sequence_view<Out> output_gradient,
                        Gradients const& gradients, workspace const& memory,
                        adjoint_options<State> const& options) {
  using Dy = std::remove_const_t<Out>;
  using stored = stored_for<Dy>;
  recurrence_shape const shape = op.shape();
  index const sequences = checked_adjoint_call(op, output_gradient, gradients, options);
  check_rows<Config>(op);
  sequence_list const list = sequences_of_call(shape.time, sequences, options);
  chunk_adjoint_workspace<Config, Op, stored> const parts(shape, list, sequences);
  check_workspace(memory, parts.bytes, "adjoint_workspace_bytes_for");
  auto* const start = static_cast<std::byte*>(memory.data);
  auto* const counters = static_cast<std::uint64_t*>(memory.data);
  auto* const kept = reinterpret_cast<stored*>(start + parts.kept);
  auto cut = parts.segments;
  cut.states = reinterpret_cast<float*>(start + parts.states);
  index const pieces = pieces_of<Config>(shape.columns);
  return chunk_adjoint_calls<Op, Dy, Gradients, State>{
      {{op, {}, options.initial.values, {}, nullptr, list, sequences},
       {shape, pieces, counters, kept},
       cut},
      {{shape, pieces, counters + 2, kept},
       op,
       output_gradient,
       gradients,
       options.final_gradient.values,
       options.initial_gradient.values,
       list,
       sequences,
       reinterpret_cast<stored*>(start + parts.sums),
       cut},
      numbers_of_chunks(list, sequences) * shape.heads};
}

// Backward kernel: workers take columns of the cotangent through the tokens. A multiprocessor of
// sm_80 has shared memory for two blocks of most configurations.
struct chunk_adjoint_kernel : configured_kernel {
  template <class Config, class Arguments>
  static constexpr int resident = 2;
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const&) {
    return Arguments::template layout<Config>.bytes;
  }
  template <class Config, machine M, class Op, class Out, class Gradients, class State>
  WANE_INLINE static void run(M& machine,
                              chunk_adjoint_arguments<Op, Out, Gradients, State> const& a, index) {
    chunk_adjoint<Config, precision_for<Out>, M, Op, Out, Gradients, State>(machine, a)();
  }
};

// Gradient kernel: one block for each chunk of a head turns sums over columns into gradients.
struct chunk_gradients_kernel : configured_kernel {
  template <class Config, class Arguments>
  static constexpr int resident = 1;
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const&) {
    return Arguments::template layout<Config>.bytes;
  }
  template <class Config, machine M, class Op, class Out, class Gradients, class State>
  WANE_INLINE static void run(M& machine,
                              chunk_gradient_arguments<Op, Out, Gradients, State> const& a,
                              index block) {
    chunk_gradients<Config, precision_for<Out>, M,
                    chunk_gradient_arguments<Op, Out, Gradients, State>>(machine, a, block)();
  }
};

// Prepares the kernels. It runs before anything is queued, so that nothing is queued where one of
// the kernels is refused.
template <class Config, class Queue, class Op, class Dy, class Gradients, class State>
void prepare_chunk_adjoint(Queue const& queue,
                           chunk_adjoint_calls<Op, Dy, Gradients, State> const& calls) {
  queue.template prepare<chunk_adjoint_kernel, Config>(calls.backward);
  if constexpr (takes_sums<Gradients, Op>)
    queue.template prepare<chunk_gradients_kernel, Config>(calls.last());
}
template <class Config, class Queue, class Op, class Dy, class Gradients, class State>
void queue_prepared_adjoint(Queue const& queue,
                            chunk_adjoint_calls<Op, Dy, Gradients, State> const& calls) {
  queue_segments<chunk_kernel, Config>(queue, calls.forward);
  queue_segments<chunk_adjoint_kernel, Config>(queue, calls.backward);
  if constexpr (takes_sums<Gradients, Op>)
    queue.template run_blocks<chunk_gradients_kernel, Config>(calls.last(), calls.chunks);
}

template <class Config, class Queue, class Op, class Out, class Gradients, class State>
void queue_chunk_adjoint(Queue const& queue, Op const& op,
                         sequence_view<Out> const& output_gradient, Gradients const& gradients,
                         workspace const& memory, adjoint_options<State> const& options) {
  auto const calls = chunk_adjoint_call<Config>(op, output_gradient, gradients, memory, options);
  prepare_chunk_adjoint<Config>(queue, calls);
  queue_prepared_adjoint<Config>(queue, calls);
}

}  // namespace wane::cuda::impl
