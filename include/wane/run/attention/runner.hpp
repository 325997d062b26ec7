// The runner of the adjoint of local attention, which runs and steps in order.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/attention/local_adjoint.hpp"

namespace wane::impl::runners {

struct local_attention {
  static constexpr std::string_view name = "local_attention";
  template <class Op, class Out>
  static constexpr bool takes = windowed_attention<Op>;

  static void check_adjoint(auto const& op, auto const& to, auto const&, index) {
    check_gradients(op.whole(), to);
  }
  static void adjoint(auto const& op, auto const& dy, auto const& to, auto const& options) {
    adjoint_local_attention(op, dy, to, options);
  }
};

}  // namespace wane::impl::runners
