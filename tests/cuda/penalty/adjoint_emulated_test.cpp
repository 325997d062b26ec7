// The adjoint of penalised memories by the kernels of wane::cuda, on an emulated GPU: as that of
// the CPU in double.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/adjoint_cases.hpp"
#include "wane/testing/emulated_run.hpp"

namespace wane::testing {
namespace {

using enum write_rule;
using memory = cuda::impl::chunk_config<1, 64>;
// Three warps; and segments of a chunk, of penalties and of S.
using config = penalised_config<cuda::impl::penalty_config<96>, memory>;
using cut =
    penalised_config<cuda::impl::penalty_config<64, 64, 1>, cuda::impl::chunk_config<1, 64, 64, 1>>;
support::chunk_adjoint_cases<emulated_runner<config>> const cases;
support::chunk_adjoint_cases<emulated_runner<cut>> const in_segments;

TEST(EmulatedPenaltyAdjoint, IsThatOfTheRecurrence) {
  cases.vla<float, rls>({}), cases.vla<float, unit>({}), cases.vla<float, projective>({});
  cases.vla<float, rls>({.batch = 2, .time = 50, .rows = 40, .columns = 33});
  cases.vla<float, rls>({.time = 1, .heads = 1, .rows = 64, .columns = 1});
  cases.vla<float, rls>({.time = 0});
}
TEST(EmulatedPenaltyAdjoint, IsThatOfTheRecurrenceForGivenDirections) {
  cases.vla<float, unit>({}, true), cases.vla<float, projective>({.rows = 40}, true);
}
TEST(EmulatedPenaltyAdjoint, IsThatOfTheRecurrenceInSixteenBits) {
  cases.vla<bfloat16, rls>({.rows = 20});
}
TEST(EmulatedPenaltyAdjoint, IsThatOfTheRecurrenceWhereItFades) {
  cases.fading_vla<float, rls>({}), cases.fading_vla<float, unit>({}, false, true);
  for (bool given : {false, true}) cases.fading_vla<float, projective>({.rows = 34}, true, given);
}
TEST(EmulatedPenaltyAdjoint, TakesSequencesEndToEnd) { cases.pack_penalised<float>(); }
TEST(EmulatedPenaltyAdjoint, CutsSequencesWhereHeadsAreFew) {
  in_segments.vla<float, rls>({.time = 150, .rows = 40});
  in_segments.vla<float, projective>({.batch = 2, .time = 90}, true);
}

}  // namespace
}  // namespace wane::testing
