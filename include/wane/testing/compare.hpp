// Outputs and states of a run, and how far two of them are apart.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "wane/core/numbers/threads.hpp"
#include "wane/core/state/state.hpp"

namespace wane::testing::impl {

// The larger of two errors, or NaN if one of them is.
inline double worse(double a, double b) { return a != a || a > b ? a : b; }

}  // namespace wane::testing::impl

namespace wane::testing {

// How far values are apart: the norm of a - b over the norm of b, over all pairs seen; NaN if a
// value is.
class distance {
 public:
  template <class T>
  void see(std::vector<T> const& a, std::vector<T> const& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      apart_ += square(std::abs(a[i] - b[i]));
      size_ += square(std::abs(b[i]));
    }
  }
  double relative() const { return apart_ == 0 ? 0 : std::sqrt(apart_ / size_); }

 private:
  static double square(auto x) { return static_cast<double>(x) * static_cast<double>(x); }
  double apart_ = 0, size_ = 0;
};

// Output and state of a run. The output starts as NaN, so that outputs never written show.
template <class T, class Y = T>
struct result {
  recurrence_shape shape;
  std::vector<Y> output;
  recurrent_state<T> state;

  result(recurrence_shape const& of, recurrent_state<T> start)
      : shape(of),
        output(static_cast<std::size_t>(of.batch * of.time * of.heads * of.columns),
               Y(std::numeric_limits<real_type<Y>>::quiet_NaN())),
        state(std::move(start)) {}

  sequence_view<Y> view() {
    return {output.data(), shape.batch, shape.time, shape.heads, shape.columns};
  }
  state_view<T const> state_to_read() const { return state; }

  // Sets the outputs of padding in a padded batch to 0; false if one of them had been written.
  bool take_padding(std::vector<index> const& lengths) {
    bool untouched = true;
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      std::size_t const row = output.size() / lengths.size();
      auto const token = static_cast<std::size_t>(shape.heads * shape.columns);
      auto const end = output.begin() + static_cast<std::ptrdiff_t>((b + 1) * row);
      auto at = output.begin() +
                static_cast<std::ptrdiff_t>(b * row + static_cast<std::size_t>(lengths[b]) * token);
      for (; at != end; *at++ = Y(0)) untouched = untouched && *at != *at;
    }
    return untouched;
  }

  bool same_bits(result const& other) const {
    auto const same = [](auto const& a, auto const& b) {
      return a.size() == b.size() &&
             (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
    };
    return same(output, other.output) && same(state.values(), other.state.values());
  }
};

// How far two results are apart, outputs and states together.
template <class T, class Y>
double difference(result<T, Y> const& a, result<T, Y> const& b) {
  distance apart;
  apart.see(a.output, b.output);
  apart.see<T>(a.state.values(), b.state.values());
  return apart.relative();
}

// Lengths for the sequences of a padded batch: most of its tokens, none, all, one, and so on.
inline std::vector<index> padded_lengths(recurrence_shape const& shape) {
  index const some[] = {shape.time - shape.time / 3, 0, shape.time, std::min<index>(1, shape.time)};
  std::vector<index> lengths;
  for (index b = 0; b < shape.batch; ++b) lengths.push_back(some[b % 4]);
  return lengths;
}

// A number from the normal distribution, as are both parts of a complex one.
template <class T>
T random_number(std::mt19937_64& bits) {
  std::normal_distribution<double> normal;
  if constexpr (is_complex<T>)
    return T(static_cast<real_type<T>>(normal(bits)), static_cast<real_type<T>>(normal(bits)));
  else
    return static_cast<T>(normal(bits));
}

template <class T>
std::vector<T> random_numbers(std::size_t count, std::mt19937_64& bits) {
  std::vector<T> values(count);
  for (T& x : values) x = random_number<T>(bits);
  return values;
}

}  // namespace wane::testing
