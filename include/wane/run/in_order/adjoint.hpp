// The adjoint token by token: a walk in chunks of tokens, and each chunk in groups of columns.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>

#include "wane/run/in_order/column_adjoint.hpp"
#include "wane/run/shared/pieces.hpp"

namespace wane::impl {

template <affine_recurrence Op, class Out, class Gradients, class State>
class walk_adjoint {
 public:
  using T = accumulate_type<Op>;
  using Sink = sink_of<Gradients, Op>;
  using Sums = head_gradients<wider<T>>;
  // Gradients of rows and tokens are sums over columns.
  static constexpr bool sums_columns =
      takes_rows<Sink, T> || takes_tokens<Sink, T> || takes_all<Sink, T>;
  static constexpr bool once_a_head = time_invariant<Op>;

  walk_adjoint(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
               adjoint_options<State> const& options)
      : op_(op), dy_(dy), gradients_(gradients), options_(options), shape_(op.shape()) {
    if constexpr (gives_lanes<Op, Gradients>())
      in_lanes_ = (layout_of(op) & layout_of(dy) & gradients.layout()).columns;
  }

  // The columns of a task do not depend on the number of threads, so that sums over columns have
  // the same bits for any number.
  index piece_columns() const { return sums_columns && !once_a_head ? shape_.columns : 64; }

  // The adjoint of columns [first, last) of a walk. Returns the sums over its tokens if the
  // operator is time-invariant.
  Sums operator()(walk const& w, index first, index last) const {
    if constexpr (gives_lanes<Op, Gradients>())
      if (in_lanes_) return in_vectors<simd<T, simd_width<T>>>(w, first, last);
    return in_vectors<T>(w, first, last);
  }

  bool in_lanes() const { return in_lanes_; }

 private:
  template <class V>
  Sums in_vectors(walk const& w, index first, index last) const {
    index const width = columns_of<V>::width;
    if constexpr (is_simd<V>)
      if ((last - first) % width != 0)
        return groups<V>(w, (last - first + width - 1) / width, [&](index g) {
          index const j = first + g * width;
          return partial_lanes<V::width>{j, static_cast<int>(std::min(width, last - j))};
        });
    return groups<V>(w, (last - first) / width,
                     [&](index g) { return typename columns_of<V>::type{first + g * width}; });
  }

  // group(g) gives the columns of group g, all of one type.
  template <class V, class Group>
  Sums groups(walk const& w, index count, Group const& group) const {
    using Columns = decltype(group(index{}));
    using Adjoint = column_adjoint<Op, V, Columns, Out, Gradients>;
    // Copies that no store can change: their strides stay in registers.
    Op const op = op_;
    sequence_view<Out const> const dy = dy_;
    Gradients const gradients = gradients_;
    // For a time-invariant operator, the sums of one chunk stay in lanes.
    using Lanes = std::conditional_t<once_a_head && is_simd<V>, V, wider<T>>;
    index const rows = shape_.rows;
    index const chunk = std::clamp<index>(256 / rows, 16, 64);
    index const chunks = (w.count + chunk - 1) / chunk;
    auto const at = [](index i) { return static_cast<std::size_t>(i); };
    V const zero = V(T(0));
    // kept: the states at the start of each chunk. states: those around each token of one chunk.
    // cotangent, pending and later: see column_adjoint::backward.
    std::vector<V> kept(at(chunks * count * rows), zero);
    std::vector<V> states(at((chunk + 1) * rows), zero);
    std::vector<V> cotangent(at(count * rows), zero), pending(at(count * rows), zero);
    std::vector<V> decay_gradients(at(rows), zero), rate_gradients(at(rows), zero);
    constexpr bool sums_rates = has_rates<Op, Columns> && takes_rates<Gradients, wider<T>>;
    std::vector<std::array<wider<T>, columns_of<V>::width>> rates(
        at(sums_rates ? count * rows : 0));
    std::vector<typename Adjoint::decay_type> later(at(count * rows));
    std::vector<head_gradients<Lanes>> of_token(at(sums_columns && !once_a_head ? chunk : 0),
                                                head_gradients<Lanes>(rows));
    head_gradients<Lanes> of_chunk(rows);
    Sums total(rows);
    std::vector<typename Adjoint::decay_type> constant;
    if constexpr (Adjoint::constant_decays)
      for (index i = 0; i < rows && w.count > 0; ++i)
        constant.push_back(widen<V>(decay_of(op.at(w.token(0)), i, group(0))));
    for (auto& decay : later) never_fade(decay);
    auto const adjoint_of = [&](index g) {
      return Adjoint(op, dy, gradients, group(g), rows, constant.data(), decay_gradients.data(),
                     rate_gradients.data());
    };

    std::vector<V> current(at(count * rows), zero);
    for (index g = 0; g < count; ++g)
      for (index i = 0; i < rows; ++i) {
        current[at(g * rows + i)] = load_state<V>(options_.initial, w, i, group(g));
        cotangent[at(g * rows + i)] = load_state<V>(options_.final_gradient, w, i, group(g));
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
      for (auto& sums : of_token) sums.clear();
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
                           of_token.empty() ? of_chunk : of_token[at(k)]);
        }
        total += of_chunk;
        of_chunk.clear();
        for (index i = 0; i < rows && sums_rates; ++i)
          add_lanes(rates[at(g * rows + i)].data(), rate_gradients[at(i)]);
        std::fill(rate_gradients.begin(), rate_gradients.end(), zero);
      }
      for (index k = 0; k < tokens && !of_token.empty(); ++k)
        hand_over(op, gradients, w.token(begin + k), of_token[at(k)], in_lanes_);
    }
    if constexpr (sums_rates)
      for (index g = 0; g < count; ++g)
        for (index i = 0; i < rows; ++i)
          for_each_column(group(g), [&](index j, int l) {
            gradients.rate(w.sequence, w.head, i, j, rates[at(g * rows + i)][at(l)]);
          });
    if (options_.initial_gradient.present())
      for (index g = 0; g < count; ++g)
        for (index i = 0; i < rows; ++i)
          save_state(
              options_.initial_gradient, w, i, group(g),
              adjoint_of(g).initial_gradient(i, cotangent.data() + g * rows,
                                             pending.data() + g * rows, later.data() + g * rows));
    return total;
  }

  Op const& op_;
  sequence_view<Out const> const& dy_;
  Gradients const& gradients_;
  adjoint_options<State> const& options_;
  recurrence_shape shape_;
  bool in_lanes_ = false;
};

// The adjoint token by token, for groups of columns of every walk.
template <affine_recurrence Op, class Out, class Gradients, class State>
void adjoint_in_order(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                      adjoint_options<State> const& options) {
  using Sums = head_gradients<wider<accumulate_type<Op>>>;
  recurrence_shape const shape = op.shape();
  state_box const box = box_of(shape, options);
  walk_adjoint<Op, Out, Gradients, State> const runner(op, dy, gradients, options);
  int const threads = threads_to_use(options.threads);
  index const walks = walks_of(shape, options), piece = runner.piece_columns();
  index const pieces = (box.columns + piece - 1) / piece;
  std::vector<Sums> sums(static_cast<std::size_t>(walks * pieces));
  for_each_task(walks * pieces, threads, [&](index task) {
    walk const w = walk_of(task / pieces, shape, options, options.initial.positions);
    index const first = task % pieces * piece, last = std::min(first + piece, box.columns);
    sums[static_cast<std::size_t>(task)] =
        runner(w, box.first_column + first, box.first_column + last);
  });
  if constexpr (time_invariant<Op>)
    for (index h = 0; h < shape.heads; ++h) {
      Sums total(shape.rows);
      for (index n = 0; n < box.sequences; ++n)
        for (index p = 0; p < pieces; ++p)
          total += sums[static_cast<std::size_t>((n * shape.heads + h) * pieces + p)];
      hand_over(op, gradients, {0, 0, h}, total, runner.in_lanes());
    }
}

}  // namespace wane::impl
