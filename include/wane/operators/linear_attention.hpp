// linear_attention: the mean of the values, weighed by the products of queries and keys.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/operators/gla.hpp"
#include "wane/operators/parts/column_of_ones.hpp"

namespace wane {

struct linear_attention_options {
  keyed_options keys = {};
  double floor = 1e-10;  // the least denominator
};

// S_t = D S_{t-1} + k_t v_t^T,   z_t = D z_{t-1} + k_t,   D = diag(e^{g_t}),
// y_t = scale S_t^T q_t / max(scale q_t . z_t, floor)
// (Katharopoulos et al. 2020, equations 18 to 20; a gate decays both sums.)
//
//   wane::elu_plus_one<float>(q, phi_q), wane::elu_plus_one<float>(k, phi_k);
//   wane::run(wane::linear_attention<float>({.query = phi_q, .key = phi_k, .value = v}), y);
//
// Queries and keys, [B, T, G, K], are features (feature_maps.hpp) with q . k >= 0. The gate may be
// absent, of heads or of rows. The state is K x (V + 1): its last column is z, the sum for a value
// of 1. Above the floor the scale cancels. gla with no_gate is the same memory without the
// division.
//
// flash-linear-attention divides by scale q . z + 1e-10, VLA (eq. 11) by max(q . z, 1e-4). A larger
// floor, or a sum in its place, changes the means of small features, and random features are often
// small.
template <class Io, any_gate Gate = no_gate, class Accumulate = widened<Io>>
class linear_attention : public gla<Io, Gate, Accumulate> {
  using sums = gla<Io, Gate, Accumulate>;
  using limits = std::numeric_limits<Accumulate>;
  static_assert(!is_complex<Accumulate>,
                "wane::linear_attention: a denominator is compared with the floor, which complex "
                "numbers cannot be");

 public:
  // Throws wane::error when the shapes do not fit, or an option or the floor is out of range.
  explicit linear_attention(
      std::type_identity_t<keyed_inputs<Io>> const& in,
      linear_attention_options const& options = {}) requires std::same_as<Gate, no_gate>
      : linear_attention(in, no_gate(), options) {}
  // A template, so that {} as second argument means options.
  template <class Given = Gate>
  linear_attention(std::type_identity_t<keyed_inputs<Io>> const& in, Given const& log_decay,
                   linear_attention_options const& options = {})
      : sums(in, impl::gate_from<Gate>(log_decay), options.keys),
        floor_(static_cast<Accumulate>(options.floor)) {
    require(floor_ >= (limits::min)() && floor_ <= (limits::max)(), "floor is ", options.floor,
            "; it must be finite and at least ", (limits::min)());
  }

  // The shape of the state; outputs have the columns of value.
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
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(recurrence_shape shape) const {
      shape.columns -= 1;
      impl::check_keyed(*this, shape);
      impl::check_gate_gradient(log_decay, shape);
    }
    wane::layout layout() const {
      return layout_of(query, key, value) & impl::layout_of_gate(log_decay);
    }

    struct sink {
      gradients const& to;
      linear_attention const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const {
        impl::write_before_ones(to.value, where, j, g);
      }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        op.give_terms(where, to, g);
      }
    };
    WANE_INLINE sink at(linear_attention const& op, place<> where) const {
      return {*this, op, where};
    }
  };

 private:
  Accumulate floor_;
};

template <class Gate>
linear_attention(keyed_inputs<impl::deduced_number<Gate>> const&, Gate const&,
                 linear_attention_options const& = {})
    -> linear_attention<impl::deduced_number<Gate>, impl::deduced_gate<Gate>>;
template <class Io, impl::other_gate<Io> Gate>
linear_attention(keyed_inputs<Io> const&, Gate const&, linear_attention_options const& = {})
    -> linear_attention<Io, impl::deduced_gate<Gate>>;

}  // namespace wane
