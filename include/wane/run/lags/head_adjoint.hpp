// The adjoint in chunks of lags of time-invariant recurrences, with the gradients of all terms.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/numbers/threads.hpp"
#include "wane/run/lags/chunk.hpp"
#include "wane/run/lags/sums.hpp"
#include "wane/run/shared/lines_ahead.hpp"
#include "wane/run/shared/pieces.hpp"
#include "wane/run/shared/stores.hpp"

namespace wane::impl {

// Columns of one walk, in groups. Where tensors are large, the groups of a call take turns, so that
// neighbours in memory are read soon after each other. The walk has parts: part 0, the tokens
// before the first whole chunk, and parts 1 to `parts_`, blocks of chunks. The state before each
// part is kept. The states between the chunks of a part are found again.
template <has_lags Op, class Out, class Gradients>
requires time_invariant<Op>
class head_adjoint {
 public:
  using T = accumulate_type<Op>;
  using vector = simd<T, simd_width<T>>;
  using Sink = sink_of<Gradients, Op>;
  static constexpr bool sums_columns =
      takes_rows<Sink, T> || takes_tokens<Sink, T> || takes_all<Sink, T>;

  head_adjoint(Op const& op, sequence_view<Out const> const& output_gradient,
               Gradients const& gradients, walk const& w, index columns_of_task)
      : op_(op),
        output_gradient_(output_gradient),
        gradients_(gradients),
        walk_(w),
        many_(op, w.head),
        one_(op, w.head),
        held_(many_.chunks.held()),
        held_back_(many_.chunks.held()),
        rows_(recurrence_shape(op.shape()).rows),
        columns_(recurrence_shape(op.shape()).columns),
        row_stride_(row_stride_of<T>(std::min(group_columns, columns_))),
        large_(is_large<Out>(op.shape())),
        groups_(large_ ? groups_in(columns_of_task) : 1),
        block_(chunks_of_a_block()),
        parts_((w.count / lag_tokens + block_ - 1) / block_),
        values_(block_tokens() * row_stride_),
        output_gradients_(block_tokens() * row_stride_),
        kept_(sums_columns ? (parts_ + 1) * groups_ * state_size() : 0),
        states_(sums_columns ? chunks_at_most() * state_size() : 0),
        cotangents_(groups_ * state_size()),
        arriving_(std::min(chunks_together, chunks_at_most()) * state_size()),
        many_sums_(rows_),
        one_sums_(rows_) {}

  // Takes columns [first, last), not more than those that memory is made for. `w` is the number of
  // the walk.
  template <class State>
  void operator()(adjoint_options<State> const& options, index w, index first, index last,
                  head_products<T>& products) {
    for (first_ = first; first_ < last; first_ = last_) {
      last_ = std::min(first_ + groups_ * group_columns, last);
      take_groups(options, w, groups_in(last_ - first_), products);
    }
  }

 private:
  using columns_type = panel_columns<T, lag_vectors>;

  static constexpr index group_columns = head_products<T>::group_columns;
  static index groups_in(index columns) { return (columns + group_columns - 1) / group_columns; }

  template <class State>
  void take_groups(adjoint_options<State> const& options, index w, index groups,
                   head_products<T>& products) {
    state_access<T, State> const state{options.initial, {}, walk_.sequence, walk_.head},
        gradient{options.final_gradient, options.initial_gradient, walk_.sequence, walk_.head};
    if constexpr (sums_columns) {
      for (index g = 0; g < groups; ++g) load_state(state, g, kept(0, g));
      for (index p = 0; p < parts_; ++p)
        for (index g = 0; g < groups; ++g)
          of_part(p, [&](auto const& chunks, walk const& part) { advance(chunks, part, p, g); });
    }
    for (index g = 0; g < groups; ++g) load_state(gradient, g, cotangent(g));
    for (index p = parts_; p >= 0; --p)
      for (index g = 0; g < groups; ++g) {
        of_part(p, [&](auto const& chunks, walk const& part) { take(chunks, part, p, g); });
        if constexpr (sums_columns) {
          auto* const to = products.of(w, first_ / group_columns + g);
          p > 0 ? many_sums_.move_to(to) : one_sums_.move_to(to + products.many.count());
        }
      }
    for (index g = 0; g < groups; ++g)
      gradient.save_rows(rows_, columns(g).first, columns(g).last, cotangent(g), row_stride_);
  }

  // So many chunks are taken back before their products are summed.
  static constexpr index chunks_together = 8;

  // The states of a block, in one group, take no more than a part of a second-level cache. Blocks
  // are longer where tensors are large, so that fewer states are kept.
  index chunks_of_a_block() const {
    index const bytes = (large_ ? index{128} : index{64}) << 10;
    index const fit = bytes / (state_size() * static_cast<index>(sizeof(T)));
    return std::min(std::clamp<index>(fit, 4, 64), std::max<index>(1, walk_.count / lag_tokens));
  }

  index state_size() const { return rows_ * row_stride_; }
  index lead() const { return walk_.count % lag_tokens; }
  index chunks_at_most() const { return std::max<index>(block_, lag_tokens - 1); }
  index block_tokens() const { return block_ * lag_tokens; }
  columns_type columns(index g) const {
    index const first = first_ + g * group_columns;
    return {first, std::min(first + group_columns, last_)};
  }
  T* kept(index p, index g) const { return kept_.data() + (p * groups_ + g) * state_size(); }
  T* cotangent(index g) const { return cotangents_.data() + g * state_size(); }
  T* state(index c) const { return states_.data() + c * state_size(); }
  T* arriving(index c) const { return arriving_.data() + c * state_size(); }

  auto& sums(std::integral_constant<int, lag_tokens>) { return many_sums_; }
  auto& sums(std::integral_constant<int, 1>) { return one_sums_; }

  walk part(index p) const {
    return p == 0 ? walk_.part(0, lead())
                  : walk_.part(lead() + (p - 1) * block_tokens(), block_tokens());
  }
  // Calls body(chunks, walk) for part p.
  template <class Body>
  void of_part(index p, Body const& body) {
    p == 0 ? body(one_, part(p)) : body(many_, part(p));
  }

  template <class Access>
  void load_state(Access const& access, index g, T* to) const {
    std::fill_n(to, state_size(), T(0));
    access.load_rows(rows_, columns(g).first, columns(g).last, to, row_stride_);
  }

  [[gnu::noinline]] void load_values(walk const& w, columns_type const& of_group) const {
    Op const op = op_;  // a copy that no store can change
    T* to = values_.data();
    for (index k = 0; k < w.count; ++k, to += row_stride_) {
      auto const x = op.at(w.token(k));
      of_group.template load<true>(to, true, [&](auto j) WANE_INLINE_LAMBDA { return x.value(j); });
    }
  }
  [[gnu::noinline]] void load_output_gradients(walk const& w, columns_type const& of_group) const {
    T* to = output_gradients_.data();
    for (index k = 0; k < w.count; ++k, to += row_stride_) {
      sequence_view<Out const> const dy(output_gradient_.element(w.token(k), 0), 1, 1, 1, 1);
      of_group.template load<true>(
          to, true, [&](auto j) WANE_INLINE_LAMBDA { return convert<T>(dy.read(place<>{}, j)); });
    }
  }

  // The tokens and columns that are taken next. Where tensors are large, their values are
  // prefetched.
  struct tokens_ahead {
    walk w{};
    columns_type columns{0, 0};
  };
  tokens_ahead ahead(index p, index g) const {
    if (!large_ || p <= 0 || p > parts_) return {};
    return {part(p), columns(g)};
  }
  WANE_HOST_INLINE void prefetch_values(tokens_ahead const& next, index begin, index count) const {
    prefetch_rows<0>(op_, next.w.part(begin, count), columns_, next.columns.first,
                     next.columns.last);
  }

  // Computes the state after some tokens.
  template <int N>
  void advance(both_ways<Op, N> const& chunks, walk const& w, index p, index g) {
    tokens_ahead const next =
        first_ + (g + 1) * group_columns < last_ ? ahead(p, g + 1) : ahead(p + 1, 0);
    T* const after = kept(p + 1, g);
    load_values(w, columns(g));
    std::copy_n(kept(p, g), state_size(), after);
    for (index c = 0; c < w.count / N; ++c) {
      prefetch_values(next, c * N, N);
      held_.take(chunks.run, c + 1 == w.count / N,
                 [&](auto const& run) { carry<N>(run, g, c, after, after); });
    }
  }
  template <int N>
  [[gnu::noinline]] void carry(one_pass<T, N, fading::row> const& chunk, index g, index c,
                               T const* before, T* after) const {
    index const stride = row_stride_;
    T const* const values = values_.data() + c * N * stride;
    columns(g).for_panels([&](index j, auto vectors) WANE_INLINE_LAMBDA {
      chunk.template carry<vectors>(
          rows_, before + j, after + j, stride, [&](auto t, auto r) WANE_INLINE_LAMBDA {
            return vector::load(values + t * stride + j + r * vector::width);
          });
    });
  }

  // Takes the cotangent back through the tokens of part p.
  template <int N>
  void take(both_ways<Op, N> const& chunks, walk const& w, index p, index g) {
    columns_type const of_group = columns(g);
    index const count = w.count / N, stride = row_stride_;
    if (count == 0) return;
    tokens_ahead const next =
        first_ + (g + 1) * group_columns < last_ ? ahead(p, g + 1) : ahead(p - 1, 0);
    load_output_gradients(w, of_group);
    if constexpr (sums_columns) {
      load_values(w, of_group);
      std::copy_n(kept(p, g), state_size(), state(0));
      for (index c = 0; c + 1 < count; ++c) {
        prefetch_values(next, c * N, N);
        held_.take(chunks.run, c + 2 == count,
                   [&](auto const& run) { carry<N>(run, g, c, state(c), state(c + 1)); });
        held_.release(rows_, state(c), stride);
      }
    }
    for (index end = count, begin; end > 0; end = begin) {
      begin = std::max<index>(0, end - chunks_together);
      std::copy_n(cotangent(g), state_size(), arriving(end - begin - 1));
      for (index c = end - 1; c >= begin; --c) {
        if (large_ && c >= 2)
          prefetch_rows<1>(gradients_, w.part((c - 2) * N, N), columns_, of_group.first,
                           of_group.last);
        held_back_.take(chunks.back, c == 0, [&](auto const& back) {
          answer<N>(back, w.part(c * N, N), of_group, output_gradients_.data() + c * N * stride,
                    arriving(c - begin), c > begin ? arriving(c - begin - 1) : cotangent(g));
        });
        if constexpr (sums_columns) held_back_.release(rows_, arriving(c - begin), stride);
      }
      if constexpr (sums_columns)
        sums(std::integral_constant<int, N>{})
            .add({state(begin), stride, state_size()}, {arriving(0), stride, state_size()},
                 {values_.data() + begin * N * stride, stride, N * stride},
                 {output_gradients_.data() + begin * N * stride, stride, N * stride}, end - begin,
                 of_group.padded());
    }
  }
  template <int N>
  [[gnu::noinline]] void answer(one_pass<T, N, fading::row> const& back, walk const& w,
                                columns_type const& of_group, T const* output_gradients,
                                T const* after, T* before) const {
    auto const gradients = gradients_;
    index const stride = row_stride_;
    of_group.for_lanes([&](index j, auto vectors, auto columns) WANE_INLINE_LAMBDA {
      back.template take<vectors>(
          rows_, after + j, before + j, stride,
          [&](auto t, auto r) WANE_INLINE_LAMBDA {
            return vector::load(output_gradients + (N - 1 - t) * stride + j + r * vector::width);
          },
          [&](auto t, auto r, vector g) WANE_INLINE_LAMBDA {
            if constexpr (takes_columns<Sink, decltype(columns(r)), vector>)
              sink_at(gradients, op_, w.token(N - 1 - t)).column(columns(r), g);
          });
    });
  }

  Op const op_;
  sequence_view<Out const> const output_gradient_;
  Gradients const gradients_;
  walk const walk_;
  both_ways<Op, lag_tokens> const many_;
  both_ways<Op, 1> const one_;
  held_decays<T> held_, held_back_;  // nothing is held between parts
  index const rows_, columns_, row_stride_;
  bool const large_;
  index const groups_, block_, parts_;
  index first_ = 0, last_ = 0;  // the columns that are taken at present
  aligned_numbers<T> values_, output_gradients_, kept_, states_, cotangents_, arriving_;
  lag_sums<T, lag_tokens> many_sums_;
  lag_sums<T, 1> one_sums_;
};

// Preconditions: columns are neighbours in all tensors, only_fades(op), and products_in_range(op).
template <has_lags Op, class Out, class Gradients, class State>
requires time_invariant<Op>
void adjoint_lags(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                  adjoint_options<State> const& options) {
  using T = accumulate_type<Op>;
  using Adjoint = head_adjoint<Op, Out, Gradients>;
  recurrence_shape const shape = op.shape();
  index const walks = walks_of(shape, options);
  int const threads = threads_to_use(options.threads);
  head_products<T> products(shape, Adjoint::sums_columns ? walks : 0);
  index const piece =
      columns_per_task(shape.columns, walks, threads, head_products<T>::group_columns);
  index const pieces = (shape.columns + piece - 1) / piece;
  for_each_task(walks * pieces, threads, [&](index task) {
    walk const w = walk_of(task / pieces, shape, options, options.initial.positions);
    index const first = task % pieces * piece, last = std::min(first + piece, shape.columns);
    Adjoint(op, dy, gradients, w, last - first)(options, task / pieces, first, last, products);
  });
  if constexpr (Adjoint::sums_columns)
    for (index h = 0; h < shape.heads; ++h) {
      place<> const at{0, 0, h};
      hand_over(op, gradients, at, products.gradients(op.at(at), h, shape.heads), true);
    }
}

}  // namespace wane::impl
