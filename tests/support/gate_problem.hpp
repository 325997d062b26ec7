// Random inputs of gates and their gradients, and a loss whose differences these are held against.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "wane/operators/gates/gates.hpp"

namespace support {

using wane::index;

// Numbers of one input and their gradient, which begins as NaN.
template <class T>
struct input {
  std::vector<T> values, gradient;

  input(index size, double low, double high, random_values& random) {
    for (index n = 0; n < size; ++n) values.push_back(static_cast<T>(random.uniform(low, high)));
    gradient.assign(values.size(), std::numeric_limits<T>::quiet_NaN());
  }
};

// 2 x 7 tokens, 3 heads of 19 rows (or of one), and all that gates may be made of.
template <class T>
struct gate_problem {
  static constexpr index batch = 2, time = 7, heads = 3, rows = 19;
  random_values random;
  input<T> raw{batch * time * heads * rows, -4, -0.1, random};
  input<T> log_rate{heads * rows, -2, 1, random}, bias{heads * rows, -2, -0.1, random};
  input<T> alpha{heads * rows, 0.1, 0.9, random};
  std::vector<T> weight = input<T>(batch * time * heads * rows, -1, 1, random).values;
  wane::gate_adjoint_options where;

  static wane::sequence_view<T> by_row(std::vector<T>& x) {
    return {x.data(), batch, time, heads, rows};
  }
  static wane::token_view<T> by_head(std::vector<T>& x) { return {x.data(), batch, time, heads}; }
  wane::sequence_view<T const> raw_rows() { return by_row(raw.values); }
  wane::token_view<T const> raw_heads() { return by_head(raw.values); }
  static wane::view<T, 2> of_rows(std::vector<T>& x) { return {x.data(), heads, rows}; }
  static wane::view<T, 1> of_heads(std::vector<T>& x) { return {x.data(), heads}; }

  // The place of token k of a sequence of the batch, none packed.
  wane::place<> place(index b, index t, index h) const {
    bool const forward = where.direction == wane::direction::forward;
    return {b, t, h, (where.seen ? where.seen[b] : 0) + (forward ? t + 1 : time - t)};
  }
  // The loss sum weight o log w.
  template <class Gate>
  double loss(Gate const& gate) {
    double total = 0;
    for (index b = 0; b < batch; ++b)
      for (index t = 0; t < time; ++t)
        for (index h = 0; h < heads; ++h) {
          if constexpr (Gate::by_row) {
            for (index i = 0; i < rows; ++i)
              total +=
                  static_cast<double>(by_row(weight)(b, t, h, i) * gate.read(place(b, t, h), i));
          } else {
            total += static_cast<double>(by_head(weight)(b, t, h) * gate.read(place(b, t, h)));
          }
        }
    return total;
  }
  // Compares the gradient of an input with central differences of the loss.
  template <class Make>
  void expect_gradient(input<T>& of, std::size_t count, Make const& make) {
    nearness near;
    for (std::size_t n = 0; n < count; n += 1 + count / 60) {
      double const step = 1e-5;
      T const here = of.values[n];
      of.values[n] = here + step;
      double const above = loss(make());
      of.values[n] = here - step;
      double const below = loss(make());
      of.values[n] = here;
      near.add(of.gradient[n], (above - below) / (2 * step));
    }
    // The third derivative leaves 1e-10, rounding 1e-16 / 1e-5 of the sum of some hundred terms.
    EXPECT_LT(near.both(), 1e-8);
  }
};

}  // namespace support
