// The adjoint of channelwise recurrences: states and cotangents live in registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/run/channels/in_series.hpp"
#include "wane/run/channels/series_adjoint.hpp"
#include "wane/run/shared/pieces.hpp"
#include "wane/run/shared/stores.hpp"

namespace wane::impl {

// Columns of a walk: in vectors if V is a simd, one by one if V is a number.
template <class V, channelwise Op, class Out, class Gradients, class State>
class channel_adjoint {
 public:
  using T = accumulate_type<Op>;
  using columns_type = typename columns_of<V>::type;
  using decay_type = decltype(widen<V>(decay_of(std::declval<token_of<Op>>(), 0, columns_type{})));

  // streams: gradients go past the caches.
  channel_adjoint(Op const& op, sequence_view<Out const> const& output_gradient,
                  Gradients const& gradients, adjoint_options<State> const& options, bool streams)
      : op_(op),
        output_gradient_(output_gradient),
        gradients_(gradients),
        options_(options),
        streams_(streams) {}

  // Columns [first, last).
  void operator()(walk const& w, index first, index last) {
    first_ = first, last_ = last, count_ = (last - first + width - 1) / width;
    rows_ = count_ <= abreast ? w.count : 4;
    initial_.resize(size(1)), cotangent_.resize(size(1)), later_.resize(size(1));
    strips([&]<int R, class Columns>(Columns const(&columns)[R], index g) {
      for (int r = 0; r < R; ++r) {
        auto const i = static_cast<std::size_t>(g + r);
        initial_[i] = load_state<V>(options_.initial, w, 0, columns[r]);
        cotangent_[i] = load_state<V>(options_.final_gradient, w, 0, columns[r]);
        never_fade(later_[i]);
      }
    });
    if (knows_states())
      from_outputs(w);
    else
      from_inputs(w, chunk_tokens(w.count));
    if (streams_) stream_fence();
    if (!options_.initial_gradient.present()) return;
    strips([&]<int R, class Columns>(Columns const(&columns)[R], index g) {
      for (int r = 0; r < R; ++r) {
        auto const i = static_cast<std::size_t>(g + r);
        save_state(options_.initial_gradient, w, 0, columns[r],
                   carried(conjugate(later_[i]), cotangent_[i], V(T(0))));
      }
    });
  }

 private:
  static constexpr int width = columns_of<V>::width;
  static constexpr int abreast = 4;  // vectors of a strip

  std::size_t size(index n) const { return static_cast<std::size_t>(n * count_); }

  // Tokens whose states are held at a time: all, if these fit a second-level cache; otherwise few,
  // so that their terms stay in a cache too.
  index chunk_tokens(index tokens) const {
    constexpr index few_bytes = index{1} << 15, cached_bytes = index{1} << 18;
    index const bytes = count_ * index(sizeof(V));
    return tokens * bytes <= cached_bytes ? tokens : std::max<index>(16, few_bytes / bytes);
  }

  // Whether the states are the outputs, as they were computed.
  bool knows_states() const {
    if constexpr (std::is_same_v<State, T>)
      return options_.outputs.data && (!is_simd<V> || layout_of(options_.outputs).columns);
    else
      return false;
  }

  // Backward, with the states before each token from the outputs, and from the initial state.
  void from_outputs(walk const& w) {
    index const rows = rows_;
    for (index k = w.count == 0 ? -1 : (w.count - 1) / rows * rows; k >= 0; k -= rows)
      strips([&](auto const& columns, index g) {
        index const first = k == 0 ? 1 : 0;
        walk const part = w.part(k + first, rows - first);
        backward(part, columns, g,
                 [part, y = options_.outputs](index n, auto of, int)
                     WANE_INLINE_LAMBDA { return V(y.read(part.token(n - 1), of)); });
        if (k == 0)
          backward(w.part(0, 1), columns, g,
                   [initial = initial_.data() + g](index, auto, int r)
                       WANE_INLINE_LAMBDA { return initial[r]; });
      });
  }

  // Forward with a state kept every `most` tokens; then, from the last such chunk to the first,
  // forward once more with all states, and backward.
  void from_inputs(walk const& w, index most) {
    index const chunk = std::min(w.count, most);
    index const chunks = chunk == 0 ? 0 : (w.count + chunk - 1) / chunk;
    // kept: the states at the start of each chunk. states: those around each token of one chunk.
    kept_.resize(size(chunks)), states_.resize(size(chunk + 1));
    std::copy_n(initial_.data(), count_, states_.data());
    for (index c = 0; c < chunks; ++c) {
      std::copy_n(states_.data(), count_, kept_.data() + c * count_);
      if (c + 1 < chunks) all_forward(w.part(c * chunk, chunk), states_.data(), 0);
    }
    for (index c = chunks - 1; c >= 0; --c) {
      walk const part = w.part(c * chunk, chunk);
      std::copy_n(kept_.data() + c * count_, count_, states_.data());
      all_forward(part, states_.data(), count_);
      index const rows = std::min(rows_, chunk);
      for (index k = (part.count - 1) / rows * rows; k >= 0; k -= rows)
        strips([&](auto const& columns, index g) {
          V const* const before = states_.data() + k * count_ + g;
          backward(part.part(k, rows), columns, g,
                   [before, stride = count_](index n, auto, int r)
                       WANE_INLINE_LAMBDA { return before[n * stride + r]; });
        });
    }
  }

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
    index const rows = std::min(rows_, w.count);
    for (index k = 0; k < w.count; k += rows)
      strips([&](auto const& columns, index g) {
        forward(w.part(k, rows), columns, states + k * stride + g, stride);
      });
  }
  template <int R, class Columns>
  [[gnu::noinline]] void forward(walk const w, Columns const (&columns)[R], V* state,
                                 index stride) const {
    Op const op = op_;
    Columns of[R];  // here, where no store can change them
    V s[R];
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA { of[r] = columns[r], s[r] = state[r]; });
    for (index k = 0; k < w.count; ++k) {
      auto const x = op.at(w.token(k));
      state += stride;
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        s[r] = carried(widen<V>(decay_of(x, 0, of[r])), s[r], V(x.value(of[r])));
        if (stride > 0) state[r] = s[r];
      });
    }
    if (stride == 0) unroll<R>([&](auto r) WANE_INLINE_LAMBDA { state[r] = s[r]; });
  }

  template <class Columns>
  static constexpr bool can_stream =
      streams_elements<sink_of<Gradients, Op>, Columns, V>&& requires(Gradients const& to) {
    to.streams();
  };
  template <int R, class Columns, class Before>
  void backward(walk const& w, Columns const (&columns)[R], index g, Before const& before) {
    if constexpr (can_stream<Columns>)
      if (streams_) return backward_by<true>(w, columns, g, before);
    backward_by<false>(w, columns, g, before);
  }
  // Before the call, `cotangent` is dL/dS after the token that follows w, and `later` is the decay
  // of that token. After the call both belong to the first token of w. before(k, of, r) is the
  // state before token k in the vector r.
  template <bool Stream, int R, class Columns, class Before>
  [[gnu::noinline]] void backward_by(walk const w, Columns const (&columns)[R], index first,
                                     Before const before) {
    Op const op = op_;
    sequence_view<Out const> const dy = output_gradient_;
    Gradients const gradients = gradients_;
    V* const cotangent = cotangent_.data() + first;
    decay_type* const later = later_.data() + first;
    Columns of[R];  // here, where no store can change them
    V g[R];
    decay_type decay[R];
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
      of[r] = columns[r], g[r] = cotangent[r], decay[r] = later[r];
    });
    for (index k = w.count - 1; k >= 0; --k) {
      auto const at = w.token(k);
      auto const x = op.at(at);
      auto const sink = sink_at(gradients, op, at);
      using Sink = std::remove_const_t<decltype(sink)>;
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        g[r] = carried(conjugate(decay[r]), g[r], V(convert<T>(dy.read(at, of[r]))));
        decay[r] = widen<V>(decay_of(x, 0, of[r]));
        if constexpr (takes_elements<Sink, Columns, V>) {
          element_gradient<V> const all{
              g[r], multiply(conjugate(decay_derivative(decay[r], before(k, of[r], r))), g[r])};
          if constexpr (Stream)
            sink.stream(of[r], all);
          else
            sink.element(of[r], all);
        }
        if constexpr (takes_columns<Sink, Columns, V>) sink.column(of[r], g[r]);
      });
    }
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA { cotangent[r] = g[r], later[r] = decay[r]; });
  }

  Op const& op_;
  sequence_view<Out const> const& output_gradient_;
  Gradients const& gradients_;
  adjoint_options<State> const& options_;
  bool streams_;
  index first_ = 0, last_ = 0, count_ = 0;
  index rows_ = 0;  // tokens that a strip takes before the next strip's turn
  std::vector<V> initial_, cotangent_, kept_, states_;
  std::vector<decay_type> later_;
};

template <channelwise Op, class Out, class Gradients, class State>
void adjoint_channels(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                      adjoint_options<State> const& options) {
  using T = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  int const threads = threads_to_use(options.threads);
  index const walks = walks_of(shape, options);
  state_box const box = box_of(shape, options);
  index const piece = std::max<index>(1, columns_per_task(box.columns, walks, threads, 64));
  index const pieces = (box.columns + piece - 1) / piece;
  bool const large = is_large<Out>(shape);
  bool may_stream = false;
  if constexpr (requires { gradients.streams(); }) may_stream = large && gradients.streams();
  auto const in_vectors = [&]<class V>(std::type_identity<V>) {
    // In memory all columns of a few tokens are taken together, in a cache few columns of all.
    index const together = large || !is_simd<V> ? piece : 4 * columns_of<V>::width;
    for_each_task(walks * pieces, threads, [&](index task) {
      walk const w = walk_of(task / pieces, shape, options, options.initial.positions);
      index const begin = task % pieces * piece, end = std::min(begin + piece, box.columns);
      index const first = box.first_column + begin, last = box.first_column + end;
      channel_adjoint<V, Op, Out, Gradients, State> own(op, dy, gradients, options, may_stream);
      for (index j = first; j < last; j += together) own(w, j, std::min(j + together, last));
    });
  };
  if constexpr (gives_series<Op, Gradients, 1>)
    if (in_series(op, layout_of(dy) & gradients.layout(),
                  [&]<int C>(std::integral_constant<int, C>) {
                    for_each_task(walks * (box.columns / C), threads, [&](index task) {
                      series_adjoint<C, Op, Out, Gradients, State>(
                          op, dy, gradients, options, box.first_column + task / walks * C)(
                          walk_of(task % walks, shape, options, options.initial.positions));
                    });
                  }))
      return;
  if constexpr (gives_lanes<Op, Gradients>())
    if ((layout_of(op) & layout_of(dy) & gradients.layout()).columns)
      return in_vectors(std::type_identity<simd<T, simd_width<T>>>{});
  in_vectors(std::type_identity<T>{});
}

}  // namespace wane::impl
