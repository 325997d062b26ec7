// Long runs of memories that erase: the delta rules, RWKV-7, VLA and MesaNet.
// SPDX-License-Identifier: MIT
#include "long_runs/measure.hpp"

namespace wane::bench {
namespace {

template <class T>
vla_inputs<T> vla_of(tokens<T> const& x, index b, index e) {
  return {.query = x.query.rows(b, e), .key = x.key.rows(b, e), .value = x.value.rows(b, e)};
}

template <class T>
rwkv7_inputs<T> rwkv7_of(tokens<T> const& x, index b, index e) {
  return {.query = x.query.rows(b, e),
          .key = x.key.rows(b, e),
          .value = x.value.rows(b, e),
          .removal = x.removal.rows(b, e),
          .rate = x.rate.rows(b, e),
          .bonus = {x.bonus.data(), 1, keys}};
}

}  // namespace

// A delta rule of strength 1/2 forgets an eighth of what 4 directions hold a token.
std::vector<long_row> delta_rows() {
  return {
      row("delta_net", 16,
          []<class T>(tokens<T> const& x, index b, index e) {
            return delta_net<T>(x.delta(b, e));
          }),
      row("gated_delta_net", 16,
          []<class T>(tokens<T> const& x, index b, index e) {
            return gated_delta_net<T>(x.delta(b, e), x.slow_head.heads(b, e));
          }),
      row("gated_delta_net with a taper", 16,
          []<class T>(tokens<T> const& x, index b, index e) {
            return gated_delta_net(
                x.delta(b, e),
                softplus_gate(x.number.heads(b, e), {.log_rate = {x.log_rates.data(), 1},
                                                     .taper = {{x.tapers.data(), 1}}}));
          }),
      row("kimi_delta_attention", 16,
          []<class T>(tokens<T> const& x, index b, index e) {
            return kimi_delta_attention<T>(x.delta(b, e), x.slow.rows(b, e));
          }),
      row("gated_delta_net2", 16,
          []<class T>(tokens<T> const& x, index b, index e) {
            return gated_delta_net2<T>({.query = x.query.rows(b, e),
                                        .key = x.key.rows(b, e),
                                        .value = x.value.rows(b, e),
                                        .erase_gate = x.rate.rows(b, e),
                                        .write_gate = x.write_gate.rows(b, e)},
                                       x.slow.rows(b, e));
          }),
      row("comba", 16,
          []<class T>(tokens<T> const& x, index b, index e) {
            return comba<T>({.query = x.query.rows(b, e),
                             .key = x.key.rows(b, e),
                             .value = x.value.rows(b, e),
                             .removal = x.key.rows(b, e),
                             .strength = x.strength.heads(b, e)},
                            x.slow_head.heads(b, e));
          }),
      row("vla_delta_net", 16,
          []<class T>(tokens<T> const& x, index b, index e) {
            return vla_delta_net<T>({.query = x.query.rows(b, e),
                                     .key = x.key.rows(b, e),
                                     .value = x.value.rows(b, e),
                                     .decay = x.strength.heads(b, e)});
          }),
      row("delta_product", 16,
          []<class T>(tokens<T> const& x, index b, index e) {
            return delta_product<T>({.query = x.query.rows(b, e),
                                     .key = x.step_key.rows(2 * b, 2 * e),
                                     .value = x.step_value.rows(2 * b, 2 * e),
                                     .strength = x.step_strength.heads(2 * b, 2 * e)});
          }),
      row("preconditioned_delta_net", 16,
          []<class T>(tokens<T> const& x, index b, index e) {
            return preconditioned_delta_net<T>({.query = x.query.rows(b, e),
                                                .key = x.key.rows(b, e),
                                                .value = x.value.rows(b, e),
                                                .strength = x.strength.heads(b, e),
                                                .curvature_strength = x.other_strength.heads(b, e),
                                                .curvature_log_decay = x.fast_head.heads(b, e)},
                                               x.slow_head.heads(b, e));
          })
          .that_allocates(),
      row("log_linear_of gated_delta_net", 16,
          []<class T>(tokens<T> const& x, index b, index e) {
            return log_linear_of(gated_delta_net<T>(x.delta(b, e), x.slow_head.heads(b, e)),
                                 x.levels.rows(b, e));
          })
          .that_allocates(),
      row("rwkv7", 16,
          []<class T>(tokens<T> const& x, index b, index e) {
            return rwkv7<T>(rwkv7_of(x, b, e), x.fast.rows(b, e));
          }),
      row("rwkv7 with a taper", 16,
          []<class T>(tokens<T> const& x, index b, index e) {
            return rwkv7(rwkv7_of(x, b, e),
                         sigmoid_gate(x.raw.rows(b, e), {.taper = {{x.tapers.data(), 1}}}));
          }),
      row("vla", HUGE_VAL,
          []<class T>(tokens<T> const& x, index b, index e) {
            return vla<T>(vla_of(x, b, e), {.lambda = 0.1});
          })
          .up_to(100000),
      row("vla in double", 1,
          []<class T>(tokens<T> const& x, index b, index e) {
            return vla<T, write_rule::rls, no_gate, double>(vla_of(x, b, e), {.lambda = 0.1});
          }),
      row("vla with a gate", 1e2,
          []<class T>(tokens<T> const& x, index b, index e) {
            return vla(vla_of(x, b, e), x.fast_head.heads(b, e), {.lambda = 0.1});
          }),
      row("mesa_net", 1e2,
          []<class T>(tokens<T> const& x, index b, index e) {
            return mesa_net<T>({.query = x.query.rows(b, e),
                                .key = x.key.rows(b, e),
                                .value = x.value.rows(b, e),
                                .strength = x.strength.heads(b, e),
                                .lambda = {x.ones.data(), 1, keys}},
                               x.fast_head.heads(b, e));
          })
          .that_allocates(),
  };
}

}  // namespace wane::bench
