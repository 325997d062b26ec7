// What a call of the scan asks for: its checks, which read no tensor, and the arguments of blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/scan.hpp"
#include "wane/run/options.hpp"

namespace wane::cuda {

// Memory that the caller lends for the time of a call, aligned to 16 bytes as cudaMalloc does; its
// contents mean nothing before or after.
struct workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// Sentences for what the scan cannot do.
template <class Op, class Out>
consteval void check_scan() {
  static_assert(
      diagonal_recurrence<Op>,
      "wane::cuda::run: this type is no recurrence; it needs shape() and at(place), which "
      "gives a token with value(j); see wane/core/recurrence.hpp");
  static_assert(!diagonal_recurrence<Op> || scannable<Op>,
                "wane::cuda::run: only a scannable recurrence, whose tokens do not look at the "
                "state, runs as a scan; this one has erase terms or a step of its own");
  static_assert(!normalised_recurrence<Op>,
                "wane::cuda::run: outputs are not divided by a denominator here; run "
                "wane::unnormalised(op), whose last column is the denominator, and divide");
  static_assert(std::is_trivially_copyable_v<Op>,
                "wane::cuda::run: an operator is copied to the device as it is, so it must be "
                "trivially copyable: views and numbers, no vectors or references");
  static_assert(!std::is_const_v<Out>,
                "wane::cuda::run: the output is a view of constants; it must be writable");
}

// The bytes of workspace that run(stream, op, output, workspace, options) asks for. They depend on
// shapes alone, so that one workspace, of the largest, serves many calls that follow each other.
template <class Config, class Op, class State>
std::size_t scan_workspace_bytes(Op const& op, run_options<State> const& options) {
  scan_plan const plan = plan_scan<Config>(op, sequences_of(checked_extents(op), options.packed),
                                           options.packed.present());
  return scan_workspace<accumulate_type<Op>>(plan, nullptr).bytes;
}
template <class Op, class State = accumulate_type<Op>>
std::size_t workspace_bytes(Op const& op, run_options<State> const& options = {}) {
  return scan_workspace_bytes<default_scan_config<accumulate_type<Op>>>(op, options);
}

// The number of states of a call that is found good; its starts may lie on a device.
template <class Options>
index checked_sequences(recurrence_shape const& shape, Options const& options) {
  packed_sequences const& packed = options.packed;
  index const sequences = sequences_of(shape, packed);
  require(options.lengths.empty(),
          "lengths are given; on a GPU batches are not padded: pack their "
          "sequences end to end (packed)");
  require(!packed.present() || shape.batch == 1, "packed sequences lie in one row: batch is ",
          shape.batch, "; it must be 1");
  require(sequences > 0 || shape.time == 0,
          "packed.starts has one entry, so there is no sequence, but time is ", shape.time,
          "; it must be 0");
  return sequences;
}
inline void check_workspace(workspace const& memory, std::size_t bytes, char const* who_says) {
  std::size_t const there = memory.data ? memory.bytes : 0;
  require(there >= bytes, "the workspace has ", there, " bytes; it must have ", bytes,
          " (wane::cuda::", who_says, " says so)");
  require(reinterpret_cast<std::uintptr_t>(memory.data) % 16 == 0,
          "the workspace is not aligned; it must begin at a multiple of 16 bytes");
}

// The sequences of a call as a kernel sees them.
template <class Options>
sequence_list sequences_of_call(index time, index sequences, Options const& options) {
  bool const packed = options.packed.present();
  return {time, packed ? sequences : 0, packed ? options.packed.starts.data() : nullptr,
          options.initial.positions, options.direction == direction::forward ? 1 : -1};
}

// Throws wane::error, before anything is written, when a shape does not fit.
template <class Config, class Op, class Out, class State>
scan_arguments<Op, Out, State> scan_call(Op const& op, sequence_view<Out> output,
                                         run_options<State> const& options,
                                         workspace const& memory) {
  recurrence_shape const shape = checked_extents(op);
  check("output", output, shape);
  index const sequences = checked_sequences(shape, options);
  check("initial", options.initial, sequences, shape);
  check("final", options.final, sequences, shape);
  require(options.keep.empty(), "keep has ", options.keep.size(),
          " states; on a GPU states on the way are not kept, it must be empty");
  require(!options.packed.present() || !options.initial.present() ||
              options.initial.values.data != options.final.values.data,
          "initial and final are the same memory; of packed sequences they must not be");
  scan_plan const plan = plan_scan<Config>(op, sequences, options.packed.present());
  scan_workspace<accumulate_type<Op>> const work(plan, memory.data);
  check_workspace(memory, work.bytes, "workspace_bytes");
  return {
      op,
      output,
      options.initial.values,
      options.final.values,
      options.final.positions,
      sequences_of_call(shape.time, sequences, options),
      nullptr,
      plan,
      shared_layout::of<Config, accumulate_type<Op>>(
          plan, staged_bytes<Config>(op), Config::threads * Config::tokens * sizeof(Out), false),
      work,
      0};
}

// The kernel, as every thread of the machine runs it.
template <class Config, bool Packed, machine M, class Op, class Out, class State>
WANE_HOST_DEVICE void scan_kernel(M& machine, scan_arguments<Op, Out, State> const& arguments) {
  scan<Config, Packed, M, Op, Out, State>(machine, arguments)();
}

}  // namespace wane::cuda
