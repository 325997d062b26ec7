// mamba1: the selective scan, with a decay for each token, channel and state.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <limits>

#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/operators/gates/time_step.hpp"
#include "wane/operators/parts/channel_parameter.hpp"
#include "wane/operators/parts/keyed.hpp"
#include "wane/operators/parts/mamba_inputs.hpp"

namespace wane {

// x and dt: [B, T, H, D], usually with H = 1. B and C: [B, T, G, N]; head h reads group h / (H /
// G). A <= 0: [H, D, N]; -inf forgets at every step but one of 0. D and dt_bias: [H, D]; both may
// be absent.
//
// There are as many parameters as states, so runs do not check their values; check_values does.
template <class Io>
struct mamba1_inputs {
  impl::by_name only = {};
  impl::named<"x", sequence_view<Io const>> x = {};
  impl::named<"dt", sequence_view<Io const>> dt = {};
  impl::named<"A", view<widened<Io> const, 3>> A = {};
  impl::named<"B", sequence_view<Io const>> B = {};
  impl::named<"C", sequence_view<Io const>> C = {};
  impl::named<"D", view<widened<Io> const, 2>> D = {};
  impl::named<"dt_bias", view<widened<Io> const, 2>> dt_bias = {};
};

struct mamba1_options {
  // true: Delta = softplus(dt + dt_bias); false: dt + dt_bias. Then Delta is clamped to dt_limit.
  bool dt_softplus = false;
  double dt_limit[2] = {0, HUGE_VAL};
};

// S_t = e^{A Delta_t} o S_{t-1} + B_t (Delta_t o x_t)^T,   y_t = S_t^T C_t + D o x_t
// (Gu and Dao 2023, Algorithm 2; Delta_t and x_t have D channels.)     state: [B, H, N, D]
//
//   wane::mamba1<float> const scan({.x = x, .dt = dt, .A = A, .B = B, .C = C},
//                                {.dt_softplus = true});
//   wane::run(scan, y);
template <class Io, class Accumulate = widened<Io>>
class mamba1 : public impl::keyed_memory<Io, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;
  template <impl::name Name>
  using parameter_gradient =
      impl::parameter_gradient<Name, view<widened<Io>, 2>, sequence_view<Accumulate>>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  mamba1(mamba1_inputs<Io> const& in, mamba1_options const& options = {})
      : keyed(impl::mamba_keys<Io>(in.x, in.B, in.C), {.scale = 1}),
        own_(in),
        A_(by_row(in.A)),
        D_(in.D),
        dt_bias_(in.dt_bias),
        delta_(options.dt_softplus, options.dt_limit) {}

  // Throws wane::error for a tensor that is missing or does not fit. Called by every run.
  void check_inputs() const {
    recurrence_shape const size = this->shape();
    impl::check_mamba_data<Io>(own_.x, own_.B, own_.C);
    check("dt", own_.dt, size);
    impl::check_given("A", own_.A);
    require(own_.A.data, "A has no data; it must point to its values");
    check_extent("A", "states", own_.A.extent[2], size.rows);
    check_extent("A", "heads", A_.extent[2], size.heads);
    check_extent("A", "columns", A_.extent[3], size.columns);
    D_.check("D", size), dt_bias_.check("dt_bias", size);
  }
  wane::layout layout() const {
    return keyed::layout() & layout_of(own_.dt) & D_.layout() & dt_bias_.layout();
  }

  // A token in column j, or in lanes of columns: Delta and x are computed once.
  template <class V>
  struct column_token {
    mamba1 const& op;
    place<> where;
    V delta, x;

    WANE_INLINE V step(auto) const { return delta; }
    WANE_INLINE V log_decay(index i, auto j) const {
      return multiply(op.rate(where.head, i, j), delta);
    }
    WANE_INLINE V value(auto) const { return multiply(delta, x); }
    WANE_INLINE V skip(auto j) const {
      return op.D_.present() ? multiply(op.D_.template read<Accumulate>(where.head, j), x)
                             : V(Accumulate(0));
    }
  };
  struct token : keyed::terms {
    mamba1 const& op;

    WANE_INLINE auto at_column(auto j) const {
      auto const x = keyed::terms::value(j);
      return column_token<std::remove_const_t<decltype(x)>>{
          op, this->where, op.delta_(op.raw_dt(this->where, j)), x};
    }
    WANE_INLINE auto log_decay(index i, auto j) const { return at_column(j).log_decay(i, j); }
    WANE_INLINE auto value(auto j) const { return at_column(j).value(j); }
    WANE_INLINE auto skip(auto j) const { return at_column(j).skip(j); }
  };
  WANE_INLINE token at(place<> where) const { return {this->terms_at(where), *this}; }

  // A of state i in channel j, or in lanes of channels, for either layout of A. -inf, which floats
  // give for A_log > 88.7, is the lowest finite number: a step of 0 then keeps the state.
  WANE_INLINE Accumulate rate(index head, index i, index j) const {
    return finite(static_cast<Accumulate>(own_.A(head, j, i)));
  }
  template <class Lanes>
  WANE_HOST_INLINE auto rate(index head, index i, Lanes j) const {
    place<> const row{0, i, head};
    if (A_.stride[3] == 1) return finite(convert<Accumulate>(A_.read(row, j)));
    simd<Accumulate, Lanes::width> rates(Accumulate(0));
    for (int l = 0; l < lane_count(j); ++l) rates.v[l] = rate(head, i, j.first + l);
    return rates;
  }

  // The type of sums over tokens.
  using sum = std::conditional_t<std::is_same_v<Accumulate, float>, double, Accumulate>;

  // Any may be absent. B and C have the H heads of x; sum_over_groups() adds up those of a group.
  struct gradients {
    impl::by_name only = {};
    impl::named<"x", sequence_view<Io>> x = {};
    impl::named<"dt", sequence_view<Io>> dt = {};
    impl::parameter_gradient<"A", view<widened<Io>, 3>, view<sum, 4>> A = {};
    impl::named<"B", sequence_view<Io>> B = {};
    impl::named<"C", sequence_view<Io>> C = {};
    parameter_gradient<"D"> D = {};
    parameter_gradient<"dt_bias"> dt_bias = {};

    void check(recurrence_shape const& shape) const {
      impl::check_mamba_gradients<Io>(x, B, C, shape);
      check_if_present("the gradient of dt", dt, shape);
    }
    wane::layout layout() const { return layout_of(x, dt, B, C, D.parts, dt_bias.parts); }
    static void each_parameter(auto& of, recurrence_shape const& shape, auto const& visit) {
      visit(of.A, shape.heads, shape.columns, shape.rows);
      visit(of.D, shape.heads, shape.columns), visit(of.dt_bias, shape.heads, shape.columns);
    }

    WANE_INLINE void rate(index sequence, index head, index i, index j, sum g) const {
      if (A.parts.data) A.parts(sequence, head, j, i) = g;
    }

    struct sink {
      gradients const& to;
      mamba1 const& op;
      place<> where;

      template <class V>
      WANE_INLINE void all_of_column(auto j, column_gradients<V> const& g) const {
        auto const token = op.at(where).at_column(j);
        V const delta = token.delta, value = token.x;
        V const by_delta = multiply_add(value, g.value, g.step);
        V const by_dt = multiply(by_delta, op.delta_.slope(op.raw_dt(where, j)));
        V by_x = multiply(delta, g.value);
        if (op.D_.present())
          by_x = multiply_add(op.D_.template read<Accumulate>(where.head, j), g.skip, by_x);
        to.x.write(where, j, by_x);
        to.dt.write(where, j, by_dt), to.dt_bias.parts.write(where, j, by_dt);
        to.D.parts.write(where, j, multiply(value, g.skip));
      }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        op.give_rows(op.terms_at(where), to.C, to.B, g);
      }
    };
    WANE_INLINE sink at(mamba1 const& op, place<> where) const {
      impl::require_lent(A, D, dt_bias);
      return {*this, op, where};
    }
  };

 private:
  template <class V>
  WANE_INLINE static V finite(V rate) {
    return at_least(V(std::numeric_limits<Accumulate>::lowest()), rate);
  }

  // A as sequence_view reads it: [1, N, H, D], rows in the place of time.
  using parameter_view = sequence_view<widened<Io> const>;
  static parameter_view by_row(view<widened<Io> const, 3> const& x) {
    auto const& e = x.extent;
    auto const& s = x.stride;
    return {x.data, {1, e[2], e[0], e[1]}, {0, s[2], s[0], s[1]}};
  }

  WANE_INLINE auto raw_dt(place<> where, auto j) const {
    auto const raw = convert<Accumulate>(own_.dt.read(where, j));
    return dt_bias_.present() ? raw + dt_bias_.template read<Accumulate>(where.head, j) : raw;
  }

  mamba1_inputs<Io> own_;
  parameter_view A_;
  impl::channel_parameter<widened<Io>> D_, dt_bias_;
  impl::time_step<Accumulate> delta_;
};

}  // namespace wane
