// The adjoint where rows fade by constants: the chunks of the run, with time reversed.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/chunk/row_products.hpp"
#include "wane/core/numbers/threads.hpp"
#include "wane/run/lags/chunk.hpp"
#include "wane/run/shared/gradients.hpp"
#include "wane/run/shared/pieces.hpp"

namespace wane::impl {

// All columns of one walk, from the last token to the first. No state is needed, because neither
// decays nor queries have a gradient.
template <has_lags Op, class Out, class Gradients>
class lag_adjoint {
 public:
  using T = accumulate_type<Op>;
  using vector = simd<T, simd_width<T>>;
  using Sink = sink_of<Gradients, Op>;
  static constexpr int width = vector::width;
  static constexpr bool of_keys =
      takes_rows<Sink, T> || takes_tokens<Sink, T> || takes_all<Sink, T>;

  lag_adjoint(Op const& op, sequence_view<Out const> const& output_gradient,
              Gradients const& gradients, index head)
      : op_(op),
        output_gradient_(output_gradient),
        gradients_(gradients),
        cotangent_(op, head, 0, recurrence_shape(op.shape()).columns),
        values_(lag_tokens * row_stride()),
        output_gradients_(lag_tokens * row_stride()),
        reads_(lag_tokens * padded_rows()),
        writes_((lag_tokens + 2) * padded_rows()),
        of_rows_((rows() + 1) * lag_tokens),
        terms_(5 * padded_rows()) {}

  template <class State>
  void operator()(walk const& w, adjoint_options<State> const& options) {
    state_access<T, State> const state{options.final_gradient, options.initial_gradient, w.sequence,
                                       w.head};
    cotangent_.load(state);
    index k = w.count;
    while (k % lag_tokens) take(cotangent_.one, w, --k);
    while (k > 0) take(cotangent_.many, w, k -= lag_tokens);
    cotangent_.save(state);
  }

 private:
  index rows() const { return cotangent_.rows; }
  index row_stride() const { return cotangent_.row_stride; }
  index padded_rows() const { return cotangent_.many.padded_rows(); }

  template <int N>
  void take(lag_chunks<Op, N> const& chunks, walk const& whole, index k) {
    walk const w = whole.part(k, N);
    auto const chunk = chunks(w, 0);
    T products[N * N];  // [t][i]: dL/dy_t . v_i
    if constexpr (of_keys) {
      load<N>(w);
      row_products<N, N>(output_gradients_.data(), row_stride(), values_.data(), row_stride(),
                         cotangent_.columns.padded(), products);
      for (index s = 0; s < rows(); s += 2)
        row_products<2, N>(cotangent_.row(s), row_stride(), values_.data(), row_stride(),
                           cotangent_.columns.padded(), of_rows_.data() + s * N);
      for (index s = 0; s < rows(); ++s) {
        T const factor = cotangent_.held.factor(s);
        for (int i = 0; i < N; ++i) of_rows_.data()[s * N + i] *= factor;
      }
    }
    auto const back = turned(chunk, padded_rows(), reads_.data(), writes_.data());
    answer(cotangent_.held(back, k == 0), w);
    if constexpr (of_keys)
      for (int i = 0; i < N; ++i) give_rows(chunks, w.token(i), i, products);
  }

  template <int N>
  [[gnu::noinline]] void load(walk const& w) const {
    for (index t = 0; t < N; ++t) {
      // Copies that no store can change.
      Op const op = op_;
      auto const x = op.at(w.token(t));
      sequence_view<Out const> const dy(output_gradient_.element(w.token(t), 0), 1, 1, 1, 1);
      cotangent_.columns.template load<true>(values_.data() + t * row_stride(), true,
                                             [&](auto j) WANE_INLINE_LAMBDA { return x.value(j); });
      cotangent_.columns.template load<true>(
          output_gradients_.data() + t * row_stride(), true,
          [&](auto j) WANE_INLINE_LAMBDA { return convert<T>(dy.read(place<>{}, j)); });
    }
  }

  template <int N>
  [[gnu::noinline]] void answer(one_pass<T, N, fading::row> const& back, walk const& w) const {
    auto const dy = output_gradient_;
    auto const gradients = gradients_;
    cotangent_.columns.for_lanes([&](index j, auto vectors, auto columns) WANE_INLINE_LAMBDA {
      back.template take<vectors>(
          rows(), cotangent_.row(0) + j, row_stride(),
          [&](auto t, auto r) WANE_INLINE_LAMBDA {
            return vector(convert<T>(dy.read(w.token(N - 1 - t), columns(r))));
          },
          [&](auto t, auto r, vector g) WANE_INLINE_LAMBDA {
            if constexpr (takes_columns<Sink, decltype(columns(r)), vector>)
              sink_at(gradients, op_, w.token(N - 1 - t)).column(columns(r), g);
          });
    });
  }

  // dL/dk_is = l_s^{N-1-i} (dL/dM_s . v_i) + sum_{t>=i} l_s^{t-i} (dL/dy_t . v_i)
  template <int N>
  void give_rows(lag_chunks<Op, N> const& chunks, place<> at, int i, T const* products) const {
    index const n = padded_rows();
    T* const g = terms_.data();
    std::fill_n(g, 5 * n, T(0));
    for (index s = 0; s < rows(); ++s) {
      T sum = chunks.power(N - 1 - i)[s] * of_rows_.data()[s * N + i];
      for (int t = i; t < N; ++t)
        sum = multiply_add(chunks.power(t - i)[s], products[t * N + i], sum);
      g[n + s] = sum;
    }
    impl::give_rows(sink_at(gradients_, op_, at), rows(), n, true, g,
                    token_gradient<T>{T(0), products[i * N + i]});
  }

  Op const op_;
  sequence_view<Out const> const output_gradient_;
  Gradients const gradients_;
  lag_state<Op> cotangent_;
  aligned_numbers<T> values_, output_gradients_, reads_, writes_, of_rows_, terms_;
};

// Preconditions: columns are neighbours in all tensors, and only_fades(op).
template <has_lags Op, class Out, class Gradients, class State>
void adjoint_lags(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                  adjoint_options<State> const& options) {
  recurrence_shape const shape = op.shape();
  for_each_task(walks_of(shape, options), threads_to_use(options.threads), [&](index task) {
    walk const w = walk_of(task, shape, options, options.initial.positions);
    lag_adjoint<Op, Out, Gradients>(op, dy, gradients, w.head)(w, options);
  });
}

}  // namespace wane::impl
