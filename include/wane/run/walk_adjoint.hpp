// The adjoint of one walk, group of columns by group of columns within a chunk of tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/column_adjoint.hpp"
#include "wane/run/options.hpp"

namespace wane {

// Every field may be left out; initial, packed, direction and threads are those of the run.
template <class State>
struct adjoint_options {
  state_view<State const> initial = {};
  // dL/d(final state), where the loss looks at it.
  state_view<State const> final_gradient = {};
  // Receives dL/d(initial state).
  state_view<State> initial_gradient = {};
  packed_sequences packed = {};
  wane::direction direction = direction::forward;
  int threads = 0;
};

template <affine_recurrence Op, class Out, class Gradients, class State>
class walk_adjoint {
 public:
  using T = accumulate_type<Op>;
  using Sink = decltype(std::declval<Gradients const&>().at(place<>{}));
  using Sums = head_gradients<wider<T>>;
  // Gradients of rows and tokens are sums over columns.
  static constexpr bool sums_columns = takes_rows<Sink, T> || takes_tokens<Sink, T>;
  static constexpr bool once_a_head = time_invariant<Op>;

  walk_adjoint(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
               adjoint_options<State> const& options)
      : op_(op), dy_(dy), gradients_(gradients), options_(options), shape_(op.shape()) {
    if constexpr (reads_lanes<Op> && requires { gradients.layout(); })
      in_lanes_ = (layout_of(op) & layout_of(dy) & gradients.layout()).columns;
  }

  // All, when a token's gradients are sums over them; else as many as make rows of some length.
  index columns_per_task() const {
    if (sums_columns && !once_a_head) return shape_.columns;
    return once_a_head ? 64 : 256;
  }

  // Columns [first, last) of a walk; returns the sums over its tokens if the operator wants them.
  Sums operator()(walk const& w, index first, index last) const {
    if constexpr (reads_lanes<Op>) {
      constexpr int width = simd_width<T>;
      if (in_lanes_ && (last - first) % width == 0)
        return groups<simd<T, width>>(w, (last - first) / width,
                                      [&](index g) { return lanes<width>{first + g * width}; });
      if (in_lanes_)
        return groups<simd<T, width>>(w, (last - first + width - 1) / width, [&](index g) {
          index const j = first + g * width;
          return partial_lanes<width>{j, static_cast<int>(std::min<index>(width, last - j))};
        });
    }
    return groups<T>(w, last - first, [&](index g) { return first + g; });
  }

  // Gives the sums of a token, or of a head, to the operator.
  void hand_over(place<> at, Sums const& sums) const {
    auto const sink = gradients_.at(at);
    auto const as_t = [](auto x) { return static_cast<T>(x); };
    if constexpr (takes_rows<Sink, T>)
      for (index i = 0; i < shape_.rows; ++i) {
        auto const& r = sums.rows[static_cast<std::size_t>(i)];
        sink.row(i, row_gradient<T>{as_t(r.decay), as_t(r.key), as_t(r.query), as_t(r.erase_read),
                                    as_t(r.erase_write)});
      }
    if constexpr (takes_tokens<Sink, T>)
      sink.whole(token_gradient<T>{as_t(sums.whole.decay), as_t(sums.whole.direct)});
  }

 private:
  // group(g) gives the columns of group g, all of one type.
  template <class V, class Group>
  Sums groups(walk const& w, index count, Group const& group) const {
    using Columns = decltype(group(index{}));
    using Adjoint = column_adjoint<Op, V, Columns, Out, Gradients>;
    // Copies that no store can change: their strides stay in registers.
    Op const op = op_;
    sequence_view<Out const> const dy = dy_;
    Gradients const gradients = gradients_;
    index const rows = channelwise<Op> ? 1 : shape_.rows;
    index const chunk = std::clamp<index>(256 / rows, 16, 64);
    index const chunks = (w.count + chunk - 1) / chunk;
    auto const at = [](index i) { return static_cast<std::size_t>(i); };
    V const zero = V(T(0));
    // States at the start of each chunk and around each token of one; what comes back in time.
    std::vector<V> kept(at(chunks * count * rows), zero), states(at((chunk + 1) * rows), zero);
    std::vector<V> cotangent(at(count * rows), zero), pending(at(count * rows), zero);
    std::vector<typename Adjoint::decay_type> later(at(count * rows));
    std::vector<Sums> of_token(at(sums_columns && !once_a_head ? chunk : 0));
    Sums total(rows);
    auto const adjoint_of = [&](index g) { return Adjoint(op, dy, gradients, group(g), rows); };

    std::vector<V> current(at(count * rows), zero);
    for (index g = 0; g < count; ++g)
      for (index i = 0; i < rows; ++i) {
        current[at(g * rows + i)] = load<V>(options_.initial, w, i, group(g));
        cotangent[at(g * rows + i)] = load<V>(options_.final_gradient, w, i, group(g));
      }
    for (index k = 0; k < w.count; ++k) {
      if (k % chunk == 0)
        std::copy_n(current.data(), count * rows, kept.data() + k / chunk * count * rows);
      auto const token = op.at(w.token(k));
      for (index g = 0; g < count; ++g)
        adjoint_of(g).forward(token, current.data() + g * rows, current.data() + g * rows);
    }
    for (index c = chunks - 1; c >= 0; --c) {
      index const begin = c * chunk, tokens = std::min(chunk, w.count - begin);
      for (auto& sums : of_token) sums = Sums(rows);
      for (index g = 0; g < count; ++g) {
        Adjoint const columns = adjoint_of(g);
        std::copy_n(kept.data() + (c * count + g) * rows, rows, states.data());
        for (index k = 0; k < tokens; ++k) {
          V* const next = states.data() + (k + 1) * rows;
          columns.forward(op.at(w.token(begin + k)), next - rows, next);
        }
        for (index k = tokens - 1; k >= 0; --k) {
          V const* const before = states.data() + k * rows;
          columns.backward(w.token(begin + k), before, before + rows, cotangent.data() + g * rows,
                           pending.data() + g * rows, later.data() + g * rows,
                           begin + k == w.count - 1, of_token.empty() ? total : of_token[at(k)]);
        }
      }
      if (!of_token.empty())
        for (index k = 0; k < tokens; ++k) hand_over(w.token(begin + k), of_token[at(k)]);
    }
    if (options_.initial_gradient.present())
      for (index g = 0; g < count; ++g)
        for (index i = 0; i < rows; ++i)
          save(w, i, group(g),
               adjoint_of(g).initial_gradient(i, cotangent.data() + g * rows,
                                              pending.data() + g * rows, later.data() + g * rows,
                                              w.count == 0));
    return total;
  }

  // The columns of a state as lanes; absent states are zero.
  template <class V, class StateValue, class Columns>
  V load(state_view<StateValue> const& state, walk const& w, index i, Columns columns) const {
    V x = V(T(0));
    if (!state.present()) return x;
    auto const element = [&](index j) {
      return static_cast<T>(state.values(w.sequence, w.head, i, j));
    };
    if constexpr (std::is_same_v<Columns, index>)
      x = element(columns);
    else
      for (int l = 0; l < lane_count(columns); ++l) x.v[l] = element(columns.first + l);
    return x;
  }
  template <class V, class Columns>
  void save(walk const& w, index i, Columns columns, V x) const {
    auto const element = [&](index j) -> State& {
      return options_.initial_gradient.values(w.sequence, w.head, i, j);
    };
    if constexpr (std::is_same_v<Columns, index>)
      element(columns) = static_cast<State>(x);
    else
      for (int l = 0; l < lane_count(columns); ++l)
        element(columns.first + l) = static_cast<State>(x[l]);
  }
  template <int W>
  static int lane_count(lanes<W>) {
    return W;
  }
  template <int W>
  static int lane_count(partial_lanes<W> columns) {
    return columns.count;
  }

  Op const& op_;
  sequence_view<Out const> const& dy_;
  Gradients const& gradients_;
  adjoint_options<State> const& options_;
  recurrence_shape shape_;
  bool in_lanes_ = false;
};

}  // namespace wane
