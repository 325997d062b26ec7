// Decays held back: slow rows fade once in many tokens, so that float does not round it away.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/decay.hpp"
#include "wane/run/aligned.hpp"
#include "wane/run/one_pass.hpp"

namespace wane {

// What N tokens do to rows that fade by constants, but for the fading: [rows / width][N][width].
template <class T, int N>
struct lag_terms {
  T const *reads, *writes;
  T pairs[N][N];
};

// A factor within half an ulp of 1 would leave a state as it is, however often it is applied. So
// the rows of a state are held as S_s / g_s, with g_s all that row s has faded since it was last
// multiplied; that is done when it comes to 1 in 2, or after a million tokens. Decays then round a
// few times in the memory of a row, however long that is.
template <class T>
class held_decays {
 public:
  using vector = simd<T, simd_width<T>>;
  static constexpr int width = vector::width;

  // Logarithms of constant decays, all <= 0: whole vectors of rows.
  held_decays(T const* log_decays, index rows, int most_tokens)
      : rows_(rows),
        log_decays_(rows),
        tokens_(rows),
        reads_(rows * most_tokens),
        writes_(rows * (most_tokens + 2)) {
    std::copy_n(log_decays, rows, log_decays_.data());
    std::fill_n(tokens_.data(), rows, T(0));
  }

  // What row s of the state is still to be multiplied by.
  T factor(index s) const {
    return factor_of(decay_from_log(tokens_.data()[s] * log_decays_.data()[s]));
  }

  // The tokens as they act on rows that are held so; valid until the next.
  template <int N>
  one_pass<T, N, fading::row> operator()(lag_terms<T, N> const& tokens) {
    one_pass<T, N, fading::row> pass{reads_.data(), writes_.data()};
    std::copy_n(&tokens.pairs[0][0], N * N, &pass.pairs[0][0]);
    for (index s = 0; s < rows_; s += width) {
      vector const log_decay = vector::load(log_decays_.data() + s), zero(T(0));
      vector const before = vector::load(tokens_.data() + s), after = before + vector(T(N));
      vector const much = where_below(after * log_decay, vector(T(-0.7)), after, zero),
                   long_ago = where_below(after, vector(most_tokens_held), zero, after);
      vector const applied = at_least(much, long_ago), held = after - applied;
      held.store(tokens_.data() + s);
      vector const read = factor_of(decay_from_log(before * log_decay)),
                   write = factor_of(decay_from_log(-held * log_decay));
      unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
        (read * vector::load(tokens.reads + s * N + t * width))
            .store(reads_.data() + s * N + t * width);
        (write * vector::load(tokens.writes + s * N + t * width))
            .store(writes_.data() + s * (N + 2) + t * width);
      });
      auto const fade = decay_from_log(applied * log_decay);
      fade.whole.store(writes_.data() + s * (N + 2) + N * width);
      fade.rest.store(writes_.data() + s * (N + 2) + (N + 1) * width);
    }
    return pass;
  }

 private:
  static constexpr T most_tokens_held = T(1 << 20);

  index rows_;
  aligned_numbers<T> log_decays_, tokens_, reads_, writes_;
};

}  // namespace wane
