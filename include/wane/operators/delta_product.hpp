// delta_product: several steps of the delta rule a token, each with its key, value and strength.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/delta_net.hpp"
#include "wane/operators/memories/product_substeps.hpp"

namespace wane {

// S <- D S, and then n times S <- S + beta_j k_j (v_j - k_j^T S)^T,   D = diag(e^{g_t}),
// y_t = scale S^T q_t          (Siems et al. 2025, "DeltaProduct"; with a gate Gated DeltaProduct)
//
//   wane::delta_product<float> const memory(
//       {.query = q, .key = k, .value = v, .strength = beta}, {.normalise = true});
//   wane::run(memory, y);
//
// query: [B, T, G, K]; key: [B, n T, G, K], value: [B, n T, H, V] and strength: [B, n T, H], in
// [0, 2], where steps n t ... n t + n - 1 belong to token t. The gate may be absent (no_gate), of
// heads, [B, T, H], or of rows, [B, T, H, K]. y is [B, T, H, V], the state [B, H, K, V]. A step
// reflects (beta = 2) or projects the keys, n of them rotate; n = 1 is delta_net.
template <class Io, any_gate Gate = no_gate, class Accumulate = widened<Io>>
class delta_product {
  using steps = impl::product_substeps<Io, Gate, Accumulate>;

 public:
  using accumulate = Accumulate;

  // Throws wane::error when the shapes do not fit, or an option is out of range.
  explicit delta_product(std::type_identity_t<delta_inputs<Io>> const& in,
                         keyed_options const& options = {}) requires std::same_as<Gate, no_gate>
      : delta_product(in, no_gate(), options) {}
  // A template, so that {} as second argument means options.
  template <class Given = Gate>
  delta_product(std::type_identity_t<delta_inputs<Io>> const& in, Given const& gate,
                keyed_options const& options = {})
      : steps_(impl::keyed_tensors_of<Io>(in), {in.strength}, impl::gate_from<Gate>(gate),
               options) {}

  recurrence_shape shape() const { return steps_.shape_of_tokens(); }
  void check_inputs() const { steps_.check_inputs(); }
  void check_parameters() const { steps_.check_parameters(); }
  bool counts_positions() const { return steps_.counts_positions(); }

  // Any may be absent; each has the shape of its input, key and query of H heads.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"strength", token_view<Io>> strength = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(delta_product const& op) const {
      recurrence_shape const tokens = op.shape(), substeps = op.steps_.shape();
      check_if_present("the gradient of query", query, shape_of_rows(tokens));
      check_if_present("the gradient of key", key, shape_of_rows(substeps));
      check_if_present("the gradient of value", value, substeps);
      check_if_present("the gradient of strength", strength, substeps);
      impl::check_gate_gradient(log_decay, tokens);
    }
  };

  // See wane/core/recurrence/substeps.hpp.
  index substeps() const { return steps_.substeps(); }
  index reading_substeps() const { return 1; }
  auto in_substeps(bool backward) const { return steps_.taken(backward); }
  auto in_substeps(gradients const& to, bool) const {
    return typename steps::template substep_gradients<gradients>{to};
  }

 private:
  steps steps_;
};

template <class Gate>
delta_product(delta_inputs<impl::deduced_number<Gate>> const&, Gate const&,
              keyed_options const& = {})
    -> delta_product<impl::deduced_number<Gate>, impl::deduced_gate<Gate>>;
template <class Io, impl::other_gate<Io> Gate>
delta_product(delta_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> delta_product<Io, impl::deduced_gate<Gate>>;

}  // namespace wane
