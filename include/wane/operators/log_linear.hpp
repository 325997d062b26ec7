// log_linear: gated linear attention whose past lies in levels, each with a weight of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/memories/gated.hpp"
#include "wane/operators/parts/fenwick_level.hpp"

namespace wane {

// level_scale, lambda: [B, T, H, L], L levels; the others as in keyed_inputs.
template <class Io>
struct log_linear_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"level_scale", sequence_view<Io const>> level_scale = {};
};

// y_t = scale sum_{j<=t} lambda_t[level(t, j)] e^{g_{j+1} + ... + g_t} (q_t . k_j) v_j
// (Guo et al. 2025, "Log-Linear Attention", on the memory of Mamba-2 and simple GLA.)
//
//   wane::log_linear const memory({.query = q, .key = k, .value = v, .level_scale = lambda}, g);
//   wane::run(memory, y);
//
// With t and j from 0, level 0 is the token itself. Level l covers the 2^(l-1) tokens before t, its
// lower l - 1 bits cleared, if bit l - 1 of t is set: the intervals of a Fenwick tree, so that all
// tokens before t lie in one level each. L levels reach over 2^(L-1) tokens; what lies before the
// last multiple of so many is forgotten. 2^(l-1) tokens write level l, and the next 2^(l-1) read
// it. log_decay: g, [B, T, H], or a gate of heads. The state is [B, H, (L - 1) K, V], and counts
// positions.
template <class Io, head_gate Gate = token_view<Io const>, class Accumulate = widened<Io>>
class log_linear : public impl::gated_memory<Io, Gate, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;
  using gated = impl::gated_memory<Io, Gate, Accumulate>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  log_linear(std::type_identity_t<log_linear_inputs<Io>> const& in, Given const& log_decay,
             keyed_options const& options = {})
      : gated(impl::keyed_tensors_of<Io>(in), impl::gate_from<Gate>(log_decay), options),
        level_scale_(in.level_scale) {
    impl::check_given("level_scale", level_scale_);
    require(levels() >= 2 && levels() <= 62, "level_scale has channels ", levels(),
            "; there must be 2 to 62 levels");
  }

  void check_inputs() const {
    gated::check_inputs();
    recurrence_shape scales = gated::shape();
    scales.columns = levels();
    check("level_scale", level_scale_, scales);
  }
  bool counts_positions() const { return true; }

  WANE_HOST_DEVICE recurrence_shape shape() const {
    recurrence_shape shape = gated::shape();
    shape.rows *= levels() - 1;
    return shape;
  }
  // Rows lie in lanes where a vector of them is of one level.
  wane::layout layout() const {
    wane::layout all = gated::layout();
    if constexpr (fits_simd<Accumulate>)
      all.columns = all.columns && keys() % simd_width<Accumulate> == 0;
    return all;
  }

  template <class Moved>
  WANE_HOST_DEVICE void move_tensors(Moved const& moved) {
    gated::move_tensors(moved), level_scale_ = moved.whole(level_scale_);
  }

  struct token : keyed::terms {
    using keyed::terms::where;
    log_linear const& op;
    Accumulate of_head, own;

    WANE_INLINE auto log_decay(auto i) const {
      level const of = level_of(i);
      using Row = std::remove_const_t<decltype(keyed::terms::key(of.row))>;
      return of.begins() ? Row(-std::numeric_limits<Accumulate>::infinity()) : Row(of_head);
    }
    WANE_INLINE auto key(auto i) const {
      level const of = level_of(i);
      auto const k = keyed::terms::key(of.row);
      return of.is_read() ? decltype(k)(Accumulate(0)) : k;
    }
    WANE_INLINE auto query(auto i) const {
      level const of = level_of(i);
      auto const q = keyed::terms::query(of.row);
      return multiply(q, decltype(q)(of.is_read() ? op.scale_at(where, of.number) : Accumulate(0)));
    }
    WANE_INLINE Accumulate direct() const { return own; }

    // The level of rows of the state, and the rows of a key that they are.
    template <class Rows>
    struct level : impl::fenwick_level {
      Rows row;
    };
    template <class Rows>
    WANE_INLINE level<Rows> level_of(Rows i) const {
      index const K = op.keys();
      if constexpr (std::integral<Rows>) {
        return {{i / K + 1, where.position - 1}, i % K};
      } else {
        index const number = i.first / K;
        i.first -= number * K;
        return {{number + 1, where.position - 1}, i};
      }
    }
  };
  template <class Sums = own_sums>
  WANE_INLINE token at(place<> where, Sums const& sums = {}) const {
    token x{this->terms_at(where, sums), *this,
            impl::gate_terms<Accumulate, Gate>(this->gate_, where).log_decay(), Accumulate(0)};
    x.own = scale_at(where, 0) * x.match();
    return x;
  }

  // Any may be absent; log_decay has the shape of the gate.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"level_scale", sequence_view<Io>> level_scale = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(log_linear const& op) const {
      recurrence_shape shape = op.gated::shape();
      impl::check_keyed(*this, shape);
      impl::check_gate_gradient(log_decay, shape);
      shape.columns = op.levels();
      check_if_present("the gradient of level_scale", level_scale, shape);
    }
    wane::layout layout() const { return layout_of(query, key, value); }

    struct sink {
      gradients const& to;
      log_linear const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { to.value.write(where, j, g); }
      // The rows of all levels are added up into those of the first.
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const x = op.at(where);
        index const K = op.keys();
        V by_decay(0);
        for (index i = 0; i < g.rows; ++i) by_decay += g.decay[i];
        to.log_decay.write(where, by_decay);
        to.level_scale.write(where, index{0}, g.whole.direct * x.match());
        V const own = g.whole.direct * op.scale_at(where, 0);
        for (index l = 1; l < op.levels(); ++l) {
          V sum(0);
          bool const reads = x.level_of((l - 1) * K).is_read();
          for (index i = 0; reads && i < K; ++i)
            sum += x.keyed::terms::query(i) * g.query[(l - 1) * K + i];
          to.level_scale.write(where, l, sum);
        }
        for (index i = 0; i < K; ++i) {
          V by_key = own * x.keyed::terms::query(i), by_query = own * x.keyed::terms::key(i);
          for (index l = 1; l < op.levels(); ++l) {
            index const n = (l - 1) * K + i;
            if (x.level_of(n).is_read())
              by_query = multiply_add(op.scale_at(where, l), g.query[n], by_query);
            else
              by_key += g.key[n];
          }
          g.key[i] = by_key, g.query[i] = by_query;
        }
        op.give_rows(x, to.query, to.key, g);
      }
    };
    WANE_INLINE sink at(log_linear const& op, place<> where) const { return {*this, op, where}; }
  };

 private:
  WANE_HOST_DEVICE index levels() const { return level_scale_.extent[3]; }
  WANE_HOST_DEVICE index keys() const { return this->in_.key.extent[3]; }
  WANE_INLINE Accumulate scale_at(place<> where, index level) const {
    return static_cast<Accumulate>(level_scale_.read(where, level));
  }

  sequence_view<Io const> level_scale_;
};

template <class Gate>
log_linear(log_linear_inputs<impl::deduced_number<Gate>> const&, Gate const&,
           keyed_options const& = {})
    -> log_linear<impl::deduced_number<Gate>,
                  impl::deduced_gate_of_heads<Gate, impl::deduced_number<Gate>>>;
template <class Io, impl::other_gate<Io> Gate>
log_linear(log_linear_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> log_linear<Io, impl::deduced_gate_of_heads<Gate, Io>>;

}  // namespace wane
