// A sequence of heads of 64 x 64 for rows whose tokens take substeps, levels or leads.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "kernels/buffers.hpp"
#include "kernels/eigen.hpp"
#include "kernels/passes.hpp"
#include "kernels/row.hpp"
#include "shared/larger.hpp"

namespace wane::bench {

template <class T>
using vector_of = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using matrix_of = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A sequence of heads with states of 64 x 64: [T, heads, 64] tensors of unit rows, and numbers of
// each token and head.
struct substep_problem {
  static constexpr index size = 64;
  index time, heads, queries, writes;  // query heads a head, writes a token
  buffers memory;
  numbers next;
  float *query, *key, *value, *strength, *decay, *lambda, *y;

  substep_problem(index tokens, index of_heads, index of_queries, index of_writes)
      : time(tokens), heads(of_heads), queries(of_queries), writes(of_writes) {
    query = rows(time * heads * queries), key = rows(time * writes * heads);
    value = rows(time * writes * heads);
    strength = some(time * writes * heads, 0.1, 0.9), decay = some(time * heads, -0.1, -0.001);
    lambda = some(heads * size, 0.25, 1);
    y = memory.add<float>(time * heads * queries * size);
  }
  float* some(index count, double low, double high) {
    float* const x = memory.add<float>(count);
    for (index i = 0; i < count; ++i) x[i] = static_cast<float>(next(low, high));
    return x;
  }
  float* rows(index count) {
    float* const x = some(count * size, -1, 1);
    for (index i = 0; i < count; ++i) Eigen::Map<vector_of<float>>(x + i * size, size).normalize();
    return x;
  }
  template <class T>
  vector_of<T> row(float const* x, index n) const {
    return Eigen::Map<vector_of<float> const>(x + n * size, size).template cast<T>();
  }
  sequence_view<float> output() const { return {y, 1, time, heads * queries, size}; }

  contest with(std::function<void()> ours, double flops_of_number) const {
    contest c;
    c.ours = std::move(ours);
    c.tokens = static_cast<double>(time);
    c.flops = flops_of_number * static_cast<double>(time * heads * size * size);
    c.outputs = {{y, static_cast<std::size_t>(time * heads * queries * size)}};
    return c;
  }
};

// The largest difference of our outputs from `loop`, called with a double and give(n, y).
inline double error_of(substep_problem const& p, auto const& loop) {
  double largest = 0, apart = 0;
  loop(double{}, [&](index n, auto const& y) {
    auto const ours = p.row<double>(p.y, n);
    largest = larger(largest, y.cwiseAbs().maxCoeff());
    apart = larger(apart, (ours - y).cwiseAbs().maxCoeff());
  });
  return apart / largest;
}
// The same loop in float, into the outputs.
inline std::function<void()> in_float(std::shared_ptr<substep_problem> p, auto loop) {
  return [p, loop] {
    loop(float{}, [&](index n, auto const& y) {
      Eigen::Map<vector_of<float>>(p->y + n * p->size, p->size) = y;
    });
  };
}

}  // namespace wane::bench
