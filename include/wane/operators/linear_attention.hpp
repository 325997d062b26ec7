// linear_attention: mean of the values, each weighed by how well its key answers the query.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/operators/gla.hpp"
#include "wane/operators/parts/column_of_ones.hpp"

namespace wane {

// S_t = D S_{t-1} + k_t v_t^T,   z_t = D z_{t-1} + k_t,   D = diag(e^{g_t}),
// y_t = scale S_t^T q_t / max(scale q_t . z_t, floor)
// (Katharopoulos et al. 2020, equations 18 to 20; with a gate, both sums forget alike.)
//
// Queries and keys, [B, T, G, K], are features that somebody mapped (feature_maps.hpp), such that
// q . k >= 0. The gate may be absent, a head's or a row's. The state is K x (V + 1): z is its last
// column, that of a value that is always 1. Above the floor the scale cancels; gla with no_gate is
// the same memory without the division.
//
// flash-linear-attention divides by scale q . z + 1e-10, VLA (eq. 11) by max(q . z, 1e-4): a larger
// floor, or a sum, moves the means of features that are small, as random ones often are.
template <class Io, any_gate Gate = no_gate, class Accumulate = widened<Io>>
class linear_attention : public gla<Io, Gate, Accumulate> {
  using sums = gla<Io, Gate, Accumulate>;
  using limits = std::numeric_limits<Accumulate>;
  static_assert(!is_complex<Accumulate>,
                "wane::linear_attention: a denominator is compared with the floor, which complex "
                "numbers cannot be");

 public:
  // Throws wane::error when the shapes do not fit, or an option or the floor is out of range.
  explicit linear_attention(keyed_inputs<Io> const& in, Gate const& log_decay = {},
                            keyed_options const& options = {}, double floor = 1e-10)
      : sums(in, log_decay, options), floor_(static_cast<Accumulate>(floor)) {
    require(floor_ >= (limits::min)() && floor_ <= (limits::max)(), "floor is ", floor,
            "; it must be finite and at least ", (limits::min)());
  }

  // That of the state; outputs have the columns of value.
  WANE_HOST_DEVICE recurrence_shape shape() const {
    recurrence_shape size = sums::shape();
    size.columns += 1;
    return size;
  }
  WANE_HOST_DEVICE Accumulate floor() const { return floor_; }

  struct token : sums::token {
    index of_ones;

    WANE_INLINE auto value(auto j) const {
      typename sums::token const& x = *this;
      return impl::value_or_one<Accumulate>(of_ones, j,
                                            [&x](auto n) WANE_INLINE_LAMBDA { return x.value(n); });
    }
  };
  template <class Sums = own_sums>
  WANE_INLINE token at(place<> where, Sums const& of_rows = {}) const {
    return {sums::at(where, of_rows), this->in_.value.extent[3]};
  }

  // Any may be absent; log_decay has the shape of the gate.
  struct gradients {
    keyed_gradients<Io> in;
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(recurrence_shape shape) const {
      shape.columns -= 1;
      impl::check_keyed(in, shape);
      impl::check_gate_gradient(log_decay, shape);
    }
    wane::layout layout() const { return in.layout() & impl::layout_of_gate(log_decay); }

    struct sink {
      gradients const& to;
      linear_attention const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const {
        impl::write_before_ones(to.in.value, where, j, g);
      }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        op.give_terms(where, to.in, to.log_decay, g);
      }
    };
    WANE_INLINE sink at(linear_attention const& op, place<> where) const {
      return {*this, op, where};
    }
  };

 private:
  Accumulate floor_;
};

}  // namespace wane
