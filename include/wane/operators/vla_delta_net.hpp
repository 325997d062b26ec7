// vla_delta_net: the DeltaNet of the VLA paper, a decayed memory with the error before the decay.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/parts/keyed.hpp"

namespace wane {

// decay: beta, [B, T, H], a plain factor, in [0, 1]; the others as in keyed_inputs.
template <class Io>
struct vla_delta_net_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"decay", token_view<Io const>> decay = {};
};

// S_t = beta_t S_{t-1} + k_t (v_t - S_{t-1}^T k_t)^T,   y_t = scale S_t^T q_t
// (Pandey and Singh, arXiv 2605.11196, equation 4.) For comparison with that paper. Here beta is a
// decay; in delta_net it is the strength of the write. The error is that of the state before its
// decay; gated_delta_net takes the decayed state.
//
//   wane::vla_delta_net<float> const memory({.query = q, .key = k, .value = v, .decay = beta},
//                                           {.normalise = true});
//   wane::run(memory, y);
template <class Io, class Accumulate = widened<Io>>
class vla_delta_net : public impl::keyed_memory<Io, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  explicit vla_delta_net(vla_delta_net_inputs<Io> const& in, keyed_options const& options = {})
      : keyed(impl::keyed_tensors_of<Io>(in), options), decay_(in.decay) {}

  void check_inputs() const {
    keyed::check_inputs();
    check("decay", decay_, this->shape());
  }

  template <class Moved>
  WANE_HOST_DEVICE void move_tensors(Moved const& moved) {
    keyed::move_tensors(moved), decay_ = moved.whole(decay_);
  }

  struct token : keyed::terms {
    Accumulate beta;

    WANE_INLINE Accumulate decay() const { return beta; }
    WANE_INLINE auto erase_read(auto i) const { return this->key(i); }
  };
  template <class Sums = own_sums>
  WANE_INLINE token at(place<> where, Sums const& sums = {}) const {
    return {this->terms_at(where, sums), static_cast<Accumulate>(decay_.read(where))};
  }

  // Any may be absent.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"decay", token_view<Io>> decay = {};

    void check(recurrence_shape const& shape) const {
      impl::check_keyed(*this, shape);
      check_if_present("the gradient of decay", decay, shape);
    }
    wane::layout layout() const { return layout_of(query, key, value); }

    struct sink {
      gradients const& to;
      vla_delta_net const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { to.value.write(where, j, g); }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          set_row(g.key, i, row_at(g.key, i) + row_at(g.erase_read, i));
        });
        op.give_rows(op.terms_at(where), to.query, to.key, g);
        to.decay.write(where, g.whole.decay);
      }
    };
    WANE_INLINE sink at(vla_delta_net const& op, place<> where) const { return {*this, op, where}; }
  };

 private:
  token_view<Io const> decay_;
};

}  // namespace wane
