// The adjoint of channelwise recurrences: states and cotangents live in registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/numbers/decay_derivative.hpp"
#include "wane/core/numbers/unroll.hpp"
#include "wane/run/shared/gradients.hpp"
#include "wane/run/shared/pieces.hpp"
#include "wane/run/shared/state_lanes.hpp"

namespace wane::impl {

// Columns [first, last) of a walk: in vectors if V is a simd, one by one if V is a number.
template <class V, channelwise Op, class Out, class Gradients>
class channel_adjoint {
 public:
  using T = accumulate_type<Op>;
  using columns_type = typename columns_of<V>::type;
  using decay_type = decltype(widen<V>(decay_of(std::declval<token_of<Op>>(), 0, columns_type{})));

  channel_adjoint(Op const& op, sequence_view<Out const> const& output_gradient,
                  Gradients const& gradients, index first, index last)
      : op_(op),
        output_gradient_(output_gradient),
        gradients_(gradients),
        first_(first),
        last_(last),
        count_((last - first + width - 1) / width),
        chunk_(count_ <= abreast ? 64 : 16),
        rows_(count_ <= abreast ? chunk_ : 4) {}

  template <class State>
  void operator()(walk const& w, adjoint_options<State> const& options) const {
    index const chunk = std::min(w.count, chunk_);
    index const chunks = chunk == 0 ? 0 : (w.count + chunk - 1) / chunk;
    auto const size = [&](index n) { return static_cast<std::size_t>(n * count_); };
    // kept: the states at the start of each chunk. states: those around each token of one chunk.
    // cotangent: dL/dS after a token. later: the decay of the token that follows it.
    std::vector<V> kept(size(chunks)), states(size(chunk + 1)), cotangent(size(1));
    std::vector<decay_type> later(size(1));
    strips([&]<int R, class Columns>(Columns const(&columns)[R], index g) {
      for (int r = 0; r < R; ++r) {
        auto const i = static_cast<std::size_t>(g + r);
        states[i] = load_state<V>(options.initial, w, 0, columns[r]);
        cotangent[i] = load_state<V>(options.final_gradient, w, 0, columns[r]);
        never_fade(later[i]);
      }
    });
    for (index c = 0; c < chunks; ++c) {
      std::copy_n(states.data(), count_, kept.data() + c * count_);
      all_forward(w.part(c * chunk, chunk), states.data(), 0);
    }
    for (index c = chunks - 1; c >= 0; --c) {
      walk const part = w.part(c * chunk, chunk);
      std::copy_n(kept.data() + c * count_, count_, states.data());
      all_forward(part, states.data(), count_);
      for (index k = (part.count - 1) / rows_ * rows_; k >= 0; k -= rows_)
        strips([&](auto const& columns, index g) {
          backward(part.part(k, rows_), columns, states.data() + k * count_ + g,
                   cotangent.data() + g, later.data() + g);
        });
    }
    if (!options.initial_gradient.present()) return;
    strips([&]<int R, class Columns>(Columns const(&columns)[R], index g) {
      for (int r = 0; r < R; ++r) {
        auto const i = static_cast<std::size_t>(g + r);
        save_state(options.initial_gradient, w, 0, columns[r],
                   carried(conjugate(later[i]), cotangent[i], V(T(0))));
      }
    });
  }

 private:
  static constexpr int width = columns_of<V>::width;
  static constexpr int abreast = 4;  // vectors of a strip

  // Calls body(columns, g) for strips of `abreast` vectors, then of one; g is the number of the
  // first vector.
  template <class Body>
  void strips(Body const& body) const {
    index j = first_, g = 0;
    auto const whole = [&]<int R>(std::integral_constant<int, R>) {
      for (; j + R * width <= last_; j += R * width, g += R) {
        columns_type columns[R];
        for (int r = 0; r < R; ++r) columns[r] = {j + r * width};
        body(columns, g);
      }
    };
    whole(std::integral_constant<int, abreast>{});
    whole(std::integral_constant<int, 1>{});
    if constexpr (is_simd<V>)
      if (j < last_) {
        partial_lanes<width> const columns[] = {{j, static_cast<int>(last_ - j)}};
        body(columns, g);
      }
  }

  // Advances all columns. The states before token k are read at states + k * stride; the states
  // after it are written one stride later. With stride 0 the states are updated in place.
  void all_forward(walk const& w, V* states, index stride) const {
    for (index k = 0; k < w.count; k += rows_)
      strips([&](auto const& columns, index g) {
        forward(w.part(k, rows_), columns, states + k * stride + g, stride);
      });
  }
  template <int R, class Columns>
  [[gnu::noinline]] void forward(walk const w, Columns const (&columns)[R], V* state,
                                 index stride) const {
    Op const op = op_;
    V s[R];
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA { s[r] = state[r]; });
    for (index k = 0; k < w.count; ++k) {
      auto const x = op.at(w.token(k));
      state += stride;
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        state[r] = s[r] =
            carried(widen<V>(decay_of(x, 0, columns[r])), s[r], V(x.value(columns[r])));
      });
    }
  }

  // Before the call, `cotangent` is dL/dS after the token that follows w, and `later` is the decay
  // of that token. After the call both belong to the first token of w.
  template <int R, class Columns>
  [[gnu::noinline]] void backward(walk const w, Columns const (&columns)[R], V const* states,
                                  V* cotangent, decay_type* later) const {
    Op const op = op_;
    sequence_view<Out const> const dy = output_gradient_;
    Gradients const gradients = gradients_;
    V g[R];
    decay_type decay[R];
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA { g[r] = cotangent[r], decay[r] = later[r]; });
    for (index k = w.count - 1; k >= 0; --k) {
      auto const at = w.token(k);
      auto const x = op.at(at);
      auto const sink = sink_at(gradients, op, at);
      using Sink = std::remove_const_t<decltype(sink)>;
      V const* const before = states + k * count_;
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        g[r] = carried(conjugate(decay[r]), g[r], V(convert<T>(dy.read(at, columns[r]))));
        decay[r] = widen<V>(decay_of(x, 0, columns[r]));
        if constexpr (takes_elements<Sink, Columns, V>)
          sink.element(columns[r],
                       element_gradient<V>{
                           g[r], multiply(conjugate(decay_derivative(decay[r], before[r])), g[r])});
        if constexpr (takes_columns<Sink, Columns, V>) sink.column(columns[r], g[r]);
      });
    }
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA { cotangent[r] = g[r], later[r] = decay[r]; });
  }

  Op const& op_;
  sequence_view<Out const> const& output_gradient_;
  Gradients const& gradients_;
  index first_, last_, count_;
  index chunk_;  // tokens between kept states
  index rows_;   // tokens that a strip takes before the next strip's turn
};

template <channelwise Op, class Out, class Gradients, class State>
void adjoint_channels(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                      adjoint_options<State> const& options) {
  using T = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  int const threads = threads_to_use(options.threads);
  index const walks = sequences_of(shape, options.packed) * shape.heads;
  index const piece = columns_per_task(shape.columns, walks, threads, 64);
  index const pieces = (shape.columns + piece - 1) / piece;
  auto const in_vectors = [&]<class V>(std::type_identity<V>) {
    for_each_task(walks * pieces, threads, [&](index task) {
      walk const w = walk_of(task / pieces, shape, options, options.initial.positions);
      index const first = task % pieces * piece, last = std::min(first + piece, shape.columns);
      channel_adjoint<V, Op, Out, Gradients>(op, dy, gradients, first, last)(w, options);
    });
  };
  if constexpr (gives_lanes<Op, Gradients>())
    if ((layout_of(op) & layout_of(dy) & gradients.layout()).columns)
      return in_vectors(std::type_identity<simd<T, simd_width<T>>>{});
  in_vectors(std::type_identity<T>{});
}

}  // namespace wane::impl
