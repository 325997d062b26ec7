// chunk_form: compile-time constants of a kernel in chunks.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/recurrence.hpp"
#include "wane/cuda/chunks/plan.hpp"

namespace wane::cuda::impl {

template <class Config, class Precision, class Arguments>
struct chunk_form {
  using Op = decltype(Arguments::op);
  using Token = token_of<Op>;
  // The type of factors of products in shared memory, and of kept states.
  using stored = typename Precision::stored;

  // Where the arrays of a block lie in shared memory.
  static constexpr chunk_layout at = Arguments::template layout<Config>;
  static constexpr int tokens = chunk_tokens, rows = Config::most_rows;
  static constexpr int stride = row_stride<Config>;       // between tokens of [token][row]
  static constexpr int lanes = Config::threads / tokens;  // threads that share a token
  static constexpr int warps = Config::threads / warp_size;

  static constexpr bool fades = fading_of<Token> != fading::none;
  static constexpr bool by_row = fading_of<Token> == fading::row;
  static constexpr bool in_logs = decays_in_logs<Token>;
  static constexpr bool erases = has_erase<Token>, general = has_erase_write<Token>,
                        reads_old = reads_before_decay<Token>;

  // The place of a number in an array [token][column].
  WANE_INLINE static int value_at(int token, int column) {
    return token * column_stride<Config> + column;
  }
};

}  // namespace wane::cuda::impl
