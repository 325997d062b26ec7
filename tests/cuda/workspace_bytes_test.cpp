// What wane::cuda cannot run is refused where its workspace is asked for.
// SPDX-License-Identifier: MIT
#include "wane/cuda/workspace_bytes.hpp"

#include "support/expect_error.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/vla.hpp"

namespace {

using wane::index, wane::sequence_view, wane::token_view;

float numbers[300];

auto rows(index count) { return sequence_view<float const>(numbers, 1, 1, 1, count); }
auto number() { return token_view<float const>(numbers, 1, 1, 1); }

TEST(Workspace, IsRefusedForMoreRowsThanAKernelTakes) {
  auto const of = [](index keys) {
    return wane::gated_delta_net(
        {.query = rows(keys), .key = rows(keys), .value = rows(1), .strength = number()}, number());
  };
  EXPECT_GT(wane::cuda::workspace_bytes(of(256)), 0u);
  EXPECT_GT(wane::cuda::adjoint_workspace_bytes(of(256)), 0u);
  support::expect_error({"rows 257", "at most 256"}, [&] { wane::cuda::workspace_bytes(of(257)); });
  support::expect_error({"rows 257", "at most 256"},
                        [&] { wane::cuda::adjoint_workspace_bytes(of(257)); });
}

TEST(Workspace, IsRefusedForPenaltiesThatAreRefreshed) {
  auto const of = [](wane::vla_options const& options) {
    return wane::vla<float>({.query = rows(8), .key = rows(8), .value = rows(1)}, options);
  };
  EXPECT_GT(wane::cuda::workspace_bytes(of({})), 0u);
  for (auto const& call :
       {+[](wane::vla<float> const& op) { wane::cuda::workspace_bytes(op); },
        +[](wane::vla<float> const& op) { wane::cuda::adjoint_workspace_bytes(op); }})
    support::expect_error({"refresh is every 20"}, [&] { call(of({.refresh = {20, 1e-3}})); });
}

}  // namespace
