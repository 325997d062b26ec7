// counted: a number that counts the operations done with it, for statements about costs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

namespace wane::bench {

// Sums, products and quotients, signs, and the functions below count one each; comparisons none.
class counted {
 public:
  counted() = default;
  template <class Number>
  requires std::is_arithmetic_v<Number> counted(Number value)
      : value_(static_cast<double>(value)) {}
  explicit operator double() const { return value_; }

  static std::int64_t operations() { return count; }

  friend counted operator+(counted a, counted b) { return one(a.value_ + b.value_); }
  friend counted operator-(counted a, counted b) { return one(a.value_ - b.value_); }
  friend counted operator*(counted a, counted b) { return one(a.value_ * b.value_); }
  friend counted operator/(counted a, counted b) { return one(a.value_ / b.value_); }
  friend counted operator-(counted a) { return one(-a.value_); }
  friend counted& operator+=(counted& a, counted b) { return a = a + b; }
  friend counted exp(counted a) { return one(std::exp(a.value_)); }
  friend counted log(counted a) { return one(std::log(a.value_)); }
  friend counted sqrt(counted a) { return one(std::sqrt(a.value_)); }
  friend counted log1p(counted a) { return one(std::log1p(a.value_)); }
  friend auto operator<=>(counted a, counted b) = default;
  friend std::ostream& operator<<(std::ostream& to, counted a) { return to << a.value_; }

 private:
  static counted one(double value) {
    ++count;
    return value;
  }

  inline static std::int64_t count = 0;
  double value_ = 0;
};

}  // namespace wane::bench

template <>
struct std::numeric_limits<wane::bench::counted> : std::numeric_limits<double> {};
