// The inputs of a long run: a buffer of tokens of one head, the same numbers in every precision.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "kernels/buffers.hpp"
#include "wane/wane.hpp"

namespace wane::bench {

inline constexpr index keys = 4, columns = 4;  // of a state, K and V

// Tensors [1, T, 1, C] that are read in pieces.
template <class T>
struct token_array {
  std::vector<T> numbers;
  index channels;

  index time() const { return static_cast<index>(numbers.size()) / channels; }
  sequence_view<T const> rows(index begin, index end) const {
    return sequence_view<T const>(numbers.data(), 1, time(), 1, channels).tokens(begin, end);
  }
  token_view<T const> heads(index begin, index end) const {
    return token_view<T const>(numbers.data(), 1, time(), 1).tokens(begin, end);
  }
};

// Every number is a float, and T holds it without rounding. Where the same numbers came again and
// again, so would their roundings, and the errors would add up: `renew` makes other values and
// keys.
template <class T>
class tokens {
  index count_;
  numbers next_;

 public:
  explicit tokens(index count) : count_(count) {}

  // Directions of length 1, with signs of every kind or without a negative number.
  token_array<T> query = of_length_one(-1), key = of_length_one(-1), removal = of_length_one(-1),
                 positive_query = of_length_one(0.1), positive_key = of_length_one(0.1);
  token_array<T> value = filled(columns, -1, 1), raw = filled(keys, -1, 1),
                 small = filled(columns, -2, 0);
  // Log decays: a state of `slow` remembers 10,000 tokens, one of `fast` 10.
  token_array<T> slow = filled(keys, -2e-4, 0), fast = filled(keys, -0.2, 0),
                 slow_head = filled(1, -2e-4, 0), fast_head = filled(1, -0.2, 0);
  token_array<T> strength = filled(1, 0.1, 0.9), other_strength = filled(1, 0.1, 0.9),
                 rate = filled(keys, 0.1, 0.9), write_gate = filled(columns, 0.1, 0.9),
                 order = filled(1, 0.15, 0.95), number = filled(1, -1, 1);
  token_array<T> levels = filled(30, -1, 1);
  // Of two substeps a token.
  token_array<T> step_key = of_length_one(-1, 2), step_value = filled(columns, -1, 1, 2),
                 step_strength = filled(1, 0.1, 0.9, 2);
  // Parameters of the head, by row or by column.
  std::vector<T> bonus = {T(0.5), T(-0.25), T(0.75), T(0.125)};
  std::vector<T> log_rates = {T(-0.25), T(-0.0625), T(-0.0078125), T(-0.0009765625)};
  std::vector<T> turns = {T(0), T(0.5), T(1.5), T(3)};
  std::vector<T> ones = std::vector<T>(16, T(1)), tapers = std::vector<T>(4, T(0.75));

  keyed_inputs<T> keyed(index begin, index end) const {
    return {.query = query.rows(begin, end),
            .key = key.rows(begin, end),
            .value = value.rows(begin, end)};
  }
  keyed_inputs<T> positive(index begin, index end) const {
    return {.query = positive_query.rows(begin, end),
            .key = positive_key.rows(begin, end),
            .value = value.rows(begin, end)};
  }
  delta_inputs<T> delta(index begin, index end) const {
    return {.query = query.rows(begin, end),
            .key = key.rows(begin, end),
            .value = value.rows(begin, end),
            .strength = strength.heads(begin, end)};
  }

  // Other values and keys for the tokens [begin, end).
  void renew(index begin, index end) {
    fill(value, begin, end, -1, 1), fill(step_value, 2 * begin, 2 * end, -1, 1);
    fill_with_unit_rows(key, begin, end, -1), fill_with_unit_rows(positive_key, begin, end, 0.1);
    fill_with_unit_rows(step_key, 2 * begin, 2 * end, -1);
  }

 private:
  void fill(token_array<T>& x, index begin, index end, double low, double high) {
    for (index i = begin * x.channels; i < end * x.channels; ++i)
      x.numbers[static_cast<std::size_t>(i)] = static_cast<T>(static_cast<float>(next_(low, high)));
  }
  void fill_with_unit_rows(token_array<T>& x, index begin, index end, double low) {
    fill(x, begin, end, low, 1);
    for (T* row = x.numbers.data() + begin * keys; begin < end; ++begin, row += keys) {
      double squares = 0;
      for (index i = 0; i < keys; ++i)
        squares += static_cast<double>(row[i]) * static_cast<double>(row[i]);
      for (index i = 0; i < keys; ++i)
        row[i] =
            static_cast<T>(static_cast<float>(static_cast<double>(row[i]) / std::sqrt(squares)));
    }
  }
  token_array<T> empty(index channels, index substeps) const {
    return {std::vector<T>(static_cast<std::size_t>(count_ * substeps * channels)), channels};
  }
  token_array<T> filled(index channels, double low, double high, index substeps = 1) {
    token_array<T> x = empty(channels, substeps);
    fill(x, 0, x.time(), low, high);
    return x;
  }
  token_array<T> of_length_one(double low, index substeps = 1) {
    token_array<T> x = empty(keys, substeps);
    fill_with_unit_rows(x, 0, x.time(), low);
    return x;
  }
};

}  // namespace wane::bench
