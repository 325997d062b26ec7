// Inputs of affine recurrences of every form, in float and in double.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "support/random_values.hpp"
#include "support/tensor.hpp"
#include "support/user_operators.hpp"
#include "wane/operators/delta_net.hpp"

namespace support {

// Random inputs that any form may read. Erasing takes away more than it adds elsewhere, so that a
// memory that never forgets does not grow either. All numbers are floats, in any T the same.
template <class T>
struct memory {
  index batch, time, heads, rows, columns;
  random_values random{7};
  tensor<T> query, key, value, decay, read, write;
  std::vector<T> direct;

  memory(index b, index t, index h, index k, index v, arrangement how = arrangement::plain)
      : batch(b),
        time(t),
        heads(h),
        rows(k),
        columns(v),
        query(b, t, h, k, how),
        key(b, t, h, k, how),
        value(b, t, h, v, how),
        decay(b, t, h, k, how),
        read(b, t, h, k, how),
        write(b, t, h, k, how),
        direct(static_cast<std::size_t>(h), T(0.5)) {
    double const size = 1 / std::sqrt(static_cast<double>(k));
    auto const some = [&](auto...) { return static_cast<float>(random.uniform(-size, size)); };
    for (auto* x : {&query, &key, &value, &read}) x->fill(some);
    write.fill([&](index n, index at, index head, index i) {
      return static_cast<float>(some() / 5 - static_cast<float>(read(n, at, head, i)) / 2);
    });
    decay.fill([&](auto...) { return static_cast<float>(random.log_decay()); });
  }

  template <forgets Decay, erases Erase>
  keyed_memory<T, Decay, Erase> keyed() const {
    return {{query.view(), key.view(), value.view(), decay.view(), read.view(), write.view(),
             direct.data()}};
  }
  wane::keyed_inputs<T> in() const { return {.query = query, .key = key, .value = value}; }
  wane::delta_inputs<T> delta_in() const {
    return {.query = query, .key = key, .value = value, .strength = strength()};
  }
  // Row 0 of a tensor, a number a token and head.
  static wane::token_view<T const> first(tensor<T> const& x) {
    auto const v = x.view();
    return {
        v.data, {v.extent[0], v.extent[1], v.extent[2]}, {v.stride[0], v.stride[1], v.stride[2]}};
  }
  wane::token_view<T const> gate() const { return first(decay); }
  wane::token_view<T const> strength() const { return first(read); }
};

}  // namespace support
