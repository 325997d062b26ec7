// The recurrences of mesa_net: H, a decayed sum of squares of keys, and the memory read through it.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/operators/gates/memory_with.hpp"

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

// Of a state, K x K, the symmetric part counts.
template <class T>
void make_symmetric(view<T, 4> const& h, index sequence, index head) {
  for (index i = 0; i < h.extent[2]; ++i)
    for (index j = 0; j < i; ++j) {
      T &below = h(sequence, head, i, j), &above = h(sequence, head, j, i);
      below = above = (below + above) / 2;
    }
}
template <class T>
class symmetric_copy {
 public:
  explicit symmetric_copy(view<T const, 4> const& h) {
    if (!h.data) return;
    for (index n = 0; n < h.extent[0]; ++n)
      for (index head = 0; head < h.extent[1]; ++head)
        for (index i = 0; i < h.extent[2]; ++i)
          for (index j = 0; j < h.extent[3]; ++j) numbers_.push_back(h(n, head, i, j));
    copy_ = {numbers_.data(), h.extent[0], h.extent[1], h.extent[2], h.extent[3]};
    for (index n = 0; n < h.extent[0]; ++n)
      for (index head = 0; head < h.extent[1]; ++head) make_symmetric(copy_, n, head);
  }
  view<T const, 4> values() const { return copy_; }

 private:
  std::vector<T> numbers_;
  view<T, 4> copy_;
};

// H and the solution x of (H + diag(lambda)) x = q after every token, by the factor R^T R of the
// matrix. H stays symmetric: of an initial H the symmetric part counts. `asked` replaces q.
template <class Io, class Gate, class Accumulate>
class mesa_leader : public memory_with<mesa_tensors<Io>, Io, Gate, Accumulate> {
  using base = memory_with<mesa_tensors<Io>, Io, Gate, Accumulate>;
  using T = Accumulate;

 public:
  explicit mesa_leader(base const& of, sequence_view<T const> const& asked = {})
      : base(of), asked_(asked) {}

  recurrence_shape shape() const {
    recurrence_shape shape = base::shape();
    shape.columns = shape.rows;
    return shape;
  }
  index output_columns() const { return shape().rows; }

  // Allocates nothing up to 128 rows.
  void advance(place<> at, view<T, 2> const& state, auto const& write) const {
    index const K = state.extent[0];
    constexpr index few = 128;
    T on_stack[few * few + few];
    std::vector<T> in_heap(static_cast<std::size_t>(K > few ? K * K + K : 0));
    T* const factor = K > few ? in_heap.data() : on_stack;
    T* const x = factor + K * K;
    auto const token = this->terms_at(at);
    T const strength = static_cast<T>(this->own_.strength.read(at));
    auto const w = decay_from_log(gate_terms<T, Gate>(this->gate_, at).log_decay());
    for (index i = 0; i < K; ++i) x[i] = token.key(i);
    for (index i = 0; i < K; ++i)
      for (index j = i; j < K; ++j) {
        T const before = (state(i, j) + state(j, i)) / 2;
        factor[i * K + j] = state(i, j) = state(j, i) = carried(w, before, strength * x[i] * x[j]);
      }
    for (index i = 0; i < K; ++i) {
      factor[i * K + i] += static_cast<T>(this->own_.lambda(at.head, i));
      x[i] = asked_.data ? asked_.read(at, i) : token.query(i);
    }
    find_factor(factor, K);
    solve(factor, K, x);
    for (index i = 0; i < K; ++i) write(i, x[i]);
  }

 private:
  using vector = simd<T, simd_width<T>>;
  // to += factor from
  static void add(index count, T factor, T const* from, T* to) {
    index j = 0;
    for (; j + vector::width <= count; j += vector::width)
      multiply_add(vector(factor), vector::load(from + j), vector::load(to + j)).store(to + j);
    for (; j < count; ++j) to[j] = multiply_add(factor, from[j], to[j]);
  }
  // The upper triangle of a matrix becomes R.
  static void find_factor(T* r, index K) {
    using std::sqrt;
    for (index k = 0; k < K; ++k) {
      T* const row = r + k * K;
      T const over = T(1) / sqrt(row[k]);
      for (index j = k; j < K; ++j) row[j] *= over;
      for (index i = k + 1; i < K; ++i) add(K - i, -row[i], row + i, r + i * K + i);
    }
  }
  static void solve(T const* r, index K, T* x) {
    for (index k = 0; k < K; ++k) {
      x[k] /= r[k * K + k];
      add(K - k - 1, -x[k], r + k * K + k + 1, x + k + 1);
    }
    for (index k = K - 1; k >= 0; --k) {
      row_sum<T> found;
      for_row_lanes<T>(true, K - k - 1, [&](auto j) WANE_INLINE_LAMBDA {
        found.add(row_at(r + k * K + k + 1, j), row_at(x + k + 1, j));
      });
      x[k] = (x[k] - found.total()) / r[k * K + k];
    }
  }

  sequence_view<T const> asked_;
};

}  // namespace wane::impl
