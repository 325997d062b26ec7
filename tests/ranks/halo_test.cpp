// halo and its adjoint: every rank finds the tokens before its own, from as many ranks as it takes.
// SPDX-License-Identifier: MIT
#include "wane/ranks/halo.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "wane/testing/thread_ranks.hpp"

namespace wane::testing {
namespace {

constexpr index B = 2, T = 11, H = 3, C = 2;

std::vector<index> cuts_of(int ranks) {
  if (ranks == 1) return {0, T};
  if (ranks == 2) return {0, 9, T};
  if (ranks == 3) return {0, 1, 2, T};
  if (ranks == 4) return {0, 5, 5, 6, T};
  return {0, 0, 2, 3, 3, 4, T, T};
}
template <class X>
view<X, 4> tokens(X* x, index count) {
  return {x, B, count, H, C};
}

TEST(Halo, HoldsTheTokensBefore) {
  std::vector<float> x(B * T * H * C);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  auto const all = tokens<float const>(x.data(), T);
  for (int size : {1, 2, 3, 4, 7})
    for (index n : {0, 1, 3, 20}) {
      auto const cuts = cuts_of(size);
      on_ranks(size, [&](thread_rank const& ranks) {
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
TEST(Halo, HasAnAdjoint) {
  for (int size : {1, 2, 3, 4, 7})
    for (index n : {1, 3, 20}) {
      auto const cuts = cuts_of(size);
      std::vector<double> x(B * T * H * C), dx(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 17);
      std::vector<double> left(static_cast<std::size_t>(size));
      on_ranks(size, [&](thread_rank const& ranks) {
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

TEST(Halo, RefusesOtherShapes) {
  std::vector<float> x(B * T * H * C);
  support::expect_error({"before has heads 2; it must be 3"}, [&] {
    (void)halo(one_rank(), tokens<float const>(x.data(), T),
               sequence_view<float>(x.data(), B, 3, 2, C));
  });
  for (auto const& e : outcomes_on_ranks(2, [&](thread_rank const& ranks) {
         std::vector<float> held(100);
         (void)halo(ranks, tokens<float const>(x.data(), T), tokens(held.data(), 2 + ranks.rank()));
       }))
    support::expect_error({"rank 1 has a halo with tokens 3, rank 0 has 2"},
                          [&] { std::rethrow_exception(e); });
}

}  // namespace
}  // namespace wane::testing
