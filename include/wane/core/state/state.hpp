// The carried state of a recurrence: [N, H, rows, columns] numbers and N positions.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "wane/core/numbers/aligned.hpp"
#include "wane/core/recurrence/checks.hpp"

namespace wane {

// A state in memory that the caller owns: values [N, H, rows, columns], where N is the batch or the
// number of packed sequences, and N positions, the tokens that each sequence has seen. Positions
// may be absent.
template <class T>
struct state_view {
  view<T, 4> values;
  std::conditional_t<std::is_const_v<T>, index const, index>* positions = nullptr;

  bool present() const { return values.data != nullptr; }

  // Sequence n alone: a state of one sequence in the same memory. Throws wane::error where there is
  // no sequence n.
  state_view sequence(index n) const {
    require(0 <= n && n < values.extent[0], "sequence is ", n, ", of a state of ", values.extent[0],
            " sequences; it must be 0 or more, and less than their number");
    state_view one = *this;
    one.values.data += n * values.stride[0], one.values.extent[0] = 1;
    if (positions) one.positions += n;
    return one;
  }

  // A view of constants from a view that can be written.
  template <std::same_as<T const> Const>
  requires(!std::is_const_v<T>) operator state_view<Const>() const { return {values, positions}; }
};

}  // namespace wane

namespace wane::impl {

// Whether a state has no data because it has no sequences. A default view has no heads either.
template <class T>
bool of_no_sequences(state_view<T> const& state) {
  return state.values.extent[0] == 0 && state.values.extent[1] > 0;
}

// The first `count` columns of a state; an absent state stays absent.
template <class T>
state_view<T> first_columns(state_view<T> state, index count) {
  if (state.present()) state.values.extent[3] = count;
  return state;
}

// Throws wane::error unless the state is absent or has the extents of the shape.
template <class T>
void check_state(char const* name, state_view<T> const& state, index sequences,
                 recurrence_shape const& shape) {
  if (!state.present()) return;
  check_extent(name, "sequences", state.values.extent[0], sequences);
  check_extent(name, "heads", state.values.extent[1], shape.heads);
  check_extent(name, "rows", state.values.extent[2], shape.rows);
  check_extent(name, "columns", state.values.extent[3], shape.columns);
}

// Throws wane::error where an operator counts positions, and the state it begins with has none.
template <class Op, class T>
void check_positions(char const* name, Op const& op, state_view<T> const& state) {
  require(!state.present() || state.positions || !counts_positions(op), name,
          " has no positions; this operator depends on how many tokens a state has seen");
}

}  // namespace wane::impl

namespace wane {

//   recurrent_state<float> state(op);
//   run(op, output, run_options<float>{.initial = state, .final = state});
//
// A state that owns its memory. Values and positions begin as zero. T is the precision of the
// state, float or better.
template <class T>
class recurrent_state {
 public:
  // Throws wane::error for a negative extent, and for more numbers than memory can be asked for.
  recurrent_state(index sequences, index heads, index rows, index columns)
      : extent_{checked("sequences", sequences), checked("heads", heads), checked("rows", rows),
                checked("columns", columns)},
        values_(numbers_in(extent_)),
        positions_(static_cast<std::size_t>(sequences)) {}

  // The state of `op` before its first token. For packed sequences, `sequences` is their number.
  template <has_shape Op>
  explicit recurrent_state(Op const& op, index sequences = 0)
      : recurrent_state(sequences ? sequences : recurrence_shape(op.shape()).batch,
                        recurrence_shape(op.shape()).heads, recurrence_shape(op.shape()).rows,
                        recurrence_shape(op.shape()).columns) {}

  operator state_view<T>() {
    return {{values_.data(), extent_[0], extent_[1], extent_[2], extent_[3]}, positions_.data()};
  }
  operator state_view<T const>() const {
    return {{values_.data(), extent_[0], extent_[1], extent_[2], extent_[3]}, positions_.data()};
  }

  // As in state_view:
  //   step(op, output, state.sequence(7));
  state_view<T> sequence(index n) { return state_view<T>(*this).sequence(n); }
  state_view<T const> sequence(index n) const { return state_view<T const>(*this).sequence(n); }

  // A state has the type of its run: run_options<T>.
  template <class Other>
  operator state_view<Other>() const = delete;

  // A std::vector of aligned memory, because a step of a state that is not aligned takes up to half
  // as long again. It converts from and to std::vector<T>, so a std::vector<T> const& of it is a
  // copy: take it by auto&.
  impl::aligned_vector<T>& values() { return values_; }
  impl::aligned_vector<T> const& values() const { return values_; }
  std::vector<index>& positions() { return positions_; }
  std::vector<index> const& positions() const { return positions_; }

 private:
  static index checked(char const* what, index extent) {
    require(extent >= 0, "the state has ", what, " ", extent, "; it must be 0 or more");
    return extent;
  }

  // The product of the extents.
  static std::size_t numbers_in(index const (&extents)[4]) {
    constexpr index most = std::numeric_limits<index>::max() / index(sizeof(T));
    index count = std::ranges::count(extents, 0) > 0 ? 0 : 1;
    for (index const extent : extents) {
      require(extent == 0 || count <= most / extent, "the state has ", extents[0], " sequences, ",
              extents[1], " heads, ", extents[2], " rows and ", extents[3],
              " columns; their product must be at most ", most);
      count *= extent;
    }
    return static_cast<std::size_t>(count);
  }

  index extent_[4];
  impl::aligned_vector<T> values_;
  std::vector<index> positions_;
};

template <class T>
state_view(recurrent_state<T>&) -> state_view<T>;
template <class T>
state_view(recurrent_state<T> const&) -> state_view<T const>;

}  // namespace wane
