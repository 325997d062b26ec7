// A head as ggml computes it, token by token, in double: the reference for wane.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

// The numbers of one token of one head; an absent input is empty.
struct naive_token {
  std::vector<double> query, key, value;
  std::vector<double> decay;  // a factor of each row
  std::vector<double> a, b;   // b (a^T S) is added, S being the state before the token
  bool corrects = false;      // writes strength (value - (D S)^T key)
  double strength = 1;
};

// token(t) for t < tokens; place(i, j) is where the state of row i and column j lies in `state`,
// which goes from before to after; give(t, j, y).
template <class Token, class Place, class Give>
void naive_head(index tokens, Token const& token, double* state, Place const& place,
                Give const& give) {
  for (index t = 0; t < tokens; ++t) {
    naive_token const x = token(t);
    for (std::size_t j = 0; j < x.value.size(); ++j) {
      auto const s = [&](std::size_t i) -> double& {
        return state[place(static_cast<index>(i), static_cast<index>(j))];
      };
      double read = 0, held = 0, y = 0;
      for (std::size_t i = 0; i < x.a.size(); ++i) read += x.a[i] * s(i);
      for (std::size_t i = 0; i < x.key.size(); ++i) {
        s(i) *= x.decay[i];
        held += x.key[i] * s(i);
      }
      double const written = x.corrects ? x.strength * (x.value[j] - held) : x.value[j];
      for (std::size_t i = 0; i < x.key.size(); ++i) {
        s(i) += x.key[i] * written + (x.b.empty() ? 0 : x.b[i] * read);
        y += x.query[i] * s(i);
      }
      give(t, static_cast<index>(j), y);
    }
  }
}

}  // namespace wane::bench
