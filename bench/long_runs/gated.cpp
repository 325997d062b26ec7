// Long runs of memories that write without looking: gla, retnet, linear attention and their kin.
// SPDX-License-Identifier: MIT
#include "long_runs/measure.hpp"

namespace wane::bench {

// Log decays of `slow` are -1e-4 in the mean, so their memory is 1e4 tokens.
std::vector<long_row> gated_rows() {
  return {
      row("gla", 1e4,
          []<class T>(tokens<T> const& x, index b, index e) {
            return gla(x.keyed(b, e), x.slow.rows(b, e));
          }),
      // Its decays are e^(-r / t): it remembers all its tokens, less and less.
      row("gla with a taper", HUGE_VAL,
          []<class T>(tokens<T> const& x, index b, index e) {
            return gla(x.keyed(b, e),
                       constant_rate_gate<T>({x.log_rates.data(), 1}, {{x.ones.data(), 1}}));
          }),
      row("retnet", 1e3,
          []<class T>(tokens<T> const& x, index b, index e) {
            return retnet<T>(x.keyed(b, e), {x.log_rates.data() + 3, 1});
          }),
      // The last layer of 6 and a single head: 2^-8 1e-5 a token.
      row("lightning_attention", 256e5,
          []<class T>(tokens<T> const& x, index b, index e) {
            return lightning_attention<T>(x.keyed(b, e), {.layer = 5, .layers = 6});
          }),
      // A sum of keys that never fades: in float it stands still from 2^24 tokens on.
      row("linear_attention in double", 1,
          []<class T>(tokens<T> const& x, index b, index e) {
            return linear_attention<T, no_gate, double>(x.positive(b, e));
          }),
      row("linear_attention with a gate", 1e4,
          []<class T>(tokens<T> const& x, index b, index e) {
            return linear_attention(x.positive(b, e), x.slow.rows(b, e));
          }),
      row("rwkv6", 1e4,
          []<class T>(tokens<T> const& x, index b, index e) {
            return rwkv6<T>({.query = x.query.rows(b, e),
                             .key = x.key.rows(b, e),
                             .value = x.value.rows(b, e),
                             .bonus = {x.bonus.data(), 1, keys}},
                            x.slow.rows(b, e));
          }),
      row("hgrn2", 1e4,
          []<class T>(tokens<T> const& x, index b, index e) {
            return hgrn2<T>({.query = x.query.rows(b, e), .value = x.value.rows(b, e)},
                            x.slow.rows(b, e));
          }),
      row("grouped_queries over gla", 1e4,
          []<class T>(tokens<T> const& x, index b, index e) {
            return grouped_queries(gla(x.keyed(b, e), x.slow.rows(b, e)));
          }),
      row("log_linear", 1e4,
          []<class T>(tokens<T> const& x, index b, index e) {
            return log_linear<T>({.query = x.query.rows(b, e),
                                  .key = x.key.rows(b, e),
                                  .value = x.value.rows(b, e),
                                  .level_scale = x.levels.rows(b, e)},
                                 x.slow_head.heads(b, e));
          }),
      row("mlstm", 1e4,
          []<class T>(tokens<T> const& x, index b, index e) {
            return mlstm<T>({.query = x.positive_query.rows(b, e),
                             .key = x.positive_key.rows(b, e),
                             .value = x.value.rows(b, e),
                             .input_gate = x.number.heads(b, e)},
                            x.slow_head.heads(b, e));
          }),
      row("rwkv4", 1e3,
          []<class T>(tokens<T> const& x, index b, index e) {
            return rwkv4<T>({.key = x.raw.rows(b, e),
                             .value = x.value.rows(b, e),
                             .log_decay = {x.log_rates.data(), 1, columns},
                             .bonus = {x.bonus.data(), 1, columns}});
          }),
  };
}

}  // namespace wane::bench
