// mamba3: Mamba-3, whose tokens are weighted by the trapezoidal rule and turn the state.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/core/state/pair.hpp"
#include "wane/operators/gates/gates.hpp"
#include "wane/operators/memories/mamba3_leader.hpp"
#include "wane/operators/parts/numbers_of_tokens.hpp"

namespace wane {

// x: [B, T, H R, P], of R ranks a head, 1 for SISO. B, C: [B, T, G R, N]; head h reads group
// h / (H / G). Rank r of head or group n has index n R + r. delta: [B, T, H], positive. trapezoid,
// lambda: [B, T, H], from 0 to 1. angle: [B, T, H, S], S <= N / 2, in radians. D: [H]; B_bias,
// C_bias: [H R, N]; these three may be absent.
template <class Io>
struct mamba3_inputs {
  impl::by_name only = {};
  impl::named<"x", sequence_view<Io const>> x = {};
  impl::named<"B", sequence_view<Io const>> B = {};
  impl::named<"C", sequence_view<Io const>> C = {};
  impl::named<"delta", token_view<Io const>> delta = {};
  impl::named<"trapezoid", token_view<Io const>> trapezoid = {};
  impl::named<"angle", sequence_view<Io const>> angle = {};
  impl::named<"D", view<widened<Io> const, 1>> D = {};
  impl::named<"B_bias", view<widened<Io> const, 2>> B_bias = {};
  impl::named<"C_bias", view<widened<Io> const, 2>> C_bias = {};
};

// The rows of B and C that turn together: (2 n, 2 n + 1), or (n, n + N / 2).
enum class turning_pairs { neighbours, halves };

struct mamba3_options {
  turning_pairs pairs = turning_pairs::neighbours;
};

// S_t = e^{g_t} (S_{t-1} + (1 - lambda_t) delta_t sum_r b_{t-1,r} x_{t-1,r}^T)
//       + lambda_t delta_t sum_r b_{t,r} x_{t,r}^T,     y_{t,r} = S_t^T c_{t,r} + D x_{t,r},
// b = turn(phi_t) (B + B_bias),   c = turn(phi_t) (C + C_bias),   phi_t = phi_{t-1} + angle_t
// (Mamba-3, Lahoti et al. 2026: the trapezoidal rule, a complex state by turns of B and C, MIMO.)
//
//   wane::mamba3 const scan({.x = x, .B = B, .C = C, .delta = delta, .trapezoid = lambda,
//                            .angle = theta}, log_decay);
//   wane::run(scan, y);
//
// log_decay: g = A delta, [B, T, H], or a gate of heads. y has the shape of x. mamba-ssm's
// parameters are raw: its delta is softplus(dt + dt_bias), lambda sigmoid(trap), and the angle
// pi tanh(angle) delta. The state is that of a pair: S, N x P, and then S angles, from -pi to pi,
// the turned B, R N, and x, R P, of the last token.
template <class Io, head_gate Gate = token_view<Io const>, class Accumulate = widened<Io>>
class mamba3 : public recurrence_pair<impl::mamba3_memory<Io, Gate, Accumulate>,
                                      impl::mamba3_leader<Io, Gate, Accumulate>> {
  using tokens = impl::mamba3_tokens<Io, Gate, Accumulate>;
  using memory = impl::mamba3_memory<Io, Gate, Accumulate>;
  using leader = impl::mamba3_leader<Io, Gate, Accumulate>;
  static_assert(!is_complex<Accumulate>, "wane::mamba3: a complex state is one of turns");
  template <impl::name Name, int Rank, class Parts>
  using parameter_gradient = impl::parameter_gradient<Name, view<widened<Io>, Rank>, Parts>;

 public:
  using accumulate = Accumulate;

  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  mamba3(std::type_identity_t<mamba3_inputs<Io>> const& in, Given const& log_decay,
         mamba3_options const& options = {})
      : mamba3(
            tokens({in.x, in.B, in.C, in.delta, in.trapezoid, in.angle, in.D, in.B_bias, in.C_bias},
                   impl::gate_from<Gate>(log_decay), options.pairs == turning_pairs::halves)) {}

  index reading_substeps() const { return this->first().rank(); }
  memory led_by(sequence_view<Accumulate const> const& leads) const {
    return {this->first(), leads};
  }

  // See check_values.
  void each_number(place<> at, auto const& visit) const { this->first().each_number(at, visit); }

  // Any may be absent. Those of B and C have the heads of x; sum_over_groups() adds up those of a
  // group where R = 1. log_decay has the shape of the gate.
  struct gradients {
    impl::by_name only = {};
    impl::named<"x", sequence_view<Io>> x = {};
    impl::named<"B", sequence_view<Io>> B = {};
    impl::named<"C", sequence_view<Io>> C = {};
    impl::named<"delta", token_view<Io>> delta = {};
    impl::named<"trapezoid", token_view<Io>> trapezoid = {};
    impl::named<"angle", sequence_view<Io>> angle = {};
    parameter_gradient<"D", 1, token_view<Accumulate>> D = {};
    parameter_gradient<"B_bias", 2, sequence_view<Accumulate>> B_bias = {};
    parameter_gradient<"C_bias", 2, sequence_view<Accumulate>> C_bias = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(mamba3 const& op) const {
      recurrence_shape shape = op.first().shape();
      check_if_present("the gradient of delta", delta, shape);
      check_if_present("the gradient of trapezoid", trapezoid, shape);
      impl::check_gate_gradient(log_decay, shape);
      impl::check_parameter_gradient(D, shape.heads);
      shape.heads *= op.first().rank();
      impl::check_parameter_gradient(B_bias, shape.heads, shape.rows);
      impl::check_parameter_gradient(C_bias, shape.heads, shape.rows);
      impl::check_mamba_gradients<Io>(x, B, C, shape);
      shape.heads /= op.first().rank(), shape.columns = op.first().angles();
      check_if_present("the gradient of angle", angle, shape);
    }
    static void each_parameter(auto& of, recurrence_shape const& shape, auto const& visit) {
      visit(of.D, shape.heads);
      visit(of.B_bias, of.B_bias.extent[0], of.B_bias.extent[1]);
      visit(of.C_bias, of.C_bias.extent[0], of.C_bias.extent[1]);
    }
  };

  // See core/recurrence/led_memory.hpp. Holds R (6 N + 4 P) + S numbers, or a few more, a token and
  // head.
  template <class Passes, class Dy, class Options>
  void adjoint_by(Passes const& passes, Dy const& dy, gradients const& to,
                  Options const& options) const {
    recurrence_shape const shape = this->first().shape();
    if (shape.batch * shape.time > 0) impl::require_lent(to.D, to.B_bias, to.C_bias);
    index const R = this->first().rank(), steps = this->first().substeps(),
                leads = this->first().leads(), rows = 3 * R * shape.rows,
                columns = steps * shape.columns;
    impl::numbers_of_tokens<Accumulate> numbers(shape, leads + rows + columns + 2 * steps + 1);
    auto const of_leader =
        impl::part_of(options, [&](auto const& s) { return this->state_of_second(s); });
    auto const lead = numbers.take(leads), by_rows = numbers.take(rows),
               by_columns = numbers.take(columns);
    typename memory::gradients const by{by_rows, by_columns, numbers.take(2 * steps + 1)};
    passes.run(this->second(), lead, impl::run_of(of_leader));
    passes.adjoint(led_by(lead), dy, by,
                   impl::part_of(options, [&](auto const& s) { return this->state_of_first(s); }));
    passes.for_each_walk(shape, options, [&](impl::walk const& w) {
      this->second().give(w, lead, by, of_leader.final_gradient.values,
                          of_leader.initial_gradient.values, to);
    });
  }

 private:
  explicit mamba3(tokens const& of)
      : recurrence_pair<memory, leader>(memory(of, {}), leader(of), of.leads()) {}
};

template <class Gate>
mamba3(mamba3_inputs<impl::deduced_number<Gate>> const&, Gate const&, mamba3_options const& = {})
    -> mamba3<impl::deduced_number<Gate>,
              impl::deduced_gate_of_heads<Gate, impl::deduced_number<Gate>>>;
template <class Io, impl::other_gate<Io> Gate>
mamba3(mamba3_inputs<Io> const&, Gate const&, mamba3_options const& = {})
    -> mamba3<Io, impl::deduced_gate_of_heads<Gate, Io>>;

}  // namespace wane
