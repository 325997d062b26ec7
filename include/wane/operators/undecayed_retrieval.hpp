// retrieval with decaying values and denominators without decay, a quotient (VORT, eq. 13).
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/state/pair.hpp"
#include "wane/operators/retrieval.hpp"

namespace wane::impl {

// d_t = phi(q_t) . z_t, z_t = sum phi(k_i) over i <= t or, without the own token, i < t. The state
// is [B, H, F, 1]. Of the value only the number of heads is used.
template <class Io, class Accumulate = widened<Io>>
class match_sum : public keyed_memory<Io, Accumulate> {
  using keyed = keyed_memory<Io, Accumulate>;

 public:
  match_sum(keyed_tensors<Io> const& in, keyed_options const& options, own_token own)
      : keyed(in, options), own_(own == own_token::included ? 1 : 0) {}

  WANE_HOST_DEVICE recurrence_shape shape() const {
    recurrence_shape size = keyed::shape();
    size.columns = 1;
    return size;
  }

  // The factor of the own token in d_t: 1 or 0.
  WANE_INLINE Accumulate own() const { return own_; }

  struct token {
    static constexpr bool is_strictly_causal = true;

    match_sum const& op;
    typename keyed::terms features;

    WANE_INLINE auto key(auto i) const { return features.key(i); }
    WANE_INLINE auto query(auto i) const { return features.query(i); }
    WANE_INLINE auto value(auto j) const {
      if constexpr (std::integral<decltype(j)>)
        return Accumulate(1);
      else
        return simd<Accumulate, decltype(j)::width>(Accumulate(1));
    }
    WANE_INLINE Accumulate direct() const {
      return op.own_ == Accumulate(0) ? op.own_ : op.own_ * features.match();
    }
  };
  WANE_INLINE token at(place<> where) const { return {*this, this->terms_at(where)}; }

 private:
  Accumulate own_;
};

}  // namespace wane::impl

namespace wane {

//   using wane::normaliser;
//   wane::retrieval<float, normaliser::undecayed> const memory(
//       {.query = phi_q, .key = phi_k, .value = v, .alpha = alpha}, nodes);
//
// y_t = n_t / max(d_t, floor), with the n_t of retrieval and d_t = sum_i phi(q_t) . phi(k_i), both
// over i <= t or, without the own token, i < t (VORT, eq. 13). Inputs, options and errors are those
// of retrieval. The state is a pair: that of n, [S F, V], and then z, [F, 1].
template <class Io, class Accumulate, spectra::order_nodes<Accumulate> Nodes>
class retrieval<Io, normaliser::undecayed, Accumulate, Nodes>
    : public quotient_of<retrieval<Io, normaliser::none, Accumulate, Nodes>,
                         impl::match_sum<Io, Accumulate>> {
  using numerator = retrieval<Io, normaliser::none, Accumulate, Nodes>;
  using denominator = impl::match_sum<Io, Accumulate>;

 public:
  // Throws wane::error when the shapes do not fit, an option is out of range, or there are no
  // nodes.
  retrieval(retrieval_inputs<Io> const& in, Nodes const& nodes,
            retrieval_options const& options = {})
      : quotient_of<numerator, denominator>(
            numerator(in, nodes, options),
            denominator(impl::keyed_tensors_of<Io>(in), options.of_keys(), options.own),
            options.floor) {}

  // Any may be absent.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"alpha", token_view<Io>> alpha = {};

    void check(retrieval const& op) const { of_numerator().check(op.first()); }
    wane::layout layout() const { return of_numerator().layout(); }
    // Those of the numerator alone.
    typename numerator::gradients of_numerator() const {
      return {.query = query, .key = key, .value = value, .alpha = alpha};
    }
  };

 private:
  // Numerator and denominator share queries and keys. The gradients from the denominator are held,
  // [B, T, H, 2 F] in the accumulating type, until those from the numerator are added.
  struct shared_gradients {
    using memory = sequence_view<Accumulate>;

    struct of_denominator {
      memory held;
      wane::layout in_memory;

      wane::layout layout() const { return in_memory; }
      struct sink {
        of_denominator const& to;
        denominator const& op;
        place<> where;

        template <class V>
        WANE_INLINE void all(all_gradients<V> const& g) const {
          auto const x = op.at(where);
          V const own = op.own() * g.whole.direct;
          V *query = to.held.element(where, 0), *key = query + g.rows;
          for_row_lanes<V>(g.in_lanes, g.rows, [&](auto f) WANE_INLINE_LAMBDA {
            auto const q = x.query(f), k = x.key(f);
            using Row = std::remove_const_t<decltype(q)>;
            set_row(query, f, multiply_add(Row(own), k, row_at(g.query, f)));
            set_row(key, f, multiply_add(Row(own), q, row_at(g.key, f)));
          });
        }
      };
      WANE_INLINE sink at(denominator const& op, place<> where) const { return {*this, op, where}; }
    };

    // The chain rule of the numerator leaves its sums over nodes in the rows of the first node.
    struct of_numerator {
      gradients to;
      memory held;

      wane::layout layout() const { return to.layout(); }
      struct sink {
        of_numerator const& all_of;
        numerator const& op;
        place<> where;

        WANE_INLINE void column(auto j, auto g) const { all_of.to.value.write(where, j, g); }
        template <class V>
        WANE_INLINE void all(all_gradients<V> const& g) const {
          typename numerator::gradients const only_alpha{.alpha = all_of.to.alpha};
          only_alpha.at(op, where).all(g);
          index const features = all_of.held.extent[3] / 2;
          V const *query = all_of.held.element(where, 0), *key = query + features;
          for_row_lanes<V>(g.in_lanes, features, [&](auto f) WANE_INLINE_LAMBDA {
            set_row(g.query, f, row_at(g.query, f) + row_at(query, f));
            set_row(g.key, f, row_at(g.key, f) + row_at(key, f));
          });
          op.give_rows(op.terms_at(where), all_of.to.query, all_of.to.key, g);
        }
      };
      WANE_INLINE sink at(numerator const& op, place<> where) const { return {*this, op, where}; }
    };

    std::vector<Accumulate> numbers;
    of_numerator first;
    of_denominator second;

    shared_gradients(recurrence_shape const& s, gradients const& to)
        : numbers(static_cast<std::size_t>(s.batch * s.time * s.heads * 2 * s.rows)),
          first{to, {numbers.data(), s.batch, s.time, s.heads, 2 * s.rows}},
          second{first.held, to.layout()} {}
    shared_gradients(shared_gradients const&) = delete;
  };

 public:
  shared_gradients of_parts(gradients const& to) const {
    return shared_gradients(this->second().shape(), to);
  }
};

}  // namespace wane
