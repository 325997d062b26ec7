// The runners of pairs and of quotients: their parts run by the table, each as it would alone.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/pairs/adjoint.hpp"
#include "wane/run/pairs/normalised.hpp"
#include "wane/run/pairs/run.hpp"

namespace wane::impl::runners {

struct pairs {
  static constexpr std::string_view name = "pairs";
  template <class Op, class Out>
  static constexpr bool takes = paired_recurrence<Op>;

  static void run(auto const& op, auto const& output, auto const& options) {
    run_pair(op, output, options);
  }
  static void step(auto const& op, walk const& w, auto const& output, auto const& state) {
    step_in_order(op, w, output, state);
  }
  static void check_adjoint(auto const& op, auto const& to, auto const& options, index sequences) {
    check_adjoint_of_pair(op, to, options, sequences);
  }
  static void adjoint(auto const& op, auto const& dy, auto const& to, auto const& options) {
    adjoint_pair(op, dy, to, options);
  }
};

// A normalised memory runs and steps as other memories do; its adjoint goes through its sums.
struct normalised {
  static constexpr std::string_view name = "normalised";
  template <class Op, class Out>
  static constexpr bool takes = normalised_recurrence<Op>;

  static void adjoint(auto const& op, auto const& dy, auto const& to, auto const& options) {
    adjoint_normalised(op, dy, to, options);
  }
};

}  // namespace wane::impl::runners
