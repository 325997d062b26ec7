// Tensors whose last extents are 1 as views without them.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/tensor.hpp"

namespace support {

template <class T>
wane::view<T, 3> three(tensor<T> const& x) {
  auto const all = x.view();
  auto const &e = all.extent, &s = all.stride;
  return {all.data, {e[0], e[1], e[2]}, {s[0], s[1], s[2]}};
}
template <class T>
wane::view<T, 2> two(tensor<T> const& x) {
  auto const all = three(x);
  return {all.data, {all.extent[0], all.extent[1]}, {all.stride[0], all.stride[1]}};
}
template <class T>
wane::view<T, 1> one(tensor<T> const& x) {
  return {x.view().data, {x.view().extent[0]}, {x.view().stride[0]}};
}

}  // namespace support
