// held_decays: slow rows are multiplied once in many tokens, so that float keeps their decay.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "wane/core/numbers/aligned.hpp"
#include "wane/core/numbers/decay.hpp"
#include "wane/run/panels/one_pass.hpp"

namespace wane::impl {

// A factor within half an ulp of 1 leaves a state as it is, however often it is applied. Row s of a
// state is therefore held as S_s / g_s, where g_s is the decay of all tokens since the row was last
// multiplied. The row is multiplied by g_s when g_s is about 1/2 or less, after a million tokens,
// or in the last pass of a run, together with what is written: by itself a g_s near 1 would be
// lost. Decays then round a row a few times within its memory, however long that is. If no row is
// that slow, no row is held.
template <class T>
class held_decays {
 public:
  using vector = simd<T, simd_width<T>>;
  static constexpr int width = vector::width;

  // log_decays: constants, all <= 0. rows: a multiple of the vector width. most_tokens: the most
  // tokens of a pass.
  held_decays(T const* log_decays, index rows, int most_tokens)
      : rows_(rows),
        log_decays_(rows),
        tokens_(rows),
        factors_(rows),
        reads_(rows * most_tokens),
        writes_(rows * (most_tokens + 2)) {
    std::copy_n(log_decays, rows, log_decays_.data());
    std::fill_n(tokens_.data(), rows, T(0));
    T const slowest = -4 * std::sqrt(std::numeric_limits<T>::epsilon()) / T(most_tokens);
    holds_ = std::any_of(log_decays, log_decays + rows,
                         [&](T log_decay) { return log_decay < 0 && log_decay > slowest; });
  }

  // The factor that row s of the state must still be multiplied by.
  T factor(index s) const {
    return factor_of(decay_from_log(tokens_.data()[s] * log_decays_.data()[s]));
  }

  // Converts the pass to rows in their held form, and counts its tokens. After the last pass rows
  // are not held. The result is valid until the next call.
  template <int N>
  one_pass<T, N, fading::row> operator()(one_pass<T, N, fading::row> const& tokens,
                                         bool last = false) {
    if (!holds_) return tokens;
    auto pass = tokens;
    pass.reads = reads_.data(), pass.writes = writes_.data();
    for (index s = 0; s < rows_; s += width) {
      vector const log_decay = vector::load(log_decays_.data() + s), zero(T(0));
      vector const before = vector::load(tokens_.data() + s), after = before + vector(T(N));
      vector const much = where_below(after * log_decay, vector(T(-0.7)), after, zero),
                   long_ago = where_below(after, vector(most_tokens_held), zero, after);
      vector const applied = last ? after : at_least(much, long_ago), held = after - applied;
      held.store(tokens_.data() + s);
      vector const read = factor_of(decay_from_log(before * log_decay)),
                   write = factor_of(decay_from_log(-held * log_decay));
      read.store(factors_.data() + s);
      unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
        (read * vector::load(tokens.reads + s * N + t * width))
            .store(reads_.data() + s * N + t * width);
        (write * vector::load(tokens.writes + s * (N + 2) + t * width))
            .store(writes_.data() + s * (N + 2) + t * width);
      });
      auto const fade = decay_from_log(applied * log_decay);
      fade.whole.store(writes_.data() + s * (N + 2) + N * width);
      fade.rest.store(writes_.data() + s * (N + 2) + (N + 1) * width);
    }
    return pass;
  }

  // body(pass), where pass is that of the call above.
  template <int N, class Body>
  void take(one_pass<T, N, fading::row> const& tokens, bool last, Body const& body) {
    holds_ ? body((*this)(tokens, last)) : body(tokens);
  }
  // Gives the rows of a state that the latest pass has read the values they stand for.
  void release(index rows, T* state, index row_stride) const {
    if (!holds_) return;
    for (index s = 0; s < rows; ++s, state += row_stride) {
      vector const factor(factors_.data()[s]);
      for (index j = 0; j < row_stride; j += width)
        (factor * vector::load(state + j)).store(state + j);
    }
  }

 private:
  static constexpr T most_tokens_held = T(1 << 20);

  index rows_;
  bool holds_;
  aligned_numbers<T> log_decays_, tokens_, factors_, reads_, writes_;
};

}  // namespace wane::impl
