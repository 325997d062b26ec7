// Penalised memories by the kernels of wane::cuda, on an emulated GPU.
// SPDX-License-Identifier: MIT
#include "cuda/penalty/cases.hpp"
#include "support/laws_hold.hpp"
#include "support/vla_problem.hpp"
#include "wane/testing/emulated_run.hpp"
#include "wane/testing/laws.hpp"

namespace wane::testing {
namespace {

using enum write_rule;
using memory = cuda::impl::chunk_config<1, 64>;
// Three warps; and segments of a chunk.
using config = penalised_config<cuda::impl::penalty_config<96>, memory>;
using cut = penalised_config<cuda::impl::penalty_config<64, 64, 1>, memory>;
support::penalty_cases<emulated_runner<config>> const cases;
support::penalty_cases<emulated_runner<cut>> const in_segments;

TEST(EmulatedPenalties, AreThoseOfTheRecurrence) {
  cases.vla<float, rls>({}), cases.vla<float, unit>({}), cases.vla<float, projective>({});
  cases.vla<float, rls>({.batch = 2, .time = 50, .rows = 40, .columns = 33});
  cases.vla<float, rls>({.time = 1, .heads = 1, .rows = 64, .columns = 1});
  cases.vla<bfloat16, rls>({.rows = 20});
}
TEST(EmulatedPenalties, AreThoseOfTheRecurrenceForGivenDirections) {
  cases.vla<float, unit>({}, true), cases.vla<float, projective>({.rows = 40}, true);
}
TEST(EmulatedPenalties, AreThoseOfTheRecurrenceWhereTheyFade) {
  cases.fading_vla<float, rls>({}), cases.fading_vla<float, unit>({}, false, true);
  for (bool given : {false, true}) cases.fading_vla<float, projective>({.rows = 34}, true, given);
}
TEST(EmulatedPenalties, KeepTheLaws) {
  emulated_runner<config> const runner;
  memory_size const size{.batch = 2, .time = 37, .heads = 2, .rows = 5, .columns = 3};
  support::expect_to_hold(
      check_laws(vla_problem<float, rls, penalises::keys>(size), 1e-6, 1, runner));
  support::expect_to_hold(
      check_laws(vla_problem<float, unit, penalises::directions, token_view<float const>>(size),
                 1e-6, 1, runner));
}
TEST(EmulatedPenalties, AreThoseOfPackedSequences) { cases.pack_penalised<float>(); }

// A state of zeros that sees nothing stays one.
TEST(EmulatedPenalties, OfEmptySequencesAreWhatTheyWere) {
  support::chunk_numbers<float> const x{.shape = {.time = 3}};
  auto const op = x.vla<rls>(false);
  std::vector<index> const starts = {0, 0, 3};
  recurrent_state<float> last(op, 2);
  for (float& s : last.values()) s = 7;
  std::vector<float> y(x.value.size());
  run<config>({}, op, sequence_view<float>(y.data(), 1, 3, 2, 17),
              run_options<float>{.final = last, .packed = {starts}});
  auto const half = static_cast<std::ptrdiff_t>(last.values().size() / 2);
  EXPECT_EQ(std::vector<float>(last.values().begin(), last.values().begin() + half),
            std::vector<float>(static_cast<std::size_t>(half)));
  EXPECT_NE(last.values()[static_cast<std::size_t>(half) + 17], 0.f);
}

TEST(EmulatedPenalties, AreCutInSegmentsWhereHeadsAreFew) {
  support::chunk_numbers<float> const x{.shape = {.time = 150}};
  auto const count = [](auto const& op) {
    return cuda::impl::segments_of_penalty<cut::penalty>(op, {150, 0, nullptr, nullptr, 1}, 1)
        .count;
  };
  EXPECT_EQ(count(x.vla<rls>(false)), 10);
  EXPECT_EQ(count(x.fading_vla<rls>(false)), 1);
  in_segments.vla<float, rls>({.time = 150, .rows = 40});
  in_segments.vla<float, projective>({.batch = 2, .time = 90}, true);
  in_segments.fading_vla<float, rls>({.time = 90});
}
TEST(EmulatedPenalties, AreCutInSegmentsWhereDirectionsAreFew) {
  using of_two_chunks = penalised_config<cuda::impl::penalty_config<64, 64, 2>, memory>;
  support::penalty_cases<emulated_runner<of_two_chunks>> const in_longer_segments;
  in_longer_segments.few_directions();
}
TEST(EmulatedPenalties, ForgetWhatIsNoNumberWhereTheyReset) { cases.forget_in_penalties(); }
TEST(EmulatedPenalties, KeepWhatIsNoNumberFromEarlierTokens) { cases.keep_from_earlier_tokens(); }
// Whichever blocks go first.
TEST(EmulatedPenalties, ChangeAStateInPlace) {
  support::chunk_numbers<float> const x{.shape = {.time = 150}};
  auto const op = x.vla<rls>(false);
  auto const results = [&](turns order, bool in_place) {
    recurrent_state<float> state(op), other(op);
    std::vector<float> y(x.value.size());
    sequence_view<float> const output(y.data(), 1, 150, 2, 17);
    run<cut>({.order = order}, op, output, run_options<float>{.final = state});
    run<cut>(
        {.order = order}, op, output,
        run_options<float>{.initial = std::as_const(state), .final = in_place ? state : other});
    auto const& last = (in_place ? state : other).values();
    y.insert(y.end(), last.begin(), last.end());
    return y;
  };
  auto const apart = results(turns::random, false);
  for (auto order : {turns::first_taken, turns::last_taken}) EXPECT_EQ(results(order, true), apart);
}

// The text of what is refused, before anything is written.
template <class Op>
std::string refusal(Op const& op, std::size_t bytes_less = 0) {
  std::vector<float> y(37 * 2 * 17);
  run_options<float> const options;
  std::size_t const bytes =
      cuda::impl::penalised_workspace_of<config::penalty, memory>(op, options).bytes;
  std::vector<std::max_align_t> words(bytes / sizeof(std::max_align_t));
  try {
    cuda::impl::penalised_call<config::penalty, memory>(
        op, sequence_view<float>(y.data(), 1, 37, 2, 17), {words.data(), bytes - bytes_less},
        options);
  } catch (error const& e) {
    return e.what();
  }
  return "";
}
TEST(EmulatedPenalties, AreRefusedWithASentence) {
  support::chunk_numbers<float> const x{.shape = {}};
  EXPECT_EQ(refusal(x.vla<rls>(false)), "");
  EXPECT_NE(refusal(x.vla<rls>(false), 1).find("the workspace has"), std::string::npos);
  vla<float> const refreshed(x.vla_in(false), {.refresh = {20, 1e-3}});
  EXPECT_NE(refusal(refreshed).find("refresh is every 20 tokens; on a GPU"), std::string::npos);
  support::chunk_numbers<float> const many{.shape = {.rows = 100}};
  EXPECT_NE(refusal(many.vla<rls>(false)).find("rows 100"), std::string::npos);
}

}  // namespace
}  // namespace wane::testing
