// exponential_bank without wane: a walk with one thread a channel, in float and in double, and CUB.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "cuda/linear_loops.cuh"
#include "wane/operators/exponential_bank.hpp"

namespace wane::bench {

inline constexpr int bank_rows = 16;

// Nodes are [H, bank_rows].
struct bank_arrays {
  float const *log_decay, *key, *query, *values;
  float* output;
  index heads, channels;
};

// log_decay, key and query: timescales of one token to a thousand, each with a weight of its own.
inline std::vector<float> bank_nodes(index heads) {
  auto const count = static_cast<std::size_t>(heads) * bank_rows;
  std::vector<float> nodes(3 * count);
  for (std::size_t i = 0; i < count; ++i) {
    double const s = static_cast<double>(i % bank_rows), h = static_cast<double>(i / bank_rows);
    nodes[i] = static_cast<float>(-std::pow(10, -3 + 3 * s / bank_rows - 0.01 * h));
    nodes[count + i] = static_cast<float>(0.3 + 0.05 * s);
    nodes[2 * count + i] = static_cast<float>(1 - 0.03 * s + 0.01 * h);
  }
  return nodes;
}

inline exponential_bank<float> bank_operation(bank_arrays const& p, sequence_view<float const> x) {
  return exponential_bank<float>({.value = x,
                                  .log_decay = {p.log_decay, p.heads, bank_rows},
                                  .key = {p.key, p.heads, bank_rows},
                                  .query = {p.query, p.heads, bank_rows}});
}

// Calls take(place, y) along line k. The loads of eight tokens are on their way together.
template <class Real, class Take>
__device__ void walk_line(bank_arrays const& p, arrangement const& at, index k, Take const& take) {
  constexpr int ahead = 8;
  index const node = k / p.channels % p.heads * bank_rows;
  Real factor[bank_rows], key[bank_rows], query[bank_rows], h[bank_rows] = {};
#pragma unroll
  for (int s = 0; s < bank_rows; ++s) {
    factor[s] = std::exp(static_cast<Real>(p.log_decay[node + s]));
    key[s] = static_cast<Real>(p.key[node + s]), query[s] = static_cast<Real>(p.query[node + s]);
  }
  index place = at.first(k);
  for (index t = 0; t < at.time; t += ahead, place += ahead * at.width) {
    float value[ahead];
    int const count = at.time - t < ahead ? static_cast<int>(at.time - t) : ahead;
#pragma unroll
    for (int i = 0; i < ahead; ++i)
      if (i < count) value[i] = p.values[place + i * at.width];
#pragma unroll
    for (int i = 0; i < ahead; ++i)
      if (i < count) {
        Real y = 0;
#pragma unroll
        for (int s = 0; s < bank_rows; ++s) {
          h[s] = std::fma(factor[s], h[s], key[s] * static_cast<Real>(value[i]));
          y = std::fma(query[s], h[s], y);
        }
        take(place + i * at.width, y);
      }
  }
}

struct walk_bank_in_float {
  bank_arrays p;
  arrangement at;

  __device__ void operator()(index k) const {
    walk_line<float>(p, at, k, [this](index place, float y) { p.output[place] = y; });
  }
};

struct compare_bank_in_double {
  bank_arrays p;
  arrangement at;
  deviation::sink found;

  __device__ void operator()(index k) const {
    largest seen;
    walk_line<double>(p, at, k, [&](index place, double y) {
      seen.add(static_cast<double>(p.output[place]), y);
    });
    found.merge(seen);
  }
};

// One of the decays as the decay of every token. The first token of a line is a reset. Lines and
// heads have lengths that are powers of two.
struct make_affine_of_node {
  bank_arrays p;
  int node, head_log2;
  unsigned in_line;

  __device__ affine operator()(float value, int i) const {
    bool const begins = (static_cast<unsigned>(i) & in_line) == 0;
    int const at = (i >> head_log2) * bank_rows + node;
    return {begins ? 0.0f : std::exp(p.log_decay[at]), p.key[at] * value};
  }
};
struct add_to_output {
  bank_arrays p;
  int node, head_log2;

  template <class Index>
  __device__ void operator()(Index i, affine const& x) const {
    float const y = p.query[(i >> head_log2) * bank_rows + node] * x.drive;
    p.output[i] = node == 0 ? y : p.output[i] + y;
  }
};

// CUB needs a scan for each decay: a pair of all decays and states would be 128 bytes a token.
// Every scan reads the values, as [channels, time], and adds to the output, which the first one
// writes.
inline constexpr double numbers_moved_by_cub = 2 + 3 * (bank_rows - 1);

inline void scan_bank_by_cub(bank_arrays const& p, extents const& e, void* temporary,
                             std::size_t& bytes, cudaStream_t on) {
  int head_log2 = 0;
  while (index{1} << head_log2 < e.time * e.channels) ++head_log2;
  for (int node = 0; node < bank_rows; ++node) {
    auto const from = thrust::make_transform_iterator(
        thrust::make_zip_iterator(p.values, thrust::counting_iterator<int>(0)),
        thrust::make_zip_function(
            make_affine_of_node{p, node, head_log2, static_cast<unsigned>(e.time - 1)}));
    auto const to = thrust::make_tabulate_output_iterator(add_to_output{p, node, head_log2});
    cuda::throw_on_error(cub::DeviceScan::InclusiveScan(temporary, bytes, from, to, compose{},
                                                        static_cast<int>(e.numbers()), on),
                         "cub::DeviceScan::InclusiveScan");
    if (!temporary) return;
  }
}

}  // namespace wane::bench
