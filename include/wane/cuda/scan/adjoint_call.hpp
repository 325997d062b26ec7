// The adjoint of a scan: its workspace, its arguments, and its kernels in their order.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/scan/adjoint.hpp"
#include "wane/cuda/scan/call.hpp"

namespace wane::cuda::impl {

// A token of the adjoint needs more registers than one of the scan.
template <class V>
using default_adjoint_config = scan_config<256, sizeof(V) <= 4 ? 9 : 3, 4, index{1} << 20, 512>;

// Workspace: the workspace of a scan, then the states before every tile, then sums over columns.
template <class Op>
struct adjoint_workspace {
  std::size_t kept_at, sums_at, bytes;

  explicit adjoint_workspace(scan_plan const& plan) {
    using V = accumulate_type<Op>;
    auto const tiles = static_cast<std::size_t>(plan.strips * plan.tiles);
    auto const rows = static_cast<std::size_t>(plan.shape.rows);
    kept_at = scan_workspace<V>(plan, nullptr).bytes;
    sums_at = kept_at + rounded_up((tiles * rows << plan.columns_log2) * sizeof(V));
    bytes = sums_at + rounded_up(bytes_of_sums<Op>(plan));
  }
};

template <class Config, class Op, class State>
std::size_t scan_adjoint_workspace_bytes(Op const& op, adjoint_options<State> const& options) {
  return adjoint_workspace<Op>(plan_scan<Config>(op,
                                                 sequences_of(checked_extents(op), options.packed),
                                                 options.packed.present()))
      .bytes;
}

// Arguments of the kernels. A scan without output finds the states. Then gradients go backward.
// Where there are sums over columns, a third kernel adds them up and calls the sink.
template <class Op, class Out, class Gradients, class State>
struct scan_adjoint_calls {
  scan_arguments<Op, accumulate_type<Op>, State> forward;
  adjoint_arguments<Op, Out, Gradients, State> backward;
};

// Throws wane::error, before anything is written, when a shape does not fit.
template <class Config, class Op, class Out, class Gradients, class State>
auto scan_adjoint_call(Op const& op, sequence_view<Out> output_gradient, Gradients const& gradients,
                       workspace const& memory, adjoint_options<State> const& options) {
  using V = accumulate_type<Op>;
  using Dy = std::remove_const_t<Out>;
  index const sequences = checked_adjoint_call(op, output_gradient, gradients, options);
  recurrence_shape const shape = op.shape();
  scan_plan const plan = plan_scan<Config>(op, sequences, options.packed.present());
  adjoint_workspace<Op> const parts(plan);
  check_workspace(memory, parts.bytes, "adjoint_workspace_bytes");
  auto* const start = static_cast<std::byte*>(memory.data);
  V* const kept = reinterpret_cast<V*>(start + parts.kept_at);
  scan_workspace<V> const work(plan, memory.data);
  sequence_list const list = sequences_of_call(shape.time, sequences, options);
  std::size_t const staged = staged_bytes<Config>(op);
  std::size_t const numbers = Config::threads * Config::tokens, output_bytes = numbers * sizeof(Dy);
  std::size_t sums_bytes = 0;
  if constexpr (takes_sums<Gradients, Op> && time_invariant<Op>)
    sums_bytes = Config::threads / warp_size * sizeof(row_sums<V>);
  else if constexpr (takes_sums<Gradients, Op>)
    sums_bytes = std::max(token_sums<Op>::kinds, 1) * numbers * sizeof(V);
  return scan_adjoint_calls<Op, Dy, Gradients, State>{
      {{op, {}, options.initial.values, {}, nullptr, list, sequences},
       kept,
       plan,
       shared_layout::of<Config, V>(plan, staged, 0, false),
       work},
      {op, output_gradient, gradients, options.initial.values, options.final_gradient.values,
       options.initial_gradient.values, list, kept,
       reinterpret_cast<row_sums<V>*>(start + parts.sums_at),
       reinterpret_cast<V*>(start + parts.sums_at), plan,
       shared_layout::of<Config, V>(plan, staged + rounded_up(output_bytes), sums_bytes, true),
       work, 0}};
}

// Backward kernel: workers take tiles, from the last to the first.
template <bool Packed>
struct scan_adjoint_kernel : configured_kernel {
  // Numbers of 16 bytes, and complex ones with the sum of a direct term, need the registers of two
  // blocks.
  template <class Op>
  static constexpr bool is_large = sizeof(accumulate_type<Op>) > sizeof(double) ||
                                   (is_complex<accumulate_type<Op>> && has_direct<token_of<Op>>);
  template <class Config, class Arguments>
  static constexpr int resident = is_large<decltype(Arguments::op)> ? 1 : 2;
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const& a) {
    return a.layout.bytes;
  }
  template <class Config, machine M, class Op, class Out, class Gradients, class State>
  WANE_HOST_DEVICE static void run(M& machine,
                                   adjoint_arguments<Op, Out, Gradients, State> const& a, index) {
    scan_adjoint<Config, Packed, M, Op, Out, Gradients, State>(machine, a)();
  }
};

// The kernel that adds up sums over columns.
template <bool Packed>
struct scan_sums_kernel : configured_kernel {
  template <class Config, class Arguments>
  static constexpr int resident = 1;
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const&) {
    return shared_bytes_of_sums;
  }
  template <class Config, machine M, class Op, class Out, class Gradients, class State>
  WANE_HOST_DEVICE static void run(M& machine,
                                   adjoint_arguments<Op, Out, Gradients, State> const& a,
                                   index block) {
    if constexpr (time_invariant<Op>)
      sum_tiles(machine, a, block);
    else
      sum_column_tiles<Packed>(machine, a, block);
  }
};

template <class Config, class Queue, class Op, class Out, class Gradients, class State>
void queue_scan_adjoint(Queue const& queue, Op const& op, sequence_view<Out> const& output_gradient,
                        Gradients const& gradients, workspace const& memory,
                        adjoint_options<State> const& options) {
  auto const calls = scan_adjoint_call<Config>(op, output_gradient, gradients, memory, options);
  where_packed(options.packed.present(), [&](auto packed) {
    queue.template prepare<scan_adjoint_kernel<packed()>, Config>(calls.backward);
    queue.template run_workers<scan_kernel<packed()>, Config>(calls.forward);
    queue.template run_workers<scan_adjoint_kernel<packed()>, Config>(calls.backward);
    if constexpr (takes_sums<Gradients, Op>)
      queue.template run_blocks<scan_sums_kernel<packed()>, Config>(
          calls.backward, blocks_of_sums<Op>(calls.backward.plan));
  });
}

}  // namespace wane::cuda::impl
