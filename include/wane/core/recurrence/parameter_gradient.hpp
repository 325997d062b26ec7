// parameter_gradient: the gradient of a parameter that all tokens share, and its parts in a call.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "wane/core/recurrence/named.hpp"
#include "wane/core/recurrence/recurrence.hpp"

namespace wane::impl {

// The tensor `Name` of an aggregate of gradients: a View, [H, ...], that receives a sum. A call of
// adjoint lends memory for the parts of the sum, and a sink writes them: one for each token,
// [B, T, H, ...], or one for each sequence, [N, H, ...], whichever the rank of Parts says.
template <class View, class Parts>
struct lent_parts {
  using sums = View;
  using part = typename Parts::value_type;
  Parts parts = {};

  // The parts in memory that is lent, without gaps.
  static Parts parts_in(part* memory, recurrence_shape const& shape, index sequences,
                        auto... extents) {
    if constexpr (std::is_constructible_v<Parts, part*, index, index, decltype(extents)...>)
      return {memory, shape.batch, shape.time, extents...};
    else
      return {memory, sequences, extents...};
  }
};
template <name Name, class View, class Parts>
using parameter_gradient = named<Name, View, lent_parts<View, Parts>>;

// Throws wane::error where the gradient is present and does not have these extents.
template <class Parameter>
void check_parameter_gradient(Parameter const& x, auto... extents) {
  if (!x.data) return;
  std::string is, must_be;
  int axis = 0;
  auto const tell = [](std::string& to, index n) {
    to += (to.empty() ? "" : ", ") + std::to_string(n);
  };
  (..., (tell(is, x.extent[axis++]), tell(must_be, extents)));
  require(is == must_be, "the gradient of ", x.text, " has shape [", is, "]; it must be [", must_be,
          "]");
}

// On the host, throws wane::error where a gradient is asked for and no memory was lent for its
// parts: the type of gradients of the call holds these, and does not forward each_parameter.
WANE_HOST_DEVICE void require_lent(auto const&... parameters) {
#ifndef __CUDA_ARCH__
  require((... && (!parameters.data || parameters.parts.data)),
          "the gradient of a parameter cannot be found: the gradients of this call hold those of "
          "an operator, and must forward their each_parameter()");
#endif
}

// Gradients with parameters name them in each_parameter, each with its extents:
//   static void each_parameter(auto& of, recurrence_shape const& shape, auto const& visit) {
//     visit(of.A, shape.heads), visit(of.bonus, shape.heads, shape.rows);
//   }
template <class Gradients>
concept has_parameters = requires(Gradients& of, recurrence_shape const& shape) {
  Gradients::each_parameter(of, shape, [](auto const&, auto...) {});
};

template <class T, int Rank>
WANE_HOST_DEVICE constexpr index numbers_in(view<T, Rank> const& x) {
  index count = 1;
  for (index n : x.extent) count *= n;
  return count;
}
// The element of that number, in row-major order.
template <class T, int Rank>
WANE_HOST_DEVICE T& element_of_number(view<T, Rank> const& x, index number) {
  index offset = 0;
  for (int i = Rank - 1; i >= 0; --i) {
    offset += number % x.extent[i] * x.stride[i];
    number /= x.extent[i];
  }
  return x.data[offset];
}

}  // namespace wane::impl
