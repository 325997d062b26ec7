// preconditioned_delta_net: the delta rule that writes less where its keys have written much.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/state/pair.hpp"
#include "wane/operators/memories/preconditioned_parts.hpp"
#include "wane/operators/parts/numbers_of_tokens.hpp"

namespace wane {

// strength, beta, curvature_strength, beta', and curvature_log_decay, g': [B, T, H]; the others as
// in keyed_inputs.
template <class Io>
struct preconditioned_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"strength", token_view<Io const>> strength = {};
  impl::named<"curvature_strength", token_view<Io const>> curvature_strength = {};
  impl::named<"curvature_log_decay", token_view<Io const>> curvature_log_decay = {};
};

struct preconditioned_options {
  keyed_options keys = {};
  double most = 1.5;     // M lies between 1/most and most
  double center = -0.2;  // log(A + epsilon) where M is 1
  double epsilon = 1e-6;
};

// A_t = e^{g'_t} A_{t-1} + beta'_t k_t^2 (by row),
// S_t = D S_{t-1} + beta_t (M_t o k_t) (v_t - k_t^T D S_{t-1})^T,   y_t = scale S_t^T q_t,
// M = most^{-r / (1 + |r|)},  r = log(A + epsilon) - center,  D = diag(e^{g_t})
// (Tumma, Loo, Rus 2026, "Preconditioned DeltaNet": a diagonal in place of the inverse sum of
// squares of keys, squashed; with a gate of rows their preconditioned KDA.)
//
//   wane::preconditioned_delta_net const memory(
//       {.query = q, .key = k, .value = v, .strength = beta, .curvature_strength = beta_a,
//        .curvature_log_decay = g_a}, log_decay, {.keys = {.normalise = true}});
//   wane::run(memory, y);
//
// log_decay: g, [B, T, H] or [B, T, H, K], or a gate. The state is that of a pair: S, K x V, and
// then A, K numbers a head.
template <class Io, any_gate Gate = token_view<Io const>, class Accumulate = widened<Io>>
class preconditioned_delta_net
    : public recurrence_pair<impl::preconditioned_memory<Io, Gate, Accumulate>,
                             impl::preconditioned_leader<Io, Gate, Accumulate>> {
  using base = impl::memory_with<impl::preconditioned_tensors<Io>, Io, Gate, Accumulate>;
  using memory = impl::preconditioned_memory<Io, Gate, Accumulate>;
  using leader = impl::preconditioned_leader<Io, Gate, Accumulate>;

 public:
  using accumulate = Accumulate;

  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  preconditioned_delta_net(std::type_identity_t<preconditioned_inputs<Io>> const& in,
                           Given const& log_decay, preconditioned_options const& options = {})
      : preconditioned_delta_net(base(impl::keyed_tensors_of<Io>(in),
                                      {in.strength, in.curvature_strength, in.curvature_log_decay},
                                      impl::gate_from<Gate>(log_decay), options.keys),
                                 options) {}

  memory led_by(sequence_view<Accumulate const> const& leads) const {
    return {this->first(), this->first().scaling(), leads};
  }

  // See check_values.
  void each_number(place<> at, auto const& visit) const { this->first().each_number(at, visit); }

  // Any may be absent; log_decay has the shape of the gate.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"strength", token_view<Io>> strength = {};
    impl::named<"curvature_strength", token_view<Io>> curvature_strength = {};
    impl::named<"curvature_log_decay", token_view<Io>> curvature_log_decay = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(preconditioned_delta_net const& op) const {
      impl::check_gradients_with<impl::preconditioned_tensors<Io>>(*this, op.first().shape());
    }
  };

  // See core/recurrence/led_memory.hpp. Holds 4 K numbers a token and head.
  template <class Passes, class Dy, class Options>
  void adjoint_by(Passes const& passes, Dy const& dy, gradients const& to,
                  Options const& options) const {
    recurrence_shape const shape = this->first().shape();
    impl::numbers_of_tokens<Accumulate> numbers(shape, 4 * shape.rows);
    auto const rows = [&] { return numbers.take(shape.rows); };
    // `a` holds A, and later the gradients of the drives of A.
    auto const a = rows(), of_a = rows(), of_key = rows(), of_decay = rows();
    auto const of_leader =
        impl::part_of(options, [&](auto const& s) { return this->state_of_second(s); });
    passes.run(this->second(), a, impl::run_of(of_leader));
    passes.adjoint(led_by(a), dy, typename memory::template gradients<gradients>{to, of_key, of_a},
                   impl::part_of(options, [&](auto const& s) { return this->state_of_first(s); }));
    passes.adjoint(this->second(), of_a, typename leader::gradients{a, of_decay}, of_leader);
    passes.for_each_token(shape, options,
                          [&](place<> at) { this->first().give(at, of_key, a, of_decay, to); });
  }

 private:
  preconditioned_delta_net(base const& of, preconditioned_options const& options)
      : recurrence_pair<memory, leader>(memory(of, checked(options), {}), leader(of),
                                        of.shape().rows) {}

  static impl::preconditioner<Accumulate> checked(preconditioned_options const& of) {
    require(of.most >= 1 && std::isfinite(of.most), "most is ", of.most,
            "; it must be 1 or more, and finite");
    require(std::isfinite(of.center), "center is ", of.center, "; it must be finite");
    require(of.epsilon >= 1e-30 && std::isfinite(of.epsilon), "epsilon is ", of.epsilon,
            "; it must be 1e-30 or more, and finite");
    using T = Accumulate;
    return {static_cast<T>(of.most), static_cast<T>(std::log(of.most)), static_cast<T>(of.center),
            static_cast<T>(of.epsilon)};
  }
};

template <class Gate>
preconditioned_delta_net(preconditioned_inputs<impl::deduced_number<Gate>> const&, Gate const&,
                         preconditioned_options const& = {})
    -> preconditioned_delta_net<impl::deduced_number<Gate>, impl::deduced_gate<Gate>>;
template <class Io, impl::other_gate<Io> Gate>
preconditioned_delta_net(preconditioned_inputs<Io> const&, Gate const&,
                         preconditioned_options const& = {})
    -> preconditioned_delta_net<Io, impl::deduced_gate<Gate>>;

}  // namespace wane
