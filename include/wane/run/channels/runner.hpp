// The runner of channelwise recurrences: a column is a recurrence of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/channels/adjoint.hpp"
#include "wane/run/channels/run.hpp"
#include "wane/run/channels/step.hpp"

namespace wane::impl::runners {

struct channels {
  static constexpr std::string_view name = "channels";
  static constexpr int cost = 4;
  template <class Op, class Out>
  static constexpr bool takes = channelwise<Op>;

  static void run(auto const& op, auto const& output, auto const& options) {
    run_channels(op, output, options);
  }
  static void step(auto const& op, walk const& w, auto const& output, auto const& state) {
    step_channels(op, w, output, state);
  }
  static void adjoint(auto const& op, auto const& dy, auto const& to, auto const& options) {
    adjoint_channels(op, dy, to, options);
  }
};

}  // namespace wane::impl::runners
