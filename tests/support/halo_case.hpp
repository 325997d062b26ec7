// halo and its adjoint over ranks of any engine; on_ranks(size, body) calls body(ranks) on each.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "wane/ranks/halo.hpp"

namespace wane::testing {

// Tensors [B, T, H, C] and the cuts between ranks.
struct halo_case {
  static constexpr index B = 2, T = 11, H = 3, C = 2;

  static std::vector<index> cuts_of(int ranks) {
    if (ranks == 1) return {0, T};
    if (ranks == 2) return {0, 9, T};
    if (ranks == 3) return {0, 1, 2, T};
    if (ranks == 4) return {0, 5, 5, 6, T};
    return {0, 0, 2, 3, 3, 4, T, T};
  }
  template <class X>
  static view<X, 4> tokens(X* x, index count) {
    return {x, B, count, H, C};
  }

  template <class OnRanks>
  static void expect_tokens_before(OnRanks const& on_ranks, std::vector<int> const& sizes) {
    std::vector<float> x(B * T * H * C);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
    auto const all = tokens<float const>(x.data(), T);
    for (int size : sizes)
      for (index n : {0, 1, 3, 20}) {
        auto const cuts = cuts_of(size);
        on_ranks(size, [&](auto const& ranks) {
          auto const r = static_cast<std::size_t>(ranks.rank());
          std::vector<float> held(static_cast<std::size_t>(B * n * H * C), NAN);
          auto const before = tokens(held.data(), n);
          index const seen = halo(ranks, all.tokens(cuts[r], cuts[r + 1]), before);
          EXPECT_EQ(seen, std::min(n, cuts[r]));
          for (index b = 0; b < B; ++b)
            for (index t = 0; t < n; ++t) {
              index const at = cuts[r] - n + t;
              EXPECT_EQ(before(b, t, 2, 1), at < 0 ? 0 : all(b, at, 2, 1)) << size << ' ' << n;
            }
        });
      }
  }

  // <halo(x), g> = <x, halo_adjoint(g)>, to the bit for whole numbers.
  template <class OnRanks>
  static void expect_adjoint(OnRanks const& on_ranks, std::vector<int> const& sizes) {
    for (int size : sizes)
      for (index n : {1, 3, 20}) {
        auto const cuts = cuts_of(size);
        std::vector<double> x(B * T * H * C), dx(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 17);
        std::vector<double> left(static_cast<std::size_t>(size));
        on_ranks(size, [&](auto const& ranks) {
          auto const r = static_cast<std::size_t>(ranks.rank());
          std::vector<double> held(static_cast<std::size_t>(B * n * H * C)), g = held;
          for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<double>((i + r) * i % 13);
          (void)halo(ranks, tokens<double const>(x.data(), T).tokens(cuts[r], cuts[r + 1]),
                     tokens(held.data(), n));
          for (std::size_t i = 0; i < g.size(); ++i) left[r] += held[i] * g[i];
          halo_adjoint(ranks, tokens<double const>(g.data(), n),
                       tokens(dx.data(), T).tokens(cuts[r], cuts[r + 1]));
        });
        double sum = 0, right = 0;
        for (double each : left) sum += each;
        for (std::size_t i = 0; i < x.size(); ++i) right += x[i] * dx[i];
        EXPECT_EQ(sum, right) << size << ' ' << n;
      }
  }
};

}  // namespace wane::testing
