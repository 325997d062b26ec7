// halo and its adjoint: every rank finds the tokens before its own, from as many ranks as it takes.
// SPDX-License-Identifier: MIT
#include "wane/ranks/halo.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/halo_case.hpp"
#include "wane/testing/thread_ranks.hpp"

namespace wane::testing {
namespace {

auto const on_threads = [](int size, auto const& body) { on_ranks(size, body); };

TEST(Halo, HoldsTheTokensBefore) { halo_case::expect_tokens_before(on_threads, {1, 2, 3, 4, 7}); }

TEST(Halo, HasAnAdjoint) { halo_case::expect_adjoint(on_threads, {1, 2, 3, 4, 7}); }

TEST(Halo, RefusesOtherShapes) {
  constexpr index B = halo_case::B, T = halo_case::T, H = halo_case::H, C = halo_case::C;
  std::vector<float> x(B * T * H * C);
  support::expect_error({"before has heads 2; it must be 3"}, [&] {
    (void)halo(one_rank(), halo_case::tokens<float const>(x.data(), T),
               sequence_view<float>(x.data(), B, 3, 2, C));
  });
  for (auto const& e : outcomes_on_ranks(2, [&](thread_rank const& ranks) {
         std::vector<float> held(100);
         (void)halo(ranks, halo_case::tokens<float const>(x.data(), T),
                    halo_case::tokens(held.data(), 2 + ranks.rank()));
       }))
    support::expect_error({"rank 1 has a halo with tokens 3, rank 0 has 2"},
                          [&] { std::rethrow_exception(e); });
}

}  // namespace
}  // namespace wane::testing
