// run for pairs of recurrences: each part by its own runner, then both outputs are put together.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "wane/core/state/pair.hpp"
#include "wane/run/pairs/places.hpp"
#include "wane/run/pairs/step.hpp"

namespace wane::impl {

// Outputs of all tokens, [B, T, H, columns], in memory of their own that holds no numbers at first.
template <class T>
class held_outputs {
 public:
  explicit held_outputs(recurrence_shape const& shape)
      : shape_(shape),
        numbers_(new T[static_cast<std::size_t>(shape.batch * shape.time * shape.heads *
                                                shape.columns)]) {}
  sequence_view<T> view() {
    return {numbers_.get(), shape_.batch, shape_.time, shape_.heads, shape_.columns};
  }

 private:
  recurrence_shape shape_;
  std::unique_ptr<T[]> numbers_;
};

// Calls body(the options of a part of a pair); part_of(state) is its part of the pair's state.
template <class State, class Part, class Body>
void with_part_options(run_options<State> options, Part const& part_of, Body const& body) {
  std::vector<kept_state<State>> keep;
  for (auto const& kept : options.keep) keep.push_back({kept.tokens, part_of(kept.state)});
  options.initial = part_of(options.initial), options.final = part_of(options.final);
  options.keep = keep;
  body(with_all_columns(options));
}
template <class Op, class Out, class State, class Part>
void run_part(Op const& op, sequence_view<Out> const& output, run_options<State> const& options,
              Part const& part_of) {
  with_part_options(options, part_of, [&](auto const& own) { run_by_table(op, output, own); });
}

// Writes the outputs of both parts. The second part runs first, so that `a` may be the memory of
// an input.
template <class Op, class T, class State>
void run_parts(Op const& op, sequence_view<T> const& a, sequence_view<T> const& b,
               run_options<State> const& options) {
  run_part(op.second(), b, options, [&](auto const& s) { return op.state_of_second(s); });
  run_part(op.first(), a, options, [&](auto const& s) { return op.state_of_first(s); });
}

// Runs each part as it would run alone, and puts their outputs, in the accumulating type, together.
// Holds B T H numbers for each column of the second part, and of the first where the output has
// another type.
template <paired_recurrence Op, class Out, class State>
void run_pair(Op const& op, sequence_view<Out> const& output, run_options<State> const& options) {
  using T = accumulate_type<Op>;
  auto const put_together = [&](sequence_view<T> const& a, sequence_view<T> const& b) {
    run_parts(op, a, b, options);
    for_each_place(op.shape(), options, [&](place<> at) {
      op.put_together(
          output.extent[3], [&](index j) { return a.read(at, j); },
          [&](index j) { return b.read(at, j); }, [&](index j, T y) { output.write(at, j, y); });
    });
  };
  held_outputs<T> b(output_shape_of(op.second()));
  if constexpr (std::is_same_v<Out, T>)
    put_together(output, b.view());
  else
    put_together(held_outputs<T>(output_shape_of(op.first())).view(), b.view());
}

}  // namespace wane::impl
