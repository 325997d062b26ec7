// linear_recurrence: h_t = a_t h_{t-1} + b_t in every channel, with a decay for each token.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/recurrence/named.hpp"

namespace wane {

// How a decay is stored: its natural logarithm (<= 0, -inf resets), or the factor itself (any
// finite value, exactly 0 resets).
enum class decay_as { log, factor };

// a and b, [B, T, H, C].
template <class Io>
struct linear_recurrence_inputs {
  impl::by_name only = {};
  impl::named<"decay", sequence_view<Io const>> decay = {};
  impl::named<"drive", sequence_view<Io const>> drive = {};
};

//   wane::linear_recurrence<wane::decay_as::log, float> const op(
//       {.decay = {a, B, T, H, C}, .drive = {b, B, T, H, C}});
//   wane::run(op, {h, B, T, H, C});
//
// The output is h; the state is [B, H, 1, C]. Io may be real or
// complex, or a 16-bit storage type; arithmetic is done in Accumulate. Throws wane::error when the
// shapes differ.
template <decay_as Form, class Io, class Accumulate = widened<Io>>
class linear_recurrence {
 public:
  using accumulate = Accumulate;
  static constexpr bool is_channelwise = true;

  explicit linear_recurrence(linear_recurrence_inputs<Io> const& in)
      : decay_(in.decay), drive_(in.drive) {
    impl::check_given("decay", decay_), impl::check_given("drive", drive_);
    for (int i = 0; i < 4; ++i)
      require(decay_.extent[i] == drive_.extent[i], "decay has extent ", decay_.extent[i],
              " along dimension ", i, " of [B, T, H, C]; it must equal that of drive, ",
              drive_.extent[i]);
  }

  // Throws wane::error for a tensor without data. Called by every run.
  void check_inputs() const {
    check("decay", decay_, shape());
    check("drive", drive_, shape());
  }

  WANE_HOST_DEVICE recurrence_shape shape() const {
    return {drive_.extent[0], drive_.extent[1], drive_.extent[2], 1, drive_.extent[3]};
  }

  wane::layout layout() const { return layout_of(decay_, drive_); }

  // The operator on other memory; see wane/core/recurrence/recurrence.hpp.
  template <class Moved>
  WANE_HOST_DEVICE linear_recurrence with_tensors(Moved const& moved) const {
    linear_recurrence op = *this;
    op.decay_ = moved.by_column(decay_);
    op.drive_ = moved.by_column(drive_);
    return op;
  }

  template <class Time>
  struct token {
    sequence_view<Io const> const &stored_decay, &drive;
    place<Time> where;

    template <class Column>
    WANE_INLINE auto log_decay(index, Column j) const requires(Form == decay_as::log) {
      return convert<Accumulate>(stored_decay.read(where, j));
    }
    template <class Column>
    WANE_INLINE auto decay(index, Column j) const requires(Form == decay_as::factor) {
      return convert<Accumulate>(stored_decay.read(where, j));
    }
    template <class Column>
    WANE_INLINE auto value(Column j) const {
      return convert<Accumulate>(drive.read(where, j));
    }
  };
  template <class Time>
  WANE_INLINE token<Time> at(place<Time> where) const {
    return {decay_, drive_, where};
  }

  // Where the gradients with respect to decay and drive go, [B, T, H, C]; either may be absent.
  struct gradients {
    impl::by_name only = {};
    impl::named<"decay", sequence_view<Io>> decay = {};
    impl::named<"drive", sequence_view<Io>> drive = {};

    void check(recurrence_shape const& shape) const {
      check_if_present("the gradient of decay", decay, shape);
      check_if_present("the gradient of drive", drive, shape);
    }
    wane::layout layout() const { return layout_of(decay, drive); }
    // Whether sinks may store whole vectors past the caches.
    bool streams() const {
      return impl::has_aligned_vectors(decay) && impl::has_aligned_vectors(drive);
    }

    template <class Time>
    struct sink {
      gradients const& to;
      place<Time> where;

      template <class Column, class V>
      WANE_INLINE void element(Column j, element_gradient<V> g) const {
        to.decay.write(where, j, g.decay);
        to.drive.write(where, j, g.value);
      }
      template <int W, class V>
      requires std::same_as<V, simd<Io, W>> WANE_HOST_INLINE void stream(
          lanes<W> j, element_gradient<V> g) const {
        if (to.decay.data) impl::stream(to.decay.element(where, j.first), g.decay);
        if (to.drive.data) impl::stream(to.drive.element(where, j.first), g.value);
      }
    };
    template <class Time>
    WANE_INLINE sink<Time> at(place<Time> where) const {
      return {*this, where};
    }
  };

 private:
  sequence_view<Io const> decay_, drive_;
};

}  // namespace wane
