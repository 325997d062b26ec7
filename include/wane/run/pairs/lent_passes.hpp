// lent_passes: the passes from which an operator of several recurrences composes its adjoint.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/pairs/places.hpp"
#include "wane/run/shared/by_table.hpp"

namespace wane::impl {

struct lent_passes {
  static void run(auto const& op, auto const& output, auto const& options) {
    run_by_table(op, output, options);
  }
  template <class Op, class T>
  static void adjoint(Op const& op, sequence_view<T> const& dy, auto const& to,
                      auto const& options) {
    adjoint_by_table(op, sequence_view<std::remove_const_t<T> const>(dy), to, options);
  }
  static void for_each_token(recurrence_shape const& shape, auto const& options, auto const& body) {
    for_each_place(shape, options, body);
  }
  static void for_each_walk(recurrence_shape const& shape, auto const& options, auto const& body) {
    impl::for_each_walk(shape, options, body);
  }
};

}  // namespace wane::impl
