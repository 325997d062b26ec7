// The row of retrieval, with 4 nodes of 8 features each and orders of every size.
// SPDX-License-Identifier: MIT
#include "cuda/order_loops.cuh"
#include "wane/operators/retrieval.hpp"

namespace wane::bench {
namespace {

constexpr int features = 8;

// Loaded 16 bytes at a time.
struct alignas(16) feature_row {
  float of[features];
};

struct retrieval_arrays {
  static constexpr int nodes = 4;

  feature_row const *query, *key;
  float const *values, *alpha;
  float* output;
  index heads, channels;

  static std::size_t rows(extents const& e) {
    return static_cast<std::size_t>(e.batch * e.time * e.heads);
  }
  static std::size_t inputs(extents const& e) {
    return 2 * features * rows(e) + static_cast<std::size_t>(e.numbers());
  }
  retrieval_arrays(extents const& e, float const* in, float* out)
      : query(reinterpret_cast<feature_row const*>(in)),
        key(query + rows(e)),
        values(in + 2 * features * rows(e)),
        alpha(in + inputs(e)),
        output(out),
        heads(e.heads),
        channels(e.channels) {}

  retrieval<float, normaliser::none> operation(extents const& e,
                                               spectra::order_table<float> const& table) const {
    auto const of = [&e](feature_row const* first) {
      return sequence_view<float const>(first->of, e.batch, e.time, e.heads, features);
    };
    return {{.query = of(query),
             .key = of(key),
             .value = whole(values, e),
             .alpha = {alpha, e.batch, e.time, e.heads}},
            table};
  }

  // The loads of four tokens are on their way together.
  template <class Real, class Take>
  __device__ void walk(spectra::order_table<Real> const& table, arrangement const& at, index k,
                       Take const& take) const {
    constexpr int ahead = 4;
    Real factor[nodes], m[nodes][features] = {};
#pragma unroll
    for (int s = 0; s < nodes; ++s) factor[s] = std::exp(table.log_decay(0, 0, 0, s));
    index const first_token = k / (heads * channels) * at.time, head = k / channels % heads;
    index place = at.first(k);
    for (index t = 0; t < at.time; t += ahead, place += ahead * at.width) {
      feature_row q[ahead], k[ahead];
      float value[ahead], order[ahead];
      int const count = at.time - t < ahead ? static_cast<int>(at.time - t) : ahead;
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (i < count) {
          index const row = (first_token + t + i) * heads + head;
          q[i] = query[row], k[i] = key[row];
          value[i] = values[place + i * at.width];
          order[i] = alpha[row];
        }
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (i < count) {
          auto const of = table.at(static_cast<Real>(order[i]));
          Real const v = static_cast<Real>(value[i]);
          // What is read is n_t with c_s(alpha_t) written, and d(alpha_t) beside it.
          Real weight[nodes], y = 0;
          Real const beside = of.weight(index{nodes});
#pragma unroll
          for (int s = 0; s < nodes; ++s) weight[s] = of.weight(index{s});
#pragma unroll
          for (int f = 0; f < features; ++f) {
            Real const written = static_cast<Real>(k[i].of[f]) * v;
            Real read = beside * written;
#pragma unroll
            for (int s = 0; s < nodes; ++s) {
              m[s][f] = std::fma(factor[s], m[s][f], weight[s] * written);
              read += m[s][f];
            }
            y = std::fma(static_cast<Real>(q[i].of[f]), read, y);
          }
          take(place + i * at.width, y);
        }
    }
  }
};

}  // namespace

std::vector<row> retrieval_rows() {
  extents const e = one_sequence;
  return {
      {"retrieval/forward/" + e.text() + "/S:" + std::to_string(retrieval_arrays::nodes) +
           "/F:" + std::to_string(features),
       [e](int rounds) { return held_against_walk<order_problem<retrieval_arrays>>(e, rounds); }}};
}

}  // namespace wane::bench
