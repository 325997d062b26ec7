// mesa_net: MesaNet, a memory that is read through the inverse of its keys' sum of squares.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/core/state/pair.hpp"
#include "wane/operators/memories/mesa_leader.hpp"
#include "wane/operators/parts/numbers_of_tokens.hpp"

namespace wane {

// strength, beta: [B, T, H]; lambda: [H, K], > 0; the others as in keyed_inputs.
template <class Io>
struct mesa_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"strength", token_view<Io const>> strength = {};
  impl::named<"lambda", view<widened<Io> const, 2>> lambda = {};
};

// S_t = e^{g_t} S_{t-1} + beta_t k_t v_t^T,   H_t = e^{g_t} H_{t-1} + beta_t k_t k_t^T,
// y_t = S_t^T (H_t + diag(lambda))^{-1} scale q_t                   (von Oswald et al. 2025)
//
//   wane::mesa_net const memory(
//       {.query = q, .key = k, .value = v, .strength = beta, .lambda = {lambda, H, K}}, log_decay);
//   wane::run(memory, y);
//
// y_t is what ridge regression on all tokens so far, faded, says of q_t. The matrix is solved
// exactly, by its factor, K^3 / 6 multiply-adds a token. log_decay: g, [B, T, H], or a gate of
// heads. The scale is 1 if absent. The state is that of a pair, S and then the upper triangle of H,
// K x V and K x K numbers a head.
template <class Io, head_gate Gate = token_view<Io const>, class Accumulate = widened<Io>>
class mesa_net : public recurrence_pair<impl::mesa_memory<Io, Gate, Accumulate, false>,
                                        impl::mesa_leader<Io, Gate, Accumulate>> {
  using keys = impl::memory_with<impl::mesa_tensors<Io>, Io, Gate, Accumulate>;
  using memory = impl::mesa_memory<Io, Gate, Accumulate, false>;
  using squares = impl::mesa_memory<Io, Gate, Accumulate, true>;
  using leader = impl::mesa_leader<Io, Gate, Accumulate>;
  using leads_view = sequence_view<Accumulate const>;
  static_assert(!is_complex<Accumulate>, "wane::mesa_net: the factor of H is that of real numbers");

 public:
  using accumulate = Accumulate;

  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  mesa_net(std::type_identity_t<mesa_inputs<Io>> const& in, Given const& log_decay,
           keyed_options const& options = {})
      : mesa_net(keys(impl::keyed_tensors_of<Io>(in), {in.strength, in.lambda},
                      impl::gate_from<Gate>(log_decay), impl::with_scale_or_one(options))) {
    require(in.lambda.data || in.value.extent[0] * in.value.extent[1] == 0,
            "lambda has no data; it must point to its values");
    lambda_ = in.lambda;
  }

  memory led_by(leads_view const& leads) const { return {this->first(), leads}; }

  // Throws wane::error unless lambda is positive.
  void check_parameters() const {
    recurrence_pair<memory, leader>::check_parameters();
    for (index h = 0; lambda_.data && h < lambda_.extent[0]; ++h)
      for (index i = 0; i < lambda_.extent[1]; ++i)
        require(lambda_(h, i) > 0 && lambda_(h, i) - lambda_(h, i) == 0, "lambda of head ", h,
                " and row ", i, " is ", lambda_(h, i), "; it must be positive and finite");
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
    impl::parameter_gradient<"lambda", view<widened<Io>, 2>, sequence_view<Accumulate>> lambda = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(mesa_net const& op) const {
      impl::check_gradients_with<impl::mesa_tensors<Io>>(*this, op.first().shape());
      impl::check_parameter_gradient(lambda, op.lambda_.extent[0], op.lambda_.extent[1]);
    }
    static void each_parameter(auto& of, recurrence_shape const&, auto const& visit) {
      visit(of.lambda, of.lambda.extent[0], of.lambda.extent[1]);
    }
  };

  // With x the solutions, z = (H + diag(lambda))^{-1} dL/dx: dL/dq = z, dL/dlambda = -z o x, and
  // dL/dH gains -z x^T at every token, as if H were a memory with queries z and gradients -x.
  // See wane/core/recurrence/led_memory.hpp. Holds 4 K numbers a token and head.
  template <class Passes, class Dy, class Options>
  void adjoint_by(Passes const& passes, Dy const& dy, gradients const& to,
                  Options const& options) const;

 private:
  explicit mesa_net(keys const& of)
      : recurrence_pair<memory, leader>(memory(of, {}), leader(of), of.shape().rows) {}

  view<widened<Io> const, 2> lambda_;
};

template <class Io, head_gate Gate, class Accumulate>
template <class Passes, class Dy, class Options>
void mesa_net<Io, Gate, Accumulate>::adjoint_by(Passes const& passes, Dy const& dy,
                                                gradients const& to, Options const& options) const {
  recurrence_shape const shape = this->first().shape();
  impl::numbers_of_tokens<Accumulate> numbers(shape, 4 * shape.rows + 2);
  auto const rows = [&] { return numbers.take(shape.rows); };
  auto const x = rows(), of_x = rows(), z = rows(), of_keys = rows();
  impl::mesa_sums<Accumulate> const sums{of_keys, numbers.take(), numbers.take()};
  auto const of_memory =
      impl::part_of(options, [&](auto const& s) { return this->state_of_first(s); });
  auto const of_leader =
      impl::part_of(options, [&](auto const& s) { return this->state_of_second(s); });

  passes.run(this->second(), x, impl::run_of(of_leader));
  passes.adjoint(led_by(x), dy, typename memory::gradients{to.value, of_x, sums}, of_memory);
  passes.run(leader(this->second(), of_x), z, impl::run_of(of_leader));
  passes.for_each_token(shape, options, [&](place<> at) {
    for (index i = 0; i < shape.rows; ++i) *x.element(at, i) *= -1;
  });
  // A sequence without tokens keeps its state, and its gradient, as they are.
  auto const for_walks = [&](auto const& body) {
    for (index n = 0; n < impl::walks_of(shape, options); ++n)
      if (impl::walk const w = impl::walk_of(n, shape, options, nullptr); w.count > 0) body(w);
  };
  Options of_squares = of_leader;
  impl::upper_triangles const initial(of_leader.initial.values),
      final(of_leader.final_gradient.values);
  for_walks([&](impl::walk const& w) { initial.mirror(w), final.clear(w); });
  of_squares.initial.values = initial.values(), of_squares.final_gradient.values = final.values();
  passes.adjoint(squares(this->first(), z), x, typename squares::gradients{{}, {}, sums},
                 of_squares);
  if (auto const& h = of_leader.initial_gradient.values; h.data)
    for_walks([&](impl::walk const& w) { impl::fold_to_upper(h, w); });
  passes.for_each_token(shape, options, [&](place<> at) {
    this->first().give(at, z, sums, to);
    to.strength.write(at, *sums.strength.element(at));
    to.log_decay.write(at, *sums.log_decay.element(at));
    for (index i = 0; i < shape.rows; ++i)
      to.lambda.parts.write(at, i, x.read(at, i) * z.read(at, i));
  });
}

template <class Gate>
mesa_net(mesa_inputs<impl::deduced_number<Gate>> const&, Gate const&, keyed_options const& = {})
    -> mesa_net<impl::deduced_number<Gate>,
                impl::deduced_gate_of_heads<Gate, impl::deduced_number<Gate>>>;
template <class Io, impl::other_gate<Io> Gate>
mesa_net(mesa_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> mesa_net<Io, impl::deduced_gate_of_heads<Gate, Io>>;

}  // namespace wane
