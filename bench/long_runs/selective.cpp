// Long runs of the Mamba family: mamba1, mamba2, mamba3 and longhorn.
// SPDX-License-Identifier: MIT
#include "long_runs/measure.hpp"

namespace wane::bench {
namespace {

template <class T>
mamba2_inputs<T> mamba2_of(tokens<T> const& x, index b, index e) {
  return {.x = x.value.rows(b, e),
          .dt = x.number.heads(b, e),
          .A = {x.log_rates.data() + 2, 1},
          .B = x.key.rows(b, e),
          .C = x.query.rows(b, e),
          .D = {x.bonus.data(), 1}};
}

}  // namespace

std::vector<long_row> selective_rows() {
  return {
      row("mamba1", 1e3,
          []<class T>(tokens<T> const& x, index b, index e) {
            static T const A[] = {-1,      -0.5f,    -0.25f,    -0.125f,   -0.5f,    -0.25f,
                                  -0.125f, -0.0625f, -0.25f,    -0.125f,   -0.0625f, -0.03125f,
                                  -0.125f, -0.0625f, -0.03125f, -0.015625f};
            return mamba1<T>({.x = x.value.rows(b, e),
                              .dt = x.small.rows(b, e),
                              .A = {A, 1, columns, keys},
                              .B = x.key.rows(b, e),
                              .C = x.query.rows(b, e),
                              .D = {x.bonus.data(), 1, columns}},
                             {.dt_softplus = true});
          }),
      row("mamba2", 1e3,
          []<class T>(tokens<T> const& x, index b, index e) {
            return mamba2<T>(mamba2_of(x, b, e), {.dt_softplus = true});
          }),
      // It remembers all its tokens, less and less.
      row("mamba2 with a taper", HUGE_VAL,
          []<class T>(tokens<T> const& x, index b, index e) {
            auto in = mamba2_of(x, b, e);
            in.taper = {x.tapers.data(), 1};
            return mamba2<T>(in, {.dt_softplus = true});
          }),
      row("mamba3", 1e3,
          []<class T>(tokens<T> const& x, index b, index e) {
            return mamba3<T>({.x = x.value.rows(b, e),
                              .B = x.key.rows(b, e),
                              .C = x.query.rows(b, e),
                              .delta = x.strength.heads(b, e),
                              .trapezoid = x.other_strength.heads(b, e),
                              .angle = x.number.rows(b, e),
                              .D = {x.bonus.data(), 1},
                              .B_bias = {x.bonus.data(), 1, keys},
                              .C_bias = {x.ones.data(), 1, keys}},
                             x.fast_head.heads(b, e));
          })
          .that_allocates(),
      row("longhorn", 1e2,
          []<class T>(tokens<T> const& x, index b, index e) {
            return longhorn<T>({.query = x.query.rows(b, e),
                                .key = x.key.rows(b, e),
                                .value = x.value.rows(b, e),
                                .beta = x.small.rows(b, e),
                                .D = {x.bonus.data(), 1, columns}},
                               {.sigmoid = true});
          }),
  };
}

}  // namespace wane::bench
