// The options of a call in substeps: what counts tokens counts substeps there.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/call/adjoint_options.hpp"

namespace wane::impl {

// Holds the numbers that the options of the call point to.
template <class Options, class State>
class substep_options {
 public:
  substep_options(Options const& options, index count, index sequences)
      : starts_(times(options.packed.starts, count)),
        lengths_(times(options.lengths, count)),
        of_substeps_(options) {
    if (index const* const seen = options.initial.positions) {
      positions_ = times(std::span<index const>(seen, seen + sequences), count);
      of_substeps_.initial.positions = positions_.data();
    }
    of_substeps_.packed.starts = starts_, of_substeps_.lengths = lengths_;
    of_substeps_.box.last_tokens *= count;  // below 0 there is no limit, before and after
    if constexpr (requires { options.keep; }) {
      for (kept_state<State> const& kept : options.keep)
        keep_.push_back({kept.tokens * count, kept.state});
      of_substeps_.keep = keep_;
    }
  }
  substep_options(substep_options const&) = delete;
  substep_options& operator=(substep_options const&) = delete;

  Options const& get() const { return of_substeps_; }

 private:
  static std::vector<index> times(std::span<index const> tokens, index count) {
    std::vector<index> substeps(tokens.begin(), tokens.end());
    for (index& n : substeps) n *= count;
    return substeps;
  }

  std::vector<index> starts_, lengths_, positions_;
  std::vector<kept_state<State>> keep_;
  Options of_substeps_;
};

}  // namespace wane::impl
