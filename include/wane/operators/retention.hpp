// retention: power-law memory with a fractional order for each token (VORT).
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/recurrence/named.hpp"
#include "wane/core/recurrence/row_lanes.hpp"
#include "wane/spectra/orders/order_table.hpp"

namespace wane {

// value: v, [B, T, H, V]. alpha: [B, T, H], in [least, 1] of the nodes; orders more than 1/128
// outside give NaN.
template <class Io>
struct retention_inputs {
  impl::by_name only = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"alpha", token_view<Io const>> alpha = {};
};

// y_t = sum_{i <= t} w_{t-i}(alpha_i) v_i, with Gruenwald-Letnikov weights w (VORT, eq. 2), as
//   M_{t,s} = e^{-r_s} M_{t-1,s} + c_s(alpha_t) v_t,   y_t = d(alpha_t) v_t + sum_s M_{t,s}
// on rates that all orders share, with a gradient by alpha, or on banks of fixed orders (eq. 12).
// The state is [B, H, S, V], S the number of nodes, in all banks together. (RetNet is `retnet`.)
//
//   wane::spectra::order_weights<float> const weights(wane::spectra::shared_rates(16, 4096));
//   wane::run(wane::retention<float>({.value = v, .alpha = alpha}, weights.table()), y);
//
// nodes: the table of spectra::order_weights or order_banks, or other order_nodes.
template <class Io, class Accumulate = widened<Io>,
          spectra::order_nodes<Accumulate> Nodes = spectra::order_table<Accumulate>>
class retention {
 public:
  static constexpr bool has_constant_decays = true;
  using accumulate = Accumulate;

  // Throws wane::error when the shapes do not fit, or there are no nodes.
  retention(retention_inputs<Io> const& in, Nodes const& nodes)
      : value_(in.value), alpha_(in.alpha), nodes_(nodes) {
    require(nodes.present(),
            "the nodes of retention are empty; they must be those of spectra::order_weights or "
            "spectra::order_banks");
    impl::check_given("value", value_), impl::check_given("alpha", alpha_);
    check_alpha();
  }

  // Throws wane::error for a tensor without data. Called by every run.
  void check_inputs() const {
    check("value", value_, shape());
    check("alpha", alpha_, shape());
  }

  WANE_HOST_DEVICE recurrence_shape shape() const {
    auto const& v = value_.extent;
    return {v[0], v[1], v[2], nodes_.nodes(), v[3]};
  }

  wane::layout layout() const { return layout_of(value_); }

  struct token {
    retention const& op;
    place<> where;
    decltype(std::declval<Nodes const&>().at(Accumulate())) order;

    WANE_INLINE auto log_decay(auto s) const { return op.nodes_.log_decay.read(place<>{}, s); }
    WANE_INLINE auto key(auto s) const { return order.weight(s); }
    WANE_INLINE auto value(auto j) const { return convert<Accumulate>(op.value_.read(where, j)); }
    WANE_INLINE Accumulate direct() const { return order.weight(op.nodes_.nodes()); }
  };
  WANE_INLINE token at(place<> where) const {
    return {*this, where, nodes_.at(static_cast<Accumulate>(alpha_.read(where)))};
  }

  // The operator on other memory; see wane/core/recurrence/recurrence.hpp.
  template <class Moved>
  WANE_HOST_DEVICE retention with_tensors(Moved const& moved) const {
    retention op = *this;
    op.value_ = moved.by_column(value_), op.alpha_ = moved.whole(alpha_);
    op.nodes_ = nodes_.with_tensors(moved);
    return op;
  }

  // What a token reads; see wane/core/recurrence/recurrence.hpp.
  WANE_INLINE void each_row(place<> where, auto const& visit) const {
    visit(value_.element(where, 0), value_.extent[3]);
  }

  // Any may be absent.
  struct gradients {
    impl::by_name only = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"alpha", token_view<Io>> alpha = {};

    void check(recurrence_shape const& shape) const {
      check_if_present("the gradient of value", value, shape);
      check_if_present("the gradient of alpha", alpha, shape);
    }
    wane::layout layout() const { return layout_of(value); }

    struct sink {
      gradients const& to;
      retention const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { to.value.write(where, j, g); }
      // dL/dalpha = sum_s c_s' dL/dc_s + d' dL/dd
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        if (!to.alpha.data) return;
        auto const order = op.at(where).order;
        row_sum<V> total;
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto s) WANE_INLINE_LAMBDA {
          total.add(order.slope(s), row_at(g.key, s));
        });
        to.alpha.write(where,
                       multiply_add(order.slope(op.nodes_.nodes()), g.whole.direct, total.total()));
      }
    };
    WANE_INLINE sink at(retention const& op, place<> where) const { return {*this, op, where}; }
  };

 private:
  void check_alpha() const {
    recurrence_shape const size = shape();
    check_extent("alpha", "batch", alpha_.extent[0], size.batch);
    check_extent("alpha", "time", alpha_.extent[1], size.time);
    check_extent("alpha", "heads", alpha_.extent[2], size.heads);
  }

  sequence_view<Io const> value_;
  token_view<Io const> alpha_;
  Nodes nodes_;
};

}  // namespace wane
