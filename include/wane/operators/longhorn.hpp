// longhorn: a selective scan that decays by element as the implicit step of an online learner.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/operators/gates/log_of_complement.hpp"
#include "wane/operators/parts/channel_parameter.hpp"
#include "wane/operators/parts/keyed.hpp"

namespace wane {

// query, key: [B, T, G, K], value and beta: [B, T, H, V], most often with H = 1; G divides H. D and
// beta_bias: [H, V]; both may be absent.
template <class Io>
struct longhorn_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"beta", sequence_view<Io const>> beta = {};
  impl::named<"D", view<widened<Io> const, 2>> D = {};
  impl::named<"beta_bias", view<widened<Io> const, 2>> beta_bias = {};
};

struct longhorn_options {
  // true: the step is sigmoid(beta + beta_bias); false: beta + beta_bias, which must be 0 or more.
  bool sigmoid = false;
};

// s_ij <- (1 - e_j k_i^2) s_ij + e_j k_i x_j,   e_j = beta_j / (1 + beta_j |k|^2),
// y_j = sum_i q_i s_ij + D_j x_j                     (Liu et al. 2024, 'Longhorn')
//
//   wane::longhorn<float> const memory({.query = q, .key = k, .value = x, .beta = dt},
//                                      {.sigmoid = true});
//   wane::run(memory, y);
//
// The state is [B, H, K, V]. |k|^2 must not overflow.
template <class Io, class Accumulate = widened<Io>>
class longhorn : public impl::keyed_memory<Io, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;
  template <impl::name Name>
  using parameter_gradient =
      impl::parameter_gradient<Name, view<widened<Io>, 2>, sequence_view<Accumulate>>;

 public:
  // Throws wane::error when the shapes do not fit.
  longhorn(longhorn_inputs<Io> const& in, longhorn_options const& options = {})
      : keyed(impl::keyed_tensors_of<Io>(in), {.scale = 1}),
        beta_(in.beta),
        D_(in.D),
        bias_(in.beta_bias),
        sigmoid_(options.sigmoid) {
    impl::check_given("beta", beta_);
  }

  // Throws wane::error for a tensor that is missing or does not fit. Called by every run.
  void check_inputs() const {
    keyed::check_inputs();
    check("beta", beta_, this->shape());
    D_.check("D", this->shape()), bias_.check("beta_bias", this->shape());
  }
  wane::layout layout() const {
    return keyed::layout() & layout_of(beta_) & D_.layout() & bias_.layout();
  }

  // A token in column j, or in lanes of columns.
  template <class V>
  struct column_token : keyed::terms {
    longhorn const& op;
    V beta, step, x;  // step: e

    // e k_i^2, the part of row i that is forgotten.
    WANE_INLINE V forgotten(index i) const {
      Accumulate const k = keyed::terms::key(i);
      return multiply(step, V(multiply(k, k)));
    }
    WANE_INLINE V log_decay(index i, auto) const { return impl::log_of_complement(forgotten(i)); }
    WANE_INLINE wane::split_decay<V> split_decay(index i, auto) const {
      V const u = forgotten(i), half = V(Accumulate(0.5)), zero = V(Accumulate(0));
      V const one = V(Accumulate(1));
      return {where_below(half, u, one - u, one), where_below(half, u, zero, -u)};
    }
    WANE_INLINE V value(auto) const { return multiply(step, x); }
    WANE_INLINE V skip(auto j) const {
      return op.D_.present() ? multiply(op.D_.template read<Accumulate>(this->where.head, j), x)
                             : V(Accumulate(0));
    }
  };
  struct token : keyed::terms {
    longhorn const& op;
    Accumulate square;  // |k|^2

    WANE_INLINE auto at_column(auto j) const {
      auto const x = keyed::terms::value(j);
      using V = std::remove_const_t<decltype(x)>;
      V const one = V(Accumulate(1)), beta = op.step_of(this->where, j).beta;
      return column_token<V>{*this, op, beta, beta / multiply_add(beta, V(square), one), x};
    }
    WANE_INLINE auto log_decay(index i, auto j) const { return at_column(j).log_decay(i, j); }
    WANE_INLINE auto split_decay(index i, auto j) const { return at_column(j).split_decay(i, j); }
    WANE_INLINE auto value(auto j) const { return at_column(j).value(j); }
    WANE_INLINE auto skip(auto j) const { return at_column(j).skip(j); }
  };
  WANE_INLINE token at(place<> where) const {
    auto const x = this->terms_at(where);
    auto const key = [&](auto i) WANE_INLINE_LAMBDA { return x.key(i); };
    auto const& k = this->in_.key;
    return {x, *this, own_sums::dot<Accumulate>(k.stride[3] == 1, k.extent[3], key, key)};
  }

  // Any may be absent. query and key have the H heads of value; sum_over_groups() adds up those of
  // a group.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"beta", sequence_view<Io>> beta = {};
    parameter_gradient<"D"> D = {};
    parameter_gradient<"beta_bias"> beta_bias = {};

    void check(recurrence_shape const& shape) const {
      impl::check_keyed(*this, shape);
      check_if_present("the gradient of beta", beta, shape);
    }
    wane::layout layout() const {
      return layout_of(query, key, value, beta, D.parts, beta_bias.parts);
    }
    static void each_parameter(auto& of, recurrence_shape const& shape, auto const& visit) {
      visit(of.D, shape.heads, shape.columns), visit(of.beta_bias, shape.heads, shape.columns);
    }

    struct sink {
      static constexpr bool sums_decays = true;
      gradients const& to;
      longhorn const& op;
      place<> where;

      // With u = e k_i^2 and de/dbeta = (e / beta)^2, de/d|k|^2 = -e^2. What each row leaves in
      // g.decay is its part of dL/dk_i / (2 k_i) by decays and by |k|^2.
      template <class V>
      WANE_INLINE void all_of_column(auto j, column_gradients<V> const& g) const {
        token const all = op.at(where);
        auto const x = all.at_column(j);
        V const one = V(Accumulate(1)), zero = V(Accumulate(0));
        V by_step = multiply(x.x, g.value);
        for (index i = 0; i < g.rows; ++i) {
          // dL/du, from that of log(1 - u); zero where nothing is left.
          Accumulate const k = x.key(i);
          V const left = one - x.forgotten(i), by_part = where_zero(left, zero, -g.decay[i] / left);
          by_step = multiply_add(V(multiply(k, k)), by_part, by_step);
          g.decay[i] = multiply(x.step, by_part);
        }
        V const by_square = -multiply(multiply(x.step, x.step), by_step);
        for (index i = 0; i < g.rows; ++i) g.decay[i] = g.decay[i] + by_square;
        V const over = one / multiply_add(x.beta, V(all.square), one);
        V const by_beta =
            multiply(multiply(multiply(over, over), by_step), op.step_of(where, j).slope);
        V by_x = multiply(x.step, g.value);
        if (op.D_.present())
          by_x = multiply_add(op.D_.template read<Accumulate>(where.head, j), g.skip, by_x);
        to.value.write(where, j, by_x), to.D.parts.write(where, j, multiply(x.x, g.skip));
        to.beta.write(where, j, by_beta), to.beta_bias.parts.write(where, j, by_beta);
      }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        auto const x = op.terms_at(where);
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const k = x.key(i);
          set_row(g.key, i, multiply_add(k + k, row_at(g.decay, i), row_at(g.key, i)));
        });
        op.give_rows(x, to.query, to.key, g);
      }
    };
    WANE_INLINE sink at(longhorn const& op, place<> where) const {
      impl::require_lent(D, beta_bias);
      return {*this, op, where};
    }
  };

 private:
  // beta and its derivative by the raw input.
  template <class V>
  struct learning_step {
    V beta, slope;
  };
  WANE_INLINE auto step_of(place<> where, auto j) const {
    auto raw = convert<Accumulate>(beta_.read(where, j));
    using V = decltype(raw);
    if (bias_.present()) raw = raw + bias_.template read<Accumulate>(where.head, j);
    if (!sigmoid_) return learning_step<V>{raw, V(Accumulate(1))};
    auto const x = impl::softplus(impl::split_sum<V>{raw, V(Accumulate(0))});
    return learning_step<V>{x.logistic, multiply(x.logistic, x.complement)};
  }

  sequence_view<Io const> beta_;
  impl::channel_parameter<widened<Io>> D_, bias_;
  bool sigmoid_;
};

}  // namespace wane
