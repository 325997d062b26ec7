// mesa_memory: the memory of mesa_net, read by given queries, and that of its keys' squares.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/memories/memory_with.hpp"

namespace wane::impl {

// strength, beta: [B, T, H]; lambda: [H, K], > 0.
template <class Io>
struct mesa_tensors {
  token_view<Io const> strength;
  view<widened<Io> const, 2> lambda;
  WANE_INLINE static void each(auto& of, auto const& visit) {
    visit(of_tokens(), "strength", of.strength), visit(of_heads(), "lambda", of.lambda);
  }
};

// Gradients of the terms of tokens, which several passes add up: of keys, [B, T, H, K], strengths
// and log decays, [B, T, H].
template <class T>
struct mesa_sums {
  sequence_view<T> key;
  token_view<T> strength, log_decay;
};

// S <- e^g S + beta k v^T, read by `leads`. Squares: H <- e^g H + beta k k^T.
template <class Io, class Gate, class Accumulate, bool Squares>
class mesa_memory : public memory_with<mesa_tensors<Io>, Io, Gate, Accumulate> {
  using keyed = keyed_memory<Io, Accumulate>;
  using base = memory_with<mesa_tensors<Io>, Io, Gate, Accumulate>;

 public:
  mesa_memory(base const& of, sequence_view<Accumulate const> const& leads)
      : base(of), leads_(leads) {}

  recurrence_shape shape() const {
    recurrence_shape shape = base::shape();
    if constexpr (Squares) shape.columns = shape.rows;
    return shape;
  }
  wane::layout layout() const {
    return leads_.data ? base::layout() & layout_of(leads_) : base::layout();
  }

  struct token : keyed::terms, gate_terms<Accumulate, Gate> {
    using keyed::terms::where;
    mesa_memory const& op;
    Accumulate strength;

    WANE_INLINE auto query(auto i) const { return op.leads_.read(where, i); }
    WANE_INLINE auto key(auto i) const {
      auto const k = keyed::terms::key(i);
      if constexpr (Squares)
        return k;
      else
        return multiply(k, decltype(k)(strength));
    }
    WANE_INLINE auto value(auto j) const {
      if constexpr (Squares) {
        auto const k = keyed::terms::key(j);
        return multiply(k, decltype(k)(strength));
      } else {
        return keyed::terms::value(j);
      }
    }
  };
  WANE_INLINE token at(place<> where) const {
    return {this->terms_at(where),
            {this->gate_, where},
            *this,
            static_cast<Accumulate>(this->own_.strength.read(where))};
  }

  // From the gradients of a token's terms, `of_query` and `sums`, to those of query and key.
  void give(place<> where, sequence_view<Accumulate> const& of_query,
            mesa_sums<Accumulate> const& sums, auto const& to) const {
    auto const x = this->terms_at(where);
    bool const in_lanes = of_query.stride[3] == 1;
    this->give_row(x.shared(), where, this->in_.query, to.query, of_query.element(where, 0),
                   in_lanes, x.query_factor, this->scale_);
    this->give_row(x.shared(), where, this->in_.key, to.key, sums.key.element(where, 0), in_lanes,
                   x.key_factor);
  }

  // `query` is that of the leads; absent where it is not wanted.
  struct gradients {
    sequence_view<Io> value;
    sequence_view<Accumulate> query;
    mesa_sums<Accumulate> sums;

    wane::layout layout() const { return layout_of(value, query, sums.key); }

    struct sink {
      gradients const& to;
      mesa_memory const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const {
        if constexpr (Squares) {
          token const x = op.at(where);
          using V = decltype(g);
          V const k = x.keyed::terms::key(j);
          to.sums.key.write(where, j,
                            multiply_add(V(x.strength), g, V(to.sums.key.read(where, j))));
          add(to.sums.strength, sum_of(k * g));
        } else {
          to.value.write(where, j, g);
        }
      }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const x = op.at(where);
        V by_strength(0);
        for (index i = 0; i < g.rows; ++i) {
          V& sum = *to.sums.key.element(where, i);
          sum += Squares ? g.key[i] : x.strength * g.key[i];
          by_strength += g.key[i] * x.keyed::terms::key(i);
          to.query.write(where, i, g.query[i]);
        }
        if constexpr (!Squares) add(to.sums.strength, by_strength);
        add(to.sums.log_decay, g.whole.decay);
      }

     private:
      WANE_INLINE void add(token_view<Accumulate> const& total, Accumulate g) const {
        *total.element(where) += g;
      }
      template <class V>
      WANE_INLINE static Accumulate sum_of(V x) {
        if constexpr (std::is_same_v<V, Accumulate>)
          return x;
        else
          return impl::sum(x);
      }
    };
    WANE_INLINE sink at(mesa_memory const& op, place<> where) const { return {*this, op, where}; }
  };

 private:
  sequence_view<Accumulate const> leads_;
};

}  // namespace wane::impl
