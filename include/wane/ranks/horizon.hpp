// tokens_remembered: how many of the last tokens decide a state, because what was before has faded.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "wane/core/call/run_options.hpp"

namespace wane::impl {

// log |decay| of a token, in double. A reset is -inf.
template <class Token>
double log_of_fading(Token const& x, index i, index j) {
  if constexpr (decays_in_logs<Token>)
    return static_cast<double>(std::real(log_decay_of(x, i, j)));
  else
    return std::log(static_cast<double>(std::abs(decay_of(x, i, j).factor)));
}

// What is left of a state is negligible below 2^-100.
inline constexpr double log_of_nothing = -69.4;

enum class which_tokens { last, first };

// The number of last tokens of the walks of a call that leave less than 2^-100 of any state before
// them, or of first tokens, which leave as little of a gradient after them. -1 where more than
// `most` would be needed, or seem to be.
template <scannable Op, class Options>
index tokens_remembered(Op const& op, Options const& options, index const* positions, index most,
                        which_tokens which = which_tokens::last) {
  using Token = token_of<Op>;
  if constexpr (std::is_same_v<decltype(decay_of(std::declval<Token>(), index{}, index{})),
                               no_decay>) {
    return -1;
  } else {
    recurrence_shape const shape = op.shape();
    state_box const box = box_of(shape, options);
    index const columns = decays_by_element<Token> ? box.columns : 1;
    index const rows =
        decays_by_element<Token> || has_row_log_decay<Token> || has_row_plain_decay<Token>
            ? shape.rows
            : 1;
    std::vector<double> left(static_cast<std::size_t>(rows * columns));
    index needed = 0;
    for (index n = 0; n < walks_of(shape, options); ++n) {
      walk const w = walk_of(n, shape, options, positions);
      std::fill(left.begin(), left.end(), 0.);
      index k = 0;
      double slowest = 0;
      for (index check = 16; slowest > log_of_nothing; check += check / 2) {
        index const end = std::min(check, std::min(most, w.count));
        for (; k < end; ++k) {
          auto const x = op.at(w.token(which == which_tokens::last ? w.count - 1 - k : k));
          double* to = left.data();
          for (index i = 0; i < rows; ++i)
            for (index j = 0; j < columns; ++j) *to++ += log_of_fading(x, i, box.first_column + j);
        }
        slowest = -INFINITY;
        for (double l : left) {
          if (!(l <= 0)) return -1;
          slowest = std::max(slowest, l);
        }
        bool const over = k == w.count || k >= most;
        if (!(slowest <= log_of_nothing) &&
            (over ||
             !(slowest <= log_of_nothing / 2 * static_cast<double>(k) / static_cast<double>(most))))
          return -1;
      }
      needed = std::max(needed, k);
    }
    return needed;
  }
}

}  // namespace wane::impl
