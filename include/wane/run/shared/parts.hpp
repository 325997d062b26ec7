// with_parts: lends memory for the parts of the gradients of parameters, and adds them up.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "wane/core/numbers/wider.hpp"
#include "wane/core/recurrence/parameter_gradient.hpp"

namespace wane::impl {

// Adds up the parts of each number, in their order and in double for float.
template <class T, int Rank, class Parts>
void add_up(view<T, Rank> const& to, Parts const& parts) {
  using wide = wider<typename Parts::value_type>;
  index const numbers = numbers_in(to), count = numbers == 0 ? 0 : numbers_in(parts) / numbers;
  std::vector<wide> sums(static_cast<std::size_t>(numbers));
  for (index n = 0; n < count; ++n)
    for (index i = 0; i < numbers; ++i)
      sums[static_cast<std::size_t>(i)] += static_cast<wide>(parts.data[n * numbers + i]);
  for (index i = 0; i < numbers; ++i)
    element_of_number(to, i) = static_cast<T>(sums[static_cast<std::size_t>(i)]);
}

// Calls adjoint(gradients) with memory for the parts of those parameters that are present. Parts
// that nobody writes, as those of padding, are 0.
template <class Gradients, class Adjoint>
void with_parts(Gradients const& to, recurrence_shape const& shape, index sequences,
                Adjoint const& adjoint) {
  if constexpr (has_parameters<Gradients>) {
    Gradients lent = to;
    std::vector<std::shared_ptr<void>> memory;
    Gradients::each_parameter(lent, shape, [&](auto& x, auto... extents) {
      using values = std::vector<typename std::remove_cvref_t<decltype(x)>::part>;
      if (!x.data) return;
      x.parts = x.parts_in(nullptr, shape, sequences, extents...);
      auto const held = std::make_shared<values>(static_cast<std::size_t>(numbers_in(x.parts)));
      x.parts.data = held->data();
      memory.push_back(held);
    });
    adjoint(lent);
    Gradients::each_parameter(lent, shape, [&](auto const& x, auto...) {
      if (x.data) add_up(x, x.parts);
    });
  } else {
    adjoint(to);
  }
}

}  // namespace wane::impl
