// mamba2: Mamba-2 (SSD), with a decay for each token and head, and PoST's taper.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>

#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/operators/gates/time_step.hpp"
#include "wane/operators/parts/keyed.hpp"
#include "wane/operators/parts/mamba_inputs.hpp"

namespace wane {

// x: [B, T, H, P]. dt: [B, T, H]. B and C: [B, T, G, N]; head h reads group h / (H / G). A <= 0, D,
// dt_bias and taper: [H]; the last three may be absent.
template <class Io>
struct mamba2_inputs {
  impl::by_name only = {};
  impl::named<"x", sequence_view<Io const>> x = {};
  impl::named<"dt", token_view<Io const>> dt = {};
  impl::named<"A", view<widened<Io> const, 1>> A = {};
  impl::named<"B", sequence_view<Io const>> B = {};
  impl::named<"C", sequence_view<Io const>> C = {};
  impl::named<"D", view<widened<Io> const, 1>> D = {};
  impl::named<"dt_bias", view<widened<Io> const, 1>> dt_bias = {};
  impl::named<"taper", view<widened<Io> const, 1>> taper = {};
};

struct mamba2_options {
  // true: Delta = softplus(dt + dt_bias); false: dt + dt_bias. Then Delta is clamped to dt_limit.
  bool dt_softplus = false;
  double dt_limit[2] = {0, HUGE_VAL};
  // The position at which the taper has no effect: 1 in the paper, the length trained at for the
  // covering scaling.
  double trained_at = 1;
};

// S_t = e^{A Delta_t (t/trained_at)^-taper} S_{t-1} + B_t (Delta_t x_t)^T,
// y_t = S_t^T C_t + D x_t                                                  state: [B, H, N, P]
// (Dao and Gu 2024; the taper is PoST's Algorithm 2, with the position t.)
//
//   wane::mamba2<float> const scan({.x = x, .dt = dt, .A = A, .B = B, .C = C},
//                                {.dt_softplus = true});
//   wane::run(scan, y);
//
// The taper applies to the decay only, not to the write or to D.
template <class Io, class Accumulate = widened<Io>>
class mamba2 : public impl::keyed_memory<Io, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;
  template <impl::name Name>
  using parameter_gradient =
      impl::parameter_gradient<Name, view<widened<Io>, 1>, token_view<Accumulate>>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  mamba2(mamba2_inputs<Io> const& in, mamba2_options const& options = {})
      : keyed(impl::mamba_keys<Io>(in.x, in.B, in.C), {.scale = 1}),
        own_(in),
        delta_(options.dt_softplus, options.dt_limit),
        trained_at_(static_cast<exact>(options.trained_at)) {
    require(options.trained_at > 0 && std::isfinite(options.trained_at), "trained_at is ",
            options.trained_at, "; it must be a positive number of tokens");
  }

  // Throws wane::error for a tensor that is missing or does not fit. Called by every run.
  void check_inputs() const {
    recurrence_shape const size = this->shape();
    impl::check_mamba_data<Io>(own_.x, own_.B, own_.C);
    check("dt", own_.dt, size);
    impl::check_given("A", own_.A);
    require(own_.A.data, "A has no data; it must point to its values");
    for (auto const& [name, x] : parameters())
      if (x.data) check_extent(name, "heads", x.extent[0], size.heads);
  }
  bool counts_positions() const { return own_.taper.data != nullptr; }

  // Throws wane::error for a parameter out of range.
  void check_parameters() const {
    for (auto const& [name, x] : parameters())
      for (index h = 0; x.data && h < x.extent[0]; ++h)
        require(x(h) - x(h) == 0, name, " of head ", h, " is ", x(h), "; it must be finite");
    for (index h = 0; h < own_.A.extent[0]; ++h) {
      require(own_.A(h) <= 0, "A of head ", h, " is ", own_.A(h), "; it must be 0 or less");
      if (own_.taper.data)
        require(own_.taper(h) >= 0 && own_.taper(h) <= 1, "taper of head ", h, " is ",
                own_.taper(h), "; it must be from 0 to 1");
    }
  }

  template <class Moved>
  WANE_HOST_DEVICE void move_tensors(Moved const& moved) {
    keyed::move_tensors(moved);
    own_.dt = moved.whole(own_.dt), own_.A = moved.whole(own_.A), own_.D = moved.whole(own_.D);
    own_.dt_bias = moved.whole(own_.dt_bias), own_.taper = moved.whole(own_.taper);
  }

  struct token : keyed::terms {
    Accumulate delta, log_of_decay, skip_factor;

    WANE_INLINE Accumulate log_decay() const { return log_of_decay; }
    WANE_INLINE auto key(auto i) const {
      auto const b = keyed::terms::key(i);
      return multiply(b, decltype(b)(delta));
    }
    WANE_INLINE Accumulate direct() const { return skip_factor; }
  };
  WANE_INLINE token at(place<> where) const {
    Accumulate const delta = delta_(raw_dt(where));
    return {this->terms_at(where), delta,
            multiply(parameter(own_.A, where), multiply(delta, tapered(where))),
            parameter(own_.D, where)};
  }

  // Any may be absent. B and C have the H heads of x; sum_over_groups() adds up those of a group.
  struct gradients {
    impl::by_name only = {};
    impl::named<"x", sequence_view<Io>> x = {};
    impl::named<"dt", token_view<Io>> dt = {};
    parameter_gradient<"A"> A = {};
    impl::named<"B", sequence_view<Io>> B = {};
    impl::named<"C", sequence_view<Io>> C = {};
    parameter_gradient<"D"> D = {};
    parameter_gradient<"dt_bias"> dt_bias = {};
    parameter_gradient<"taper"> taper = {};

    void check(recurrence_shape const& shape) const {
      impl::check_mamba_gradients<Io>(x, B, C, shape);
      check_if_present("the gradient of dt", dt, shape);
    }
    wane::layout layout() const { return layout_of(x, B, C); }
    static void each_parameter(auto& of, recurrence_shape const& shape, auto const& visit) {
      visit(of.A, shape.heads), visit(of.D, shape.heads);
      visit(of.dt_bias, shape.heads), visit(of.taper, shape.heads);
    }

    struct sink {
      gradients const& to;
      mamba2 const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { to.x.write(where, j, g); }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const here = op.at(where);
        V const slow = op.tapered(where), a = op.parameter(op.own_.A, where);
        row_sum<V> by_key;
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const key = row_at(g.key, i);
          by_key.add(key, here.keyed::terms::key(i));
          set_row(g.key, i, std::remove_const_t<decltype(key)>(here.delta) * key);
        });
        V const delta = multiply_add(g.whole.decay * a, slow, by_key.total());
        op.give_rows(here, to.C, to.B, g);
        V const by_dt = delta * op.delta_.slope(op.raw_dt(where));
        to.dt.write(where, by_dt), to.dt_bias.parts.write(where, by_dt);
        to.A.parts.write(where, g.whole.decay * here.delta * slow);
        to.D.parts.write(where, g.whole.direct);
        if (to.taper.data)
          to.taper.parts.write(where,
                               -g.whole.decay * here.log_of_decay * V(op.log_position(where)));
      }
    };
    WANE_INLINE sink at(mamba2 const& op, place<> where) const {
      impl::require_lent(A, D, dt_bias, taper);
      return {*this, op, where};
    }
  };

 private:
  // The type of positions: double at least.
  using exact = std::conditional_t<std::is_same_v<Accumulate, float>, double, Accumulate>;
  using parameter_view = view<widened<Io> const, 1>;
  struct named_parameter {
    char const* name;
    parameter_view const& values;
  };
  std::array<named_parameter, 4> parameters() const {
    return {{{"A", own_.A}, {"D", own_.D}, {"dt_bias", own_.dt_bias}, {"taper", own_.taper}}};
  }

  WANE_INLINE static Accumulate parameter(parameter_view const& x, place<> where) {
    return x.data ? static_cast<Accumulate>(x(where.head)) : Accumulate(0);
  }
  WANE_INLINE Accumulate raw_dt(place<> where) const {
    return static_cast<Accumulate>(own_.dt.read(where)) + parameter(own_.dt_bias, where);
  }
  WANE_INLINE exact log_position(place<> where) const {
    using std::log;
    return log(static_cast<exact>(where.position) / trained_at_);
  }
  // (t / trained_at)^-taper
  WANE_INLINE Accumulate tapered(place<> where) const {
    if (!own_.taper.data) return Accumulate(1);
    using std::exp;
    return static_cast<Accumulate>(
        exp(-static_cast<exact>(parameter(own_.taper, where)) * log_position(where)));
  }

  mamba2_inputs<Io> own_;
  impl::time_step<Accumulate> delta_;
  exact trained_at_;
};

}  // namespace wane
