// The row of retention, with 16 nodes and orders of every size.
// SPDX-License-Identifier: MIT
#include "cuda/order_loops.cuh"
#include "wane/operators/retention.hpp"

namespace wane::bench {
namespace {

struct retention_arrays {
  static constexpr int nodes = 16;

  float const *values, *alpha;
  float* output;
  index heads, channels;

  static std::size_t inputs(extents const& e) { return static_cast<std::size_t>(e.numbers()); }
  retention_arrays(extents const& e, float const* in, float* out)
      : values(in), alpha(in + inputs(e)), output(out), heads(e.heads), channels(e.channels) {}

  retention<float> operation(extents const& e, spectra::order_table<float> const& table) const {
    return {{.value = whole(values, e), .alpha = {alpha, e.batch, e.time, e.heads}}, table};
  }

  // The loads of eight tokens are on their way together.
  template <class Real, class Take>
  __device__ void walk(spectra::order_table<Real> const& table, arrangement const& at, index k,
                       Take const& take) const {
    constexpr int ahead = 8;
    Real factor[nodes], m[nodes] = {};
#pragma unroll
    for (int s = 0; s < nodes; ++s) factor[s] = std::exp(table.log_decay(0, 0, 0, s));
    index const first_token = k / (heads * channels) * at.time, head = k / channels % heads;
    index place = at.first(k);
    for (index t = 0; t < at.time; t += ahead, place += ahead * at.width) {
      float value[ahead], order[ahead];
      int const count = at.time - t < ahead ? static_cast<int>(at.time - t) : ahead;
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (i < count) {
          value[i] = values[place + i * at.width];
          order[i] = alpha[(first_token + t + i) * heads + head];
        }
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (i < count) {
          auto const of = table.at(static_cast<Real>(order[i]));
          Real const v = static_cast<Real>(value[i]);
          Real y = of.weight(index{nodes}) * v;
#pragma unroll
          for (int s = 0; s < nodes; ++s) {
            m[s] = std::fma(factor[s], m[s], of.weight(index{s}) * v);
            y += m[s];
          }
          take(place + i * at.width, y);
        }
    }
  }
};

}  // namespace

std::vector<row> retention_rows() {
  extents const e = one_sequence;
  return {
      {"retention/forward/" + e.text() + "/S:" + std::to_string(retention_arrays::nodes),
       [e](int rounds) { return held_against_walk<order_problem<retention_arrays>>(e, rounds); }}};
}

}  // namespace wane::bench
