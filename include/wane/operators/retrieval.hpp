// retrieval: values found by key, each under a power law of its own order (VORT).
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/operators/parts/column_of_ones.hpp"
#include "wane/operators/parts/keyed.hpp"
#include "wane/spectra/orders/order_table.hpp"

namespace wane {

// The divisor of the sums of values: none, the same sums of ones (decayed), or sums of ones without
// decay (undecayed: wane/operators/undecayed_retrieval.hpp).
enum class normaliser { none, decayed, undecayed };

// Whether a token reads its own write (VORT, eq. 14) or only earlier ones (eq. 13).
enum class own_token { included, excluded };

// query, key: features phi, [B, T, G, F] (feature_maps.hpp); with denominators phi(q) . phi(k) >=
// 0. value: v, [B, T, H, V]. alpha: [B, T, H], in [least, 1] of the nodes; orders more than 1/128
// outside give NaN.
template <class Io>
struct retrieval_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"alpha", token_view<Io const>> alpha = {};
};

struct retrieval_options {
  keyed_options keys = {};  // an absent scale is 1
  own_token own = own_token::included;
  double floor = 1e-10;  // the least denominator

  // `keys` with its scale filled in.
  keyed_options of_keys() const {
    keyed_options all = keys;
    all.scale = all.scale.value_or(1);
    return all;
  }
};

// y_t = n_t, or with normaliser::decayed n_t / max(d_t, floor), where
//   n_t = sum_{i <= t} phi(q_t) . phi(k_i) w_{t-i}(alpha_i) v_i, with the weights w of retention,
// and d_t is the same sum with 1 in place of v_i (VORT, eq. 14 to 16). Computed as
//   G_{t,(s,f)} = e^{-r_s} G_{t-1,(s,f)} + c_s(alpha_t) phi(k_t)_f v_t^T
//   n_t = sum_s phi(q_t)^T e^{-r_s} G_{t-1,s} + w_0(alpha_t) phi(q_t) . phi(k_t) v_t
// The state is [B, H, S F, V], S nodes of F features each; with denominators it has one more
// column, for a value of 1. With own_token::excluded the sums are over i < t, and n_t has no second
// part.
//
//   wane::retrieval<float> const memory(
//       {.query = phi_q, .key = phi_k, .value = v, .alpha = alpha}, weights.table());
//   wane::run(memory, y);
//
// nodes: the table of spectra::order_weights or order_banks, or other order_nodes. The paper adds
// epsilon_0 to denominators; here `floor` bounds them from below, as in linear_attention.
template <class Io, normaliser Normaliser = normaliser::decayed, class Accumulate = widened<Io>,
          spectra::order_nodes<Accumulate> Nodes = spectra::order_table<Accumulate>>
class retrieval : public impl::keyed_memory<Io, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;
  using limits = std::numeric_limits<Accumulate>;
  using order = decltype(std::declval<Nodes const&>().at(Accumulate()));
  static constexpr bool divides = Normaliser != normaliser::none;
  static_assert(Normaliser != normaliser::undecayed,
                "wane::retrieval: normaliser::undecayed is a quotient of two recurrences; include "
                "wane/operators/undecayed_retrieval.hpp");

 public:
  static constexpr bool has_constant_decays = true;

  // Throws wane::error when the shapes do not fit, an option is out of range, or there are no
  // nodes.
  retrieval(retrieval_inputs<Io> const& in, Nodes const& nodes,
            retrieval_options const& options = {})
      : keyed(impl::keyed_tensors_of<Io>(in), options.of_keys()),
        alpha_(in.alpha),
        nodes_(nodes),
        floor_(static_cast<Accumulate>(options.floor)),
        own_(options.own) {
    require(nodes.present(),
            "the nodes of retrieval are empty; they must be those of spectra::order_weights or "
            "spectra::order_banks");
    require(floor_ >= (limits::min)() && floor_ <= (limits::max)(), "floor is ", options.floor,
            "; it must be finite and at least ", (limits::min)());
  }

  // Throws wane::error for a tensor that does not fit or has no data. Called by every run.
  void check_inputs() const {
    keyed::check_inputs();
    check("alpha", alpha_, keyed::shape());
  }

  // The shape of the state; outputs have the columns of value.
  WANE_HOST_DEVICE recurrence_shape shape() const {
    recurrence_shape size = keyed::shape();
    size.rows *= nodes_.nodes(), size.columns += divides;
    return size;
  }
  WANE_HOST_DEVICE Accumulate floor() const requires divides { return floor_; }

  struct token {
    static constexpr bool is_strictly_causal = true;

    retrieval const& op;
    typename keyed::terms features;
    order of;
    Accumulate own;

    WANE_INLINE auto log_decay(auto row) const {
      return op.at_node(row, [&](index s, auto f) WANE_INLINE_LAMBDA {
        return decltype(features.key(f))(op.nodes_.log_decay.read(place<>{}, s));
      });
    }
    WANE_INLINE auto key(auto row) const {
      return op.at_node(row, [&](index s, auto f) WANE_INLINE_LAMBDA {
        auto const k = features.key(f);
        return multiply(k, decltype(k)(of.weight(s)));
      });
    }
    WANE_INLINE auto query(auto row) const {
      return op.at_node(row, [&](index, auto f) WANE_INLINE_LAMBDA { return features.query(f); });
    }
    WANE_INLINE auto value(auto j) const {
      auto const values = [&](auto n) WANE_INLINE_LAMBDA { return features.value(n); };
      if constexpr (divides)
        return impl::value_or_one<Accumulate>(op.in_.value.extent[3], j, values);
      else
        return values(j);
    }
    WANE_INLINE Accumulate direct() const { return own; }
  };
  WANE_INLINE token at(place<> where) const {
    token x{*this, this->terms_at(where), nodes_.at(static_cast<Accumulate>(alpha_.read(where))),
            Accumulate(0)};
    if (own_ == own_token::included)
      x.own = sum([&](index s) WANE_INLINE_LAMBDA { return x.of.weight(s); }) * x.features.match();
    return x;
  }

  // The operator on other memory; see wane/core/recurrence/recurrence.hpp.
  template <class Moved>
  requires(!divides) WANE_HOST_DEVICE retrieval with_tensors(Moved const& moved)
  const {
    retrieval op = *this;
    op.in_ = {moved.whole(this->in_.query), moved.whole(this->in_.key),
              moved.by_column(this->in_.value)};
    op.alpha_ = moved.whole(alpha_), op.nodes_ = nodes_.with_tensors(moved);
    return op;
  }

  // Any may be absent.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"alpha", token_view<Io>> alpha = {};

    void check(retrieval const& op) const {
      impl::check_keyed(*this, op.keyed::shape());
      check_if_present("the gradient of alpha", alpha, op.shape());
    }
    wane::layout layout() const { return layout_of(query, key, value); }

    struct sink {
      gradients const& to;
      retrieval const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const {
        if constexpr (divides)
          impl::write_before_ones(to.value, where, j, g);
        else
          to.value.write(where, j, g);
      }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        op.give_terms(op.at(where), where, to, g);
      }
    };
    WANE_INLINE sink at(retrieval const& op, place<> where) const { return {*this, op, where}; }
  };

 private:
  // of(s, f) for row s F + f, which belongs to node s and feature f. Lanes of rows give lanes of
  // features; lanes that span two nodes are computed one by one.
  template <class Row>
  WANE_INLINE auto at_node(Row row, auto const& of) const {
    index const features = this->in_.key.extent[3];
    if constexpr (std::integral<Row>) {
      return of(row / features, row % features);
    } else {
      index const s = row.first / features;
      Row f = row;
      f.first -= s * features;
      if (f.first + lane_count(f) <= features) return of(s, f);
      decltype(of(s, f)) each(Accumulate(0));
      for (int l = 0; l < lane_count(row); ++l) each.v[l] = at_node(row.first + l, of);
      return each;
    }
  }

  // The sum at lag 0: over all nodes and the direct term behind them.
  WANE_INLINE Accumulate sum(auto const& of_node) const {
    Accumulate total(0);
    for (index s = 0; s <= nodes_.nodes(); ++s) total = total + of_node(s);
    return total;
  }

  // With g_s the gradient of the key of node s: dL/dc_s = phi(k) . g_s and dL/dphi(k) = sum_s c_s
  // g_s. dL/dphi(q) is the sum of the gradients of the queries. The own token adds to each of them.
  template <class V>
  WANE_INLINE void give_terms(token const& x, place<> where, gradients const& to,
                              all_gradients<V> const& g) const {
    index const features = this->in_.key.extent[3];
    V by_alpha(0), by_match(0);
    if (own_ == own_token::included) {
      by_alpha = sum([&](index s) { return x.of.slope(s); }) * x.features.match() * g.whole.direct;
      by_match = sum([&](index s) { return x.of.weight(s); }) * g.whole.direct;
    }
    for (index s = 0; s < nodes_.nodes(); ++s) {
      V const weight = x.of.weight(s);
      V const *key = g.key + s * features, *query = g.query + s * features;
      row_sum<V> by_weight;
      for_row_lanes<V>(g.in_lanes, features, [&](auto f) WANE_INLINE_LAMBDA {
        auto const k = x.features.key(f), q = x.features.query(f), by_key = row_at(key, f);
        using Row = std::remove_const_t<decltype(k)>;
        by_weight.add(k, by_key);
        set_row(g.key, f,
                multiply_add(Row(weight), by_key, s ? row_at(g.key, f) : Row(by_match) * q));
        set_row(g.query, f, row_at(query, f) + (s ? row_at(g.query, f) : Row(by_match) * k));
      });
      by_alpha = multiply_add(V(x.of.slope(s)), by_weight.total(), by_alpha);
    }
    this->give_rows(x.features, to.query, to.key, g);
    to.alpha.write(where, by_alpha);
  }

  token_view<Io const> alpha_;
  Nodes nodes_;
  Accumulate floor_;
  own_token own_;
};

}  // namespace wane
