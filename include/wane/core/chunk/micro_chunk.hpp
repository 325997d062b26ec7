// micro_chunk: the terms of four tokens of a head, in the layout that panels of the state read.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/unroll.hpp"
#include "wane/core/recurrence/recurrence.hpp"

namespace wane::impl {

// S is the state before tokens 0..3, and P_t = w_0 ... w_t. All products with P are row by row.
//   u_t = (b_t P_{t-1})^T S + sum_{s<t} (b_t . k_s P_{t-1}/P_s) v_s + (b_t . a_s P_{t-1}/P_s) u_s
//   y_t = (q_t P_t)^T S + sum_{s<=t} (q_t . k_s P_t/P_s) v_s + (q_t . a_s P_t/P_s) u_s
//   S  <- P_3 S + sum_s (k_s P_3/P_s) v_s^T + (a_s P_3/P_s) u_s^T
// Here a is erase_write and b is erase_read. Under the delta rule a = -k, so that v_s - u_s
// replaces v_s and the sums with a vanish. Ratios P_t/P_s are computed as products of the decays
// after s, not as quotients.
inline constexpr int micro_tokens = 4;

// The terms of a row of a token; a decay is held as a factor.
enum term_kind : int { key_term, query_term, erase_read_term, erase_write_term, decay_term };
inline constexpr int term_kinds = 5;

enum class fading { none, head, row };
enum class erasing { none, delta, general };

template <class Token>
inline constexpr fading fading_of = [] {
  if constexpr (has_row_log_decay<Token> || has_row_plain_decay<Token>) return fading::row;
  if constexpr (has_log_decay<Token> || has_plain_decay<Token>) return fading::head;
  return fading::none;
}();
template <class Token>
inline constexpr erasing erasing_of = has_erase_write<Token> ? erasing::general
                                      : has_erase<Token>     ? erasing::delta
                                                             : erasing::none;

// The form of a recurrence, which selects its panel: the type T, how it fades, how it erases.
template <class T, fading Fading, erasing Erasing>
struct panel_form {
  using scalar = T;
  static constexpr int width = simd_width<T>, tokens = micro_tokens;
  using vector = simd<T, width>;
  static constexpr impl::fading fading = Fading;
  static constexpr impl::erasing erasing = Erasing;
  // Vectors of `width` rows. reads: queries, then erase_reads. writes: keys, then erase_writes,
  // then the two parts of the decay P_3.
  static constexpr int reads = micro_tokens * (Erasing == erasing::none ? 1 : 2);
  static constexpr int keys = micro_tokens * (Erasing == erasing::general ? 2 : 1);
  static constexpr int writes = keys + (Fading == fading::row ? 2 : 0);
  // Terms that are not faded, by kind and token.
  static constexpr int terms = term_kinds * micro_tokens;
};

// Dot products between rows of two tokens, [t][s], faded as in the sums above. Only products that
// occur in those sums are set.
template <class T>
struct token_products {
  T query_key[micro_tokens][micro_tokens], read_key[micro_tokens][micro_tokens];
  T query_write[micro_tokens][micro_tokens], read_write[micro_tokens][micro_tokens];
};

template <class T>
struct micro_chunk {
  T const *reads = nullptr,
          *writes = nullptr;  // [row / width][reads or writes][width]; zero beyond the last row
  token_products<T> products = {};
  T whole = 1, rest = 0;  // P_3, where all rows of the head have the same decay
  T direct[micro_tokens] = {};
  bool has_direct = false;
  bool first_writes_alone = false;  // the other tokens are only read
  bool reads_nothing = false;       // none has an output
  int count = micro_tokens;         // fewer at the end of a sequence
  // Whether some decay is zero. Multiplication by zero resets finite numbers only, so a runner
  // looks for NaN and infinity in what it computed.
  bool resets = false;
};

}  // namespace wane::impl
