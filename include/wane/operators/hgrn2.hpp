// hgrn2: a gated memory whose key is what its gate forgets.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/gla.hpp"

namespace wane {

// query: [B, T, G, K], value: [B, T, H, V]; G divides H.
template <class Io>
struct hgrn2_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"value", sequence_view<Io const>> value = {};
};

}  // namespace wane

namespace wane::impl {

// The inputs of gla, whose keys the token of hgrn2 replaces. Throws wane::error unless query is
// [B, T, G, K] with G dividing the heads of value.
template <class Io>
keyed_inputs<Io> without_keys(hgrn2_inputs<Io> const& in) {
  check_given("query", in.query), check_given("value", in.value);
  index const groups = in.query.extent[2], heads = in.value.extent[2];
  require(groups > 0 && heads % groups == 0, "query has heads ", groups,
          "; their number must divide that of value, ", heads);
  check_extent("query", "batch", in.query.extent[0], in.value.extent[0]);
  check_extent("query", "time", in.query.extent[1], in.value.extent[1]);
  return {.query = in.query, .key = in.query, .value = in.value};
}

}  // namespace wane::impl

namespace wane {

// S_t = diag(e^{g_t}) S_{t-1} + (1 - e^{g_t}) v_t^T,   y_t = scale S_t^T q_t
// (Qin et al. 2024, 'HGRN2': the forget gate is e^g, the input gate 1 - e^g.)
//
//   wane::hgrn2 const memory({.query = q, .value = v}, log_decay);
//   wane::run(memory, y);
//
// log_decay: g, [B, T, H, K], or a gate of rows (wane/operators/gates/gates.hpp). The state is
// [B, H, K, V]. Queries alone are normalised where the options say so.
template <class Io, row_gate Gate = sequence_view<Io const>, class Accumulate = widened<Io>>
class hgrn2 : public gla<Io, Gate, Accumulate> {
  using memory = gla<Io, Gate, Accumulate>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  hgrn2(std::type_identity_t<hgrn2_inputs<Io>> const& in, Given const& log_decay,
        keyed_options const& options = {})
      : memory(impl::without_keys(in), impl::gate_from<Gate>(log_decay), options) {}

  template <class Moved>
  WANE_HOST_DEVICE void move_tensors(Moved const& moved) {
    auto& in = this->in_;
    in.query = in.key = moved.whole(in.query), in.value = moved.by_column(in.value);
    impl::move_gate(this->gate_, moved);
  }

  struct token : memory::token {
    // With e^g = whole + rest nothing is lost where g is small: whole is then 1.
    WANE_INLINE auto key(auto i) const {
      auto const w = decay_from_log(this->log_decay(i));
      using Row = std::remove_const_t<decltype(w.rest)>;
      return (Row(Accumulate(1)) - w.whole) - w.rest;
    }
  };
  template <class Sums = own_sums>
  WANE_INLINE token at(place<> where, Sums const& sums = {}) const {
    return {memory::at(where, sums)};
  }

  // Any may be absent; log_decay has the shape of the gate.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(recurrence_shape const& shape) const {
      check_if_present("the gradient of query", query, shape_of_rows(shape));
      check_if_present("the gradient of value", value, shape);
      impl::check_gate_gradient(log_decay, shape);
    }
    wane::layout layout() const {
      return layout_of(query, value) & impl::layout_of_gate(log_decay);
    }

    struct sink {
      gradients const& to;
      hgrn2 const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { to.value.write(where, j, g); }
      // g decides the decay and, by d(1 - e^g) = -e^g dg, the key.
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const of = op.at(where);
        op.give_rows(of, to.query, {}, g);
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const by_key = row_at(g.key, i);
          auto const factor = factor_of(decay_from_log(of.log_decay(i)));
          to.log_decay.write(where, i, row_at(g.decay, i) - multiply(factor, by_key));
        });
      }
    };
    WANE_INLINE sink at(hgrn2 const& op, place<> where) const { return {*this, op, where}; }
  };
};

template <class Gate>
hgrn2(hgrn2_inputs<impl::deduced_number<Gate>> const&, Gate const&, keyed_options const& = {})
    -> hgrn2<impl::deduced_number<Gate>,
             impl::deduced_gate_of_rows<Gate, impl::deduced_number<Gate>>>;
template <class Io, impl::other_gate<Io> Gate>
hgrn2(hgrn2_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> hgrn2<Io, impl::deduced_gate_of_rows<Gate, Io>>;

}  // namespace wane
