// The recurrences of preconditioned_delta_net: A, how much of each row was written, and its memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/gates/log_of_complement.hpp"
#include "wane/operators/memories/fading_terms.hpp"
#include "wane/operators/memories/memory_with.hpp"

namespace wane::impl {

template <class Io>
struct preconditioned_tensors {
  token_view<Io const> strength, curvature_strength, curvature_log_decay;
  WANE_INLINE static void each(auto& of, auto const& visit) {
    visit(of_tokens(), "strength", of.strength);
    visit(of_tokens(), "curvature_strength", of.curvature_strength);
    visit(of_tokens(), "curvature_log_decay", of.curvature_log_decay);
  }
};

// M(A) = most^{-s}, s = r / (1 + |r|), r = log(A + epsilon) - center: between 1/most and most.
template <class T>
struct preconditioner {
  T most, log_most, center, epsilon;

  template <class V>
  WANE_INLINE V distance(V a) const {
    return natural_log(a + V(epsilon)) - V(center);
  }
  template <class V>
  WANE_INLINE V operator()(V a) const {
    V const r = distance(a), s = r / (V(T(1)) + magnitude(r));
    // s + 1 >= 0, so that the exponent is that of a decay.
    return V(most) * factor_of(decay_from_log(V(-log_most) * (s + V(T(1)))));
  }
  // dM/dA
  template <class V>
  WANE_INLINE V slope(V a) const {
    V const way = V(T(1)) + magnitude(distance(a));
    return V(-log_most) * (*this)(a) / (way * way * (a + V(epsilon)));
  }
  template <class V>
  WANE_INLINE static V magnitude(V r) {
    return at_least(r, -r);
  }
};

// A <- e^{curvature_log_decay} A + curvature_strength k^2, every row for itself, as channels.
template <class Io, class Gate, class Accumulate>
class preconditioned_leader {
  using memory = memory_with<preconditioned_tensors<Io>, Io, Gate, Accumulate>;
  using keyed = keyed_memory<Io, Accumulate>;

 public:
  using accumulate = Accumulate;
  static constexpr bool is_channelwise = true;

  // The memory, which gives its keys and the gates of A.
  struct source : memory {
    explicit source(memory const& of) : memory(of) {}
    WANE_INLINE Accumulate strength(place<> at) const {
      return static_cast<Accumulate>(this->own_.curvature_strength.read(at));
    }
    WANE_INLINE Accumulate log_decay(place<> at) const {
      return static_cast<Accumulate>(this->own_.curvature_log_decay.read(at));
    }
  };
  explicit preconditioned_leader(memory const& of) : source_(of) {}

  recurrence_shape shape() const {
    recurrence_shape shape = source_.shape();
    shape.columns = shape.rows, shape.rows = 1;
    return shape;
  }
  wane::layout layout() const {
    wane::layout all = source_.layout();
    all.tokens = all.series = false;
    return all;
  }

  struct token {
    typename keyed::terms x;
    Accumulate strength, of_all;

    WANE_INLINE auto value(auto j) const {
      auto const k = x.key(j);
      return multiply(decltype(k)(strength), multiply(k, k));
    }
    WANE_INLINE auto log_decay(index, auto j) const {
      return std::remove_const_t<decltype(x.key(j))>(of_all);
    }
  };
  WANE_INLINE token at(place<> where) const {
    return {source_.terms_at(where), source_.strength(where), source_.log_decay(where)};
  }

  // Of the drives and log decays of rows, [B, T, H, K].
  struct gradients {
    sequence_view<Accumulate> drive, decay;

    wane::layout layout() const { return layout_of(drive, decay); }
    struct sink {
      gradients const& to;
      place<> where;
      template <class V>
      WANE_INLINE void element(auto j, element_gradient<V> const& g) const {
        to.drive.write(where, j, g.value), to.decay.write(where, j, g.decay);
      }
    };
    WANE_INLINE sink at(place<> where) const { return {*this, where}; }
  };

 private:
  source source_;
};

// S <- D S + beta (M o k) (v - k^T D S)^T, D = diag(e^g), with M of the A that leads.
template <class Io, class Gate, class Accumulate>
class preconditioned_memory : public memory_with<preconditioned_tensors<Io>, Io, Gate, Accumulate> {
  using keyed = keyed_memory<Io, Accumulate>;
  using base = memory_with<preconditioned_tensors<Io>, Io, Gate, Accumulate>;

 public:
  preconditioned_memory(base const& of, preconditioner<Accumulate> const& scaling,
                        sequence_view<Accumulate const> const& leads)
      : base(of), scaling_(scaling), leads_(leads) {}

  preconditioner<Accumulate> const& scaling() const { return scaling_; }
  wane::layout layout() const {
    return leads_.data ? base::layout() & layout_of(leads_) : base::layout();
  }

  struct token : keyed::terms, fading_terms<Accumulate, Gate> {
    using keyed::terms::where;
    preconditioned_memory const& op;
    Accumulate strength;

    WANE_INLINE auto curvature(auto i) const { return op.leads_.read(where, i); }
    WANE_INLINE auto key(auto i) const {
      auto const k = keyed::terms::key(i);
      return multiply(multiply(k, decltype(k)(strength)), op.scaling_(curvature(i)));
    }
    WANE_INLINE auto erase_read(auto i) const {
      auto const k = keyed::terms::key(i);
      return multiply(k, decltype(k)(this->factor(i)));
    }
  };
  WANE_INLINE token at(place<> where) const {
    return {this->terms_at(where),
            {this->gate_, where},
            *this,
            static_cast<Accumulate>(this->own_.strength.read(where))};
  }

  // `key` and `curvature` receive those of the normalised keys and of A, [B, T, H, K].
  template <class Gradients>
  struct gradients {
    Gradients const& to;
    sequence_view<Accumulate> key, curvature;

    wane::layout layout() const { return layout_of(to.query, to.value, key, curvature); }

    struct sink {
      gradients const& of;
      preconditioned_memory const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { of.to.value.write(where, j, g); }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const x = op.at(where);
        decay_gradient<Gate, V> by_decay{g.whole.decay};
        row_sum<V> by_strength;
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const k = x.keyed::terms::key(i), a = x.curvature(i), by_key = row_at(g.key, i);
          using Row = std::remove_const_t<decltype(k)>;
          Row const m = op.scaling_(a), read = x.through_factor(i, row_at(g.erase_read, i));
          by_strength.add(m * k, by_key);
          by_decay.give(of.to.log_decay, where, i, row_at(g.decay, i), k, read);
          Row const by_write = Row(x.strength) * by_key;
          of.curvature.write(where, i, by_write * k * op.scaling_.slope(a));
          of.key.write(where, i, multiply_add(m, by_write, read));
        });
        op.give_rows(x, of.to.query, {}, g);
        of.to.strength.write(where, by_strength.total());
        by_decay.give(of.to.log_decay, where);
      }
    };
    WANE_INLINE sink at(preconditioned_memory const& op, place<> where) const {
      return {*this, op, where};
    }
  };

  // From the gradients of normalised keys, `key`, and of the drives and log decays of A, to those
  // of keys and of the curvature's gates.
  void give(place<> where, sequence_view<Accumulate> const& key,
            sequence_view<Accumulate> const& drive, sequence_view<Accumulate> const& decay,
            auto const& to) const {
    auto const x = this->terms_at(where);
    auto const strength = static_cast<Accumulate>(this->own_.curvature_strength.read(where));
    Accumulate by_strength(0), by_decay(0);
    for (index i = 0; i < key.extent[3]; ++i) {
      Accumulate const k = x.key(i), by_drive = drive.read(where, i);
      by_strength += k * k * by_drive, by_decay += decay.read(where, i);
      *key.element(where, i) += 2 * strength * k * by_drive;
    }
    to.curvature_strength.write(where, by_strength), to.curvature_log_decay.write(where, by_decay);
    this->give_row(x.shared(), where, this->in_.key, to.key, key.element(where, 0),
                   key.stride[3] == 1, x.key_factor);
  }

 private:
  preconditioner<Accumulate> scaling_;
  sequence_view<Accumulate const> leads_;
};

}  // namespace wane::impl
