// [B, T, H, C] tensors of any strides that know when somebody writes beside them.
// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "wane/core/numbers/storage.hpp"
#include "wane/core/recurrence/view.hpp"

namespace support {

using wane::index;

template <class T>
T not_a_number() {
  if constexpr (wane::is_complex<T>)
    return {not_a_number<wane::real_type<T>>(), not_a_number<wane::real_type<T>>()};
  else if constexpr (std::numeric_limits<T>::is_specialized)
    return std::numeric_limits<T>::quiet_NaN();
  else
    return T(std::numeric_limits<float>::quiet_NaN());
}

// x rounded to the stored type; 16-bit types are made from floats.
template <class T, class X>
T stored(X const& x) {
  if constexpr (std::is_same_v<T, wane::widened<T>>)
    return static_cast<T>(x);
  else
    return T(static_cast<float>(x));
}

// Where the elements of a tensor lie. `odd` begins one element beyond an aligned place.
enum class arrangement { plain, odd, heads_first, series, padded, spread, backwards };

inline constexpr arrangement all_arrangements[] = {
    arrangement::plain,  arrangement::odd,    arrangement::heads_first, arrangement::series,
    arrangement::padded, arrangement::spread, arrangement::backwards};

template <class T>
class tensor {
 public:
  tensor(index batch, index time, index heads, index columns,
         arrangement how = arrangement::plain) {
    index const extents[] = {batch, time, heads, columns};
    index strides[4];
    int const orders[][4] = {{3, 2, 1, 0}, {3, 1, 2, 0}, {1, 3, 2, 0}};
    int const* order = orders[how == arrangement::heads_first ? 1
                              : how == arrangement::series    ? 2
                                                              : 0];
    index step = how == arrangement::spread ? 3 : 1;
    for (int i = 0; i < 4; ++i) {
      strides[order[i]] = step;
      step *= extents[order[i]];
      if (how == arrangement::spread || (how == arrangement::padded && i == 0)) step += 5;
    }
    index first = margin;
    if (how == arrangement::odd) first += 1;
    if (how == arrangement::backwards)
      for (int i = 0; i < 4; ++i)
        if (extents[i] > 0) first += (extents[i] - 1) * strides[i], strides[i] = -strides[i];
    memory_.assign(static_cast<std::size_t>(step + 2 * margin + 1 + alignment), not_a_number<T>());
    auto const address = reinterpret_cast<std::uintptr_t>(memory_.data());
    auto const past = (64 - address % 64) % 64 / sizeof(T);
    values_ = wane::sequence_view<T>(memory_.data() + past + first, extents, strides);
  }
  tensor(tensor const&) = delete;
  tensor& operator=(tensor const&) = delete;

  operator wane::sequence_view<T>() const { return values_; }
  operator wane::sequence_view<T const>() const { return values_; }
  wane::sequence_view<T> view() const { return values_; }
  T& operator()(index b, index t, index h, index c) const { return values_(b, t, h, c); }

  // value(b, t, h, c) for every element.
  template <class Value>
  void fill(Value const& value) {
    for_each([&](index b, index t, index h, index c) {
      values_(b, t, h, c) = stored<T>(value(b, t, h, c));
    });
  }
  template <class Body>
  void for_each(Body const& body) const {
    for (index b = 0; b < values_.extent[0]; ++b)
      for (index t = 0; t < values_.extent[1]; ++t)
        for (index h = 0; h < values_.extent[2]; ++h)
          for (index c = 0; c < values_.extent[3]; ++c) body(b, t, h, c);
  }

  // Whether every number in memory that is no element still has the bits it had at first.
  bool margins_untouched() const {
    std::vector<bool> own(memory_.size());
    for_each([&](index b, index t, index h, index c) {
      own[static_cast<std::size_t>(&values_(b, t, h, c) - memory_.data())] = true;
    });
    T const nan = not_a_number<T>();
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if (!own[i] && std::memcmp(&memory_[i], &nan, sizeof(T)) != 0) return false;
    return true;
  }

 private:
  static constexpr index margin = 64, alignment = 64;  // whole vectors of every type
  std::vector<T> memory_;
  wane::sequence_view<T> values_;
};

}  // namespace support
