// The gradient of a memory's values against that in double.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/deviation.cuh"
#include "wane/core/recurrence/recurrence.hpp"

namespace wane::bench {

// The gradient of the values of column k, from the last token to the first. The others are sums
// over columns, which tests hold against the CPU's.
template <class Op, class Io, int rows>
struct value_gradient_comparison {
  Op op;
  sequence_view<Io const> output_gradient;
  sequence_view<Io> value_gradient;
  index step;
  deviation::sink found;

  __device__ void operator()(index n) const {
    index const k = n * step;
    recurrence_shape const shape = op.shape();
    index const column = k % shape.columns, line = k / shape.columns;
    double cotangent[rows] = {};
    largest seen;
    for (index t = shape.time - 1; t >= 0; --t) {
      place<> const at{line / shape.heads, t, line % shape.heads, t + 1};
      auto const x = op.at(at);
      auto const dy = static_cast<double>(output_gradient.read(at, column));
      double of_value = 0;
      for (int i = 0; i < rows; ++i) {
        cotangent[i] += static_cast<double>(x.query(i)) * dy;
        of_value += static_cast<double>(x.key(i)) * cotangent[i];
      }
      for (int i = 0; i < rows; ++i)
        cotangent[i] = static_cast<double>(factor_of(decay_of(x, i, column))) * cotangent[i] -
                       static_cast<double>(x.erase_read(i)) * of_value;
      seen.add(static_cast<double>(value_gradient.read(at, column)), of_value);
    }
    found.merge(seen);
  }
};

}  // namespace wane::bench
