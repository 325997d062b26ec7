// The checks of a call of run, made without reading a tensor.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/checks.hpp"
#include "wane/core/call/run_options.hpp"
#include "wane/cuda/call/operators.hpp"
#include "wane/cuda/call/run_arguments.hpp"

namespace wane::cuda::impl {

// Checks the sequences of a call and returns the number of its states. starts may lie on a device.
template <class Options>
index checked_sequences(recurrence_shape const& shape, Options const& options) {
  packed_sequences const& packed = options.packed;
  index const sequences = sequences_of(shape, packed);
  require(options.lengths.empty(),
          "lengths are given; on a GPU batches are not padded: pack their "
          "sequences end to end (packed)");
  check_box(shape, options, {false, false, false});
  require(!packed.present() || shape.batch == 1, "packed sequences lie in one row: batch is ",
          shape.batch, "; it must be 1");
  require(sequences > 0 || shape.time == 0,
          "packed.starts has one entry, so there is no sequence, but time is ", shape.time,
          "; it must be 0");
  return sequences;
}

// Throws where parameters of each sequence do not fit a call.
template <class Op, class Options>
void check_parameters_of_sequences(Op const& op, index sequences, Options const& options) {
  wane::impl::check_sequences_of(op, sequences);
  if constexpr (pole_bank<Op>)
    require(!options.packed.present() || !op.weighs_sequences(),
            "weights of poles differ between sequences (a mask of each), and sequences are packed; "
            "on a GPU they must be the rows of a batch");
}

// Throws where a memory with keys has more rows than the kernel takes.
template <class Config, class Op>
void check_rows(Op const& op) {
  index const rows = recurrence_shape(op.shape()).rows;
  require(rows <= Config::most_rows, "the operator has rows ", rows,
          "; of a memory with keys this call takes at most ", Config::most_rows,
          Config::most_rows < 256 ? " (run<256> and adjoint<256>: 256)" : "");
}

// The sequences of a call, for a kernel.
template <class Options>
sequence_list sequences_of_call(index time, index sequences, Options const& options) {
  bool const packed = options.packed.present();
  return {time, packed ? sequences : 0, packed ? options.packed.starts.data() : nullptr,
          options.initial.positions, options.direction == direction::forward ? 1 : -1};
}

// Checks a call of run and returns the arguments that all kernels share.
template <class Op, class Out, class State>
run_arguments<Op, Out, State> checked_call(Op const& op, sequence_view<Out> const& output,
                                           run_options<State> const& options) {
  recurrence_shape const shape = checked_extents(op);
  check("output", output, output_shape_of(op));
  index const sequences = checked_sequences(shape, options);
  check_parameters_of_sequences(op, sequences, options);
  check_state("initial", options.initial, sequences, shape);
  check_positions("initial", op, options.initial);
  check_state("final", options.final, sequences, shape);
  require(options.keep.empty(), "keep has ", options.keep.size(),
          " states; on a GPU states on the way are not kept, it must be empty");
  require(!options.packed.present() || !options.initial.present() ||
              options.initial.values.data != options.final.values.data,
          "initial and final are the same memory; of packed sequences they must not be");
  return {op,
          output,
          options.initial.values,
          options.final.values,
          options.final.positions,
          sequences_of_call(shape.time, sequences, options),
          sequences};
}

}  // namespace wane::cuda::impl
