// A parameter of a gate: one number a head, [H], or one for each of its rows, [H, K].
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/recurrence/checks.hpp"
#include "wane/operators/gates/softplus.hpp"

namespace wane {

//   wane::gate_parameter<float const> const log_rate(A_log, H);  // or (A_log, H, K), or a view
//
// Holds a view, of T const to read or of T to write. A default gate_parameter is absent.
template <class T>
struct gate_parameter {
  using number = std::remove_const_t<T>;

  view<T, 2> values;  // [H, K]; [H] is held as [H, 1] with a stride of 0

  gate_parameter() = default;
  gate_parameter(T* numbers, index heads) : gate_parameter(view<T, 1>(numbers, heads)) {}
  gate_parameter(T* numbers, index heads, index rows) : values(numbers, heads, rows) {}
  template <std::convertible_to<view<T, 1>> View>
  gate_parameter(View const& by_head) {
    view<T, 1> const x = by_head;
    values = {x.data, {x.extent[0], 1}, {x.stride[0], 0}};
  }
  template <std::convertible_to<view<T, 2>> View>
  gate_parameter(View const& by_row) : values(by_row) {}

  WANE_HOST_DEVICE bool present() const { return values.data != nullptr; }
  WANE_HOST_DEVICE bool by_head() const { return values.extent[1] == 1 && values.stride[1] == 0; }

  WANE_INLINE T& element(index head, index row) const {
    return values.data[head * values.stride[0] + row * values.stride[1]];
  }
  WANE_INLINE number read(index head, index row) const { return element(head, row); }
  template <class Rows>
  requires requires { Rows::width; }
  WANE_HOST_INLINE simd<number, Rows::width> read(index head, Rows rows) const {
    constexpr int width = Rows::width;
    T* const from = &element(head, rows.first);
    if (values.stride[1] == 0) return simd<number, width>(*from);
    int count = width;
    if constexpr (requires { rows.count; }) count = rows.count;
    if (values.stride[1] == 1)
      return count == width ? simd<number, width>::load(from)
                            : impl::load_first<number, width>(from, count);
    simd<number, width> x(number(0));
    for (int l = 0; l < count; ++l) x.v[l] = from[l * values.stride[1]];
    return x;
  }

  // Throws wane::error unless it is absent or fits `heads` heads of `rows` rows.
  void check(char const* name, index heads, index rows) const {
    if (!present()) return;
    check_extent(name, "heads", values.extent[0], heads);
    if (!by_head()) check_extent(name, "rows", values.extent[1], rows);
  }
  // Throws wane::error unless this gradient is absent or has the shape of its parameter.
  void check_as(char const* name, gate_parameter<number const> const& of) const {
    if (!present()) return;
    require(of.present(), "the gradient of ", name, " is asked for; the gate has no ", name);
    bool const same = by_head() == of.by_head() && values.extent[0] == of.values.extent[0] &&
                      values.extent[1] == of.values.extent[1];
    require(same, "the gradient of ", name, " has shape [", values.extent[0], ", ",
            values.extent[1], "]; it must have that of its parameter, [", of.values.extent[0], ", ",
            of.values.extent[1], "]");
  }
  // Throws wane::error unless every number lies in [least, most].
  void check_range(char const* name, double least, double most) const {
    if (!present()) return;
    for (index h = 0; h < values.extent[0]; ++h)
      for (index i = 0; i < values.extent[1]; ++i) {
        auto const x = static_cast<double>(values(h, i));
        require(x >= least && x <= most, name, " is ", x, " at head ", h, ", row ", i,
                "; it must be in [", least, ", ", most, "]");
      }
  }
};

}  // namespace wane
