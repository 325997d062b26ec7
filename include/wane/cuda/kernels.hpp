// The table of kernels: which of them takes an operator, on a device and on the emulated GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/call/parts.hpp"
#include "wane/cuda/one_token/call.hpp"
#include "wane/cuda/penalty/adjoint_call.hpp"
#include "wane/cuda/scan/adjoint_call.hpp"

namespace wane::cuda::impl {

enum class pass { run, adjoint };

// A row of the table states which operator types it takes (`takes`), whether it also checks their
// shape (`may_decline`, then `accepts`), and how much workspace a call needs. It also queues the
// call. Sizes are configurations: those of device_sizes, or smaller ones in tests.

// Memories with keys, 16 tokens at a time. Those that can be scanned are taken from 16 rows on.
struct chunks {
  static constexpr index least_rows = 16;
  template <class Op, pass>
  static constexpr bool takes = chunkable<Op>;
  template <class Op>
  static constexpr bool may_decline = scannable<Op>;
  template <class Op, class Options>
  static bool accepts(Op const& op, Options const&) {
    return recurrence_shape(op.shape()).rows >= least_rows;
  }

  template <class Sizes, class Op, class State>
  static std::size_t run_bytes(Op const& op, run_options<State> const& options) {
    using Config = typename Sizes::template chunks<Sizes::most_rows>;
    check_rows<Config>(op);
    return chunk_workspace_bytes<Config>(op, options);
  }
  template <class Sizes, class Out, class Op, class State>
  static std::size_t adjoint_bytes(Op const& op, adjoint_options<State> const& options) {
    using Config = typename Sizes::template chunks<Sizes::most_rows>;
    check_rows<Config>(op);
    return chunk_adjoint_workspace_bytes<Config, Out>(op, options);
  }
  template <class Sizes, class Queue, class Op, class... Call>
  static void run(Queue const& queue, Op const& op, Call const&... call) {
    Sizes::with_rows(op, [&](auto rows) {
      queue_chunks<typename Sizes::template chunks<rows()>>(queue, op, call...);
    });
  }
  template <class Sizes, class Queue, class Op, class... Call>
  static void adjoint(Queue const& queue, Op const& op, Call const&... call) {
    Sizes::with_rows(op, [&](auto rows) {
      queue_chunk_adjoint<typename Sizes::template chunks<rows()>>(queue, op, call...);
    });
  }
};

// One token of each sequence of such a memory. Its adjoint runs in chunks.
struct one_token {
  template <class Op, pass Pass>
  static constexpr bool takes = chunkable<Op>&& Pass == pass::run;
  template <class Op>
  static constexpr bool may_decline = true;
  template <class Op, class Options>
  static bool accepts(Op const& op, Options const& options) {
    if (recurrence_shape(op.shape()).time != 1 || options.packed.present()) return false;
    return !chunks::may_decline<Op> || chunks::accepts(op, options);
  }

  template <class Sizes, class Op, class State>
  static std::size_t run_bytes(Op const& op, run_options<State> const&) {
    check_rows<typename Sizes::template chunks<Sizes::most_rows>>(op);
    return step_workspace_bytes;
  }
  template <class Sizes, class Queue, class Op, class... Call>
  static void run(Queue const& queue, Op const& op, Call const&... call) {
    Sizes::with_rows(op, [&](auto rows) {
      queue_step<typename Sizes::template one_token<rows()>>(queue, op, call...);
    });
  }
};

// Recurrences whose tokens do not read the state.
struct scans {
  template <class Op, pass>
  static constexpr bool takes = scannable<Op>;
  template <class Op>
  static constexpr bool may_decline = false;
  template <class Sizes, class Op>
  using config = typename Sizes::template scan<accumulate_type<Op>>;
  template <class Sizes, class Op>
  using adjoint_config = typename Sizes::template scan_adjoint<accumulate_type<Op>>;

  template <class Sizes, class Op, class State>
  static std::size_t run_bytes(Op const& op, run_options<State> const& options) {
    return scan_workspace_bytes<config<Sizes, Op>>(op, options);
  }
  template <class Sizes, class Out, class Op, class State>
  static std::size_t adjoint_bytes(Op const& op, adjoint_options<State> const& options) {
    return scan_adjoint_workspace_bytes<adjoint_config<Sizes, Op>>(op, options);
  }
  template <class Sizes, class Queue, class Op, class... Call>
  static void run(Queue const& queue, Op const& op, Call const&... call) {
    queue_scan<config<Sizes, Op>>(queue, op, call...);
  }
  template <class Sizes, class Queue, class Op, class... Call>
  static void adjoint(Queue const& queue, Op const& op, Call const&... call) {
    queue_scan_adjoint<adjoint_config<Sizes, Op>>(queue, op, call...);
  }
};

template <class... Rows>
struct table {};
using tables_of_memories = table<one_token, chunks>;

// Calls body(row) for the first row that takes this call. Rows after one that cannot decline are
// not instantiated.
template <pass Pass, class First, class... Rest, class Op, class Options, class Body>
void with_row(table<First, Rest...>, Op const& op, Options const& options, Body const& body) {
  if constexpr (First::template takes<Op, Pass> && std::is_trivially_copyable_v<Op>) {
    if constexpr (First::template may_decline<Op>)
      if (!First::accepts(op, options)) return with_row<Pass>(table<Rest...>{}, op, options, body);
    body(First{});
  } else if constexpr (sizeof...(Rest) > 0) {
    with_row<Pass>(table<Rest...>{}, op, options, body);
  }
}

// Penalised memories: the kernels of penalties, and those of S.
struct penalties {
  template <class Op, pass>
  static constexpr bool takes = penalised_in_chunks<Op>;
  template <class Op>
  static constexpr bool may_decline = false;
  template <class Sizes>
  using config = typename Sizes::template penalty<Sizes::most_rows>;
  template <class Sizes>
  using memory_config = typename Sizes::template chunks<Sizes::most_rows>;

  template <class Sizes, class Op, class State>
  static std::size_t run_bytes(Op const& op, run_options<State> const& options) {
    check_penalty<config<Sizes>>(op);
    return penalised_workspace_of<config<Sizes>, memory_config<Sizes>>(op, options).bytes;
  }
  template <class Sizes, class Out, class Op, class State>
  static std::size_t adjoint_bytes(Op const& op, adjoint_options<State> const& options) {
    check_penalty<config<Sizes>>(op);
    return penalised_adjoint_workspace::of<config<Sizes>, memory_config<Sizes>, Out>(op, options)
        .bytes;
  }
  template <class Sizes, class Queue, class Op, class... Call>
  static void run(Queue const& queue, Op const& op, Call const&... call) {
    Sizes::with_rows(op, [&](auto rows) {
      using of_rows = typename Sizes::template of_rows<rows()>;
      queue_penalised<config<of_rows>, memory_config<of_rows>>(
          queue, op, call..., [&](auto const& memory, auto const&... its) {
            with_row<pass::run>(tables_of_memories{}, memory, last_of(its...), [&](auto row) {
              decltype(row)::template run<of_rows>(queue, memory, its...);
            });
          });
    });
  }
  template <class Sizes, class Queue, class Op, class... Call>
  static void adjoint(Queue const& queue, Op const& op, Call const&... call) {
    Sizes::with_rows(op, [&](auto rows) {
      using of_rows = typename Sizes::template of_rows<rows()>;
      queue_penalised_adjoint<config<of_rows>, memory_config<of_rows>>(queue, op, call...);
    });
  }

 private:
  template <class Output, class Lent, class Options>
  static Options const& last_of(Output const&, Lent const&, Options const& options) {
    return options;
  }
};

// The first row that takes an operator launches its kernels.
using kernels = table<one_token, chunks, penalties, scans>;

// The workspace and the adjoint of a row, with the parts of parameters.
template <class Row, class Sizes, class Out, class Op, class State>
std::size_t adjoint_bytes_of(Op const& op, adjoint_options<State> const& options) {
  std::size_t bytes = Row::template adjoint_bytes<Sizes, std::remove_const_t<Out>>(op, options);
  if constexpr (requires { typename Op::gradients; })
    bytes = rounded_up(bytes) + bytes_of_parts<typename Op::gradients>(
                                    op.shape(), sequences_of(op.shape(), options.packed));
  return bytes;
}
template <class Row, class Sizes, class Queue, class Op, class Out, class Gradients, class State>
void queue_adjoint_of(Queue const& queue, Op const& op, sequence_view<Out> const& output_gradient,
                      Gradients const& gradients, workspace const& memory,
                      adjoint_options<State> const& options) {
  auto const adjoint = [&](Gradients const& to) {
    Row::template adjoint<Sizes>(queue, op, output_gradient, to, memory, options);
  };
  if constexpr (has_parameters<Gradients>) {
    queue_with_parts(queue, gradients, op.shape(), sequences_of(op.shape(), options.packed),
                     Row::template adjoint_bytes<Sizes, std::remove_const_t<Out>>(op, options),
                     memory, adjoint);
  } else {
    adjoint(gradients);
  }
}

// run and adjoint over any queue, with kernels of these sizes.
template <class Sizes, class Queue, class Op, class Out, class State>
void queue_run(Queue const& queue, Op const& op, sequence_view<Out> const& output,
               workspace const& memory, run_options<State> const& options) {
  check_run<Op, Out>();
  with_row<pass::run>(kernels{}, op, options, [&](auto row) {
    decltype(row)::template run<Sizes>(queue, op, output, memory, options);
  });
}
template <class Sizes, class Queue, class Op, class Out, class Gradients, class State>
void queue_adjoint(Queue const& queue, Op const& op, sequence_view<Out> const& output_gradient,
                   Gradients const& gradients, workspace const& memory,
                   adjoint_options<State> const& options) {
  check_adjoint<Op, Out, Gradients>();
  with_row<pass::adjoint>(kernels{}, op, options, [&](auto row) {
    queue_adjoint_of<decltype(row), Sizes>(queue, op, output_gradient, gradients, memory, options);
  });
}

}  // namespace wane::cuda::impl
