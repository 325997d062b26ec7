// The adjoint of penalised memories: first through S, then through M^-1 to keys and directions.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/recurrence/penalised_gradients.hpp"
#include "wane/run/penalty/fading_adjoint.hpp"
#include "wane/run/penalty/run.hpp"
#include "wane/run/shared/by_table.hpp"

namespace wane::impl {

template <penalised_memory Op, class Gradients, class State>
class penalised_adjoint {
 public:
  using T = typename Op::accumulate;
  static constexpr int tokens = penalty_tokens;
  struct nothing_fades {
    nothing_fades(Op const&, walk const&, T) {}
  };
  using fading_part =
      typename std::conditional_t<fading_penalty<Op>, std::type_identity<fading_adjoint<Op>>,
                                  std::type_identity<nothing_fades>>::type;

  penalised_adjoint(Op const& op, Gradients const& gradients, adjoint_options<State> const& options)
      : op_(op),
        to_(gradients),
        options_(options),
        shape_(op.shape()),
        walks_(walks_of(shape_, options)),
        columns_(op.output_columns()),
        in_lanes_((op.layout() & gradients.layout()).columns),
        directions_(numbers(shape_.rows)),
        of_directions_(numbers(shape_.rows)),
        of_keys_(numbers(shape_.rows)),
        factors_(numbers(1)),
        by_inverse_(has_by_inverse ? numbers(1) : 0),
        of_decays_(fading_penalty<Op> ? numbers(1) : 0) {
    if (fading_penalty<Op>) std::fill_n(of_decays_.data(), numbers(1), T(0));
  }

  template <class Out>
  void operator()(sequence_view<Out const> const& dy) {
    for_each_walk([&](walk const& w) {
      penalty_runner<Op> penalty = begin(w);
      penalty.write_directions(
          w, [&](index k) { return at(directions_, w.token(k)); },
          [&](index k, T by) { *at(factors_, w.token(k), 1) = by; });
    });
    of_memory(dy);
    std::vector<double> lambda(static_cast<std::size_t>(walks_));
    state_box const box = box_of(shape_, options_);
    for_each_walk([&](walk const& w) {
      index const i = w.sequence * box.heads + w.head - box.first_head;
      lambda[static_cast<std::size_t>(i)] = of_penalty(w);
    });
    for (index h = 0; h < box.heads; ++h) {
      double total = 0;
      for (index i = h; i < walks_; i += box.heads) total += lambda[static_cast<std::size_t>(i)];
      to_.give_lambda(box.first_head + h, total);
    }
  }

 private:
  static constexpr bool has_by_inverse = fading_penalty<Op> && Op::rule == write_rule::rls;

  index numbers(index each) const { return shape_.batch * shape_.time * shape_.heads * each; }
  sequence_view<T> view_of(aligned_numbers<T> const& x) const {
    return {x.data(), shape_.batch, shape_.time, shape_.heads, shape_.rows};
  }
  T* at(aligned_numbers<T> const& x, place<> where, index each) const {
    return x.data() + ((where.batch * shape_.time + where.time) * shape_.heads + where.head) * each;
  }
  T* at(aligned_numbers<T> const& x, place<> where) const { return at(x, where, shape_.rows); }

  template <class Body>
  void for_each_walk(Body const& body) const {
    for_each_task(walks_, threads_to_use(options_.threads),
                  [&](index i) { body(walk_of(i, shape_, options_, options_.initial.positions)); });
  }
  T of_state(state_view<State const> const& state, walk const& w, index i, index j) const {
    return state.present() ? static_cast<T>(state.values(w.sequence, w.head, i, columns_ + j))
                           : T(0);
  }
  penalty_runner<Op> begin(walk const& w) const {
    penalty_runner<Op> penalty(op_);
    penalty.load(w.head, [&](index i, index j) { return of_state(options_.initial, w, i, j); });
    return penalty;
  }

  template <class Out>
  void of_memory(sequence_view<Out const> const& dy) {
    adjoint_options<State> options = with_all_columns(options_);
    options.initial = first_columns(options.initial, columns_);
    options.final_gradient = first_columns(options.final_gradient, columns_);
    options.initial_gradient = first_columns(options.initial_gradient, columns_);
    sequence_view<T> const directions = view_of(directions_);
    token_view<T> const decays(of_decays_.data(), shape_.batch, shape_.time, shape_.heads);
    adjoint_by_table(op_.memory(directions, 0), dy,
                     to_.of_memory(view_of(of_directions_), view_of(of_keys_), decays), options);
  }

  // Turns the gradients by write directions a into those by keys and penalty directions. Returns
  // dL/dlambda.
  double of_penalty(walk const& w) {
    penalty_runner<Op> penalty = begin(w);
    std::vector<T> refreshed;  // R after each refresh
    // a = by alpha and dL/dalpha = by x; g_t = M^-1 x is held in the place of dL/da. by g . k is
    // x . a, which is 0 except under the rule rls. Where u = k, a key acts through M^-1 k and
    // through its own u in M. Both gradients nearly cancel, to a size of lambda, and so are
    // computed as one, by k and by log l:
    //   by g - g (a . k) - a (g . k) = by (1 - alpha . k) g - a (g . k)
    //   -by g . k + (a . k) (g . k) = -(1 - alpha . k) (x . a)
    penalty.apply(
        w,
        [&](index k, T const* key) {
          T const* const a = at(directions_, w.token(k));
          T *const x = at(of_directions_, w.token(k)), *const to = at(of_keys_, w.token(k));
          if (Op::rule == write_rule::rls && !comes_as_one(w, k)) return x;
          row_sum<T> sum;
          for_row_lanes<T>(true, shape_.rows,
                           [&](auto i) WANE_INLINE_LAMBDA { sum.add(row_at(a, i), row_at(x, i)); });
          T const along = sum.total();
          if constexpr (has_by_inverse) *at(by_inverse_, w.token(k), 1) = -along;
          for (index i = 0; i < shape_.rows; ++i) {
            if constexpr (Op::rule != write_rule::unit) to[i] = multiply_add(-along, a[i], to[i]);
            if constexpr (Op::rule != write_rule::rls)
              x[i] = multiply_add(-along, Op::rule == write_rule::unit ? a[i] : key[i], x[i]);
          }
          return x;
        },
        [&](index k, T const* found, T rest) {
          if (!comes_as_one(w, k)) rest = T(1);
          T const by = *at(factors_, w.token(k), 1) * rest;
          if constexpr (has_by_inverse) *at(by_inverse_, w.token(k), 1) *= rest;
          T *const g = at(of_directions_, w.token(k)), *const to = at(of_keys_, w.token(k));
          for (index i = 0; i < shape_.rows; ++i) {
            g[i] = found[i];
            to[i] = multiply_add(by, found[i], to[i]);
          }
        },
        [&](index) {
          for (index i = 0; i < shape_.rows; ++i)
            for (index j = 0; j < shape_.rows; ++j) refreshed.push_back(penalty.factor()(i, j));
        });
    return backward(w, penalty, refreshed);
  }

  bool is_refreshed_after(walk const& w, index k) const {
    return op_.refresh().comes_after(w.token(k).position);
  }

  // Whether the gradients through the inverse and through the direction of a token are combined.
  bool comes_as_one(walk const& w, index k) const {
    return op_.penalises_keys() && !is_refreshed_after(w, k);
  }

  double backward(walk const& w, penalty_runner<Op>& penalty, std::vector<T>& refreshed) {
    index const rows = shape_.rows, stride = penalty.stride();
    penalty_sums<T> sums(rows, stride);
    auto const behind = [&](index i, index j) {
      return of_state(options_.final_gradient, w, i, j);
    };
    if (options_.final_gradient.present()) sums.begin(penalty.factor(), behind);
    fading_part fading(op_, w, fading_penalty<Op> ? of_state(options_.initial, w, 0, rows) : T(0));
    if constexpr (fading_penalty<Op>)
      if (options_.final_gradient.present())
        fading.begin(static_cast<double>(behind(0, rows)), penalty.factor(), behind);
    token_rows<T> u(rows, stride, op_.layout().columns), g(rows, stride, true),
        a(rows, stride, true);
    for (index end = w.count; end > 0;) {
      index first = std::max<index>(0, end - tokens);
      for (index k = end - 1; k-- > first;)
        if (is_refreshed_after(w, k)) first = k + 1;
      if constexpr (fading_penalty<Op>) first = fading.cut(first, end);
      int const count = static_cast<int>(end - first);
      u.fill(count, [&](int t) { return op_.direction_at(w.token(first + t)); });
      auto const take = [&](token_rows<T> const& rows_of, aligned_numbers<T> const& from) {
        rows_of.fill(count, [&](int t) {
          T const* const row = at(from, w.token(first + t));
          return [row](auto i) WANE_INLINE_LAMBDA { return row_at(row, i); };
        });
      };
      take(g, of_directions_), take(a, directions_);
      if (is_refreshed_after(w, end - 1)) {
        index const numbers_of_one = rows * rows, last = std::ssize(refreshed) - numbers_of_one;
        sums.add(g[count - 1], a[count - 1]);
        sums.refresh({refreshed.data() + last, {rows, rows}, {rows, 1}},
                     static_cast<T>(op_.refresh().amount));
        refreshed.resize(static_cast<std::size_t>(last));
        std::fill_n(g[count - 1], rows, T(0));
      }
      if constexpr (fading_penalty<Op>) fading.scale(first, count, u, g);
      sums.take(u.data(), g.data(), a.data(), !op_.penalises_keys());
      if constexpr (fading_penalty<Op>)
        fading.take(
            first, count, u, sums,
            [&](index k) { return has_by_inverse ? *at(by_inverse_, w.token(k), 1) : T(0); },
            [&](index k, double of_decay) {
              to_.give_decay(w.token(k), *at(of_decays_, w.token(k), 1) + static_cast<T>(of_decay));
            });
      for (int t = 0; t < count; ++t) {
        T* const key = at(of_keys_, w.token(first + t));
        if (op_.penalises_keys())
          for (index i = 0; i < rows; ++i) key[i] += u[t][i];
        to_.give_rows(op_, w.token(first + t), in_lanes_, key, u[t]);
      }
      end = first;
    }
    return at_start(w, penalty.factor(), sums, fading);
  }

  double at_start(walk const& w, penalty_factor<T>& factor, penalty_sums<T> const& sums,
                  fading_part const& fading) const {
    factor.load(static_cast<T>(op_.lambda(w.head)),
                [&](index i, index j) { return of_state(options_.initial, w, i, j); });
    bool const seen = of_state(options_.initial, w, 0, 0) != T(0);
    auto const gradient = [&](index i, index j) {
      if (w.count == 0) return of_state(options_.final_gradient, w, i, j);
      if constexpr (fading_penalty<Op>)
        if (j == shape_.rows) return seen && i == 0 ? static_cast<T>(fading.of_left()) : T(0);
      return seen && j >= i ? sums.gradient(factor, i, j) : T(0);
    };
    if (auto const& to = options_.initial_gradient; to.present())
      for (index i = 0; i < shape_.rows; ++i)
        for (index j = 0; j < shape_.columns - columns_; ++j)
          to.values(w.sequence, w.head, i, columns_ + j) = static_cast<State>(gradient(i, j));
    double of_lambda = seen || w.count == 0 ? 0 : static_cast<double>(sums.of_lambda());
    if constexpr (fading_penalty<Op>) of_lambda += fading.of_lambda();
    return of_lambda;
  }

  Op const& op_;
  Gradients const& to_;
  adjoint_options<State> const& options_;
  recurrence_shape const shape_;
  index const walks_, columns_;
  bool const in_lanes_;
  aligned_numbers<T> const directions_, of_directions_, of_keys_, factors_, by_inverse_, of_decays_;
};

// Holds three vectors of K numbers a token and head, and the states that the adjoint of S keeps.
// An initial state of zeros stands for M = lambda I: the gradient by R is then 0, and lambda
// receives one.
template <penalised_memory Op, class Out, class Gradients, class State>
void adjoint_penalised(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                       adjoint_options<State> const& options) {
  static_assert(penalised_gradients<Gradients, Op>,
                "wane::adjoint: the gradients of a penalised memory are Op::gradients, or what "
                "wane/core/recurrence/penalised_gradients.hpp says");
  penalised_adjoint<Op, Gradients, State>(op, gradients, options)(dy);
}

}  // namespace wane::impl
