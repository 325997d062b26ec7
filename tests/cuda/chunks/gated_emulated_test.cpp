// Memories whose gates decide more than decays, on an emulated GPU: as on the CPU in double.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/adjoint_cases.hpp"
#include "cuda/chunks/cases.hpp"
#include "cuda/scan/adjoint_cases.hpp"
#include "support/gated_problems.hpp"
#include "support/laws_hold.hpp"
#include "wane/testing/emulated_run.hpp"
#include "wane/testing/laws.hpp"

namespace wane::testing {
namespace {

using in_chunks = emulated_runner<cuda::impl::chunk_config<1, 16>>;
using in_scans = emulated_runner<cuda::impl::scan_config<32, 1, 1, 64, 512>>;
using in_steps = emulated_runner<cuda::impl::step_config<16>>;
support::chunk_cases<in_chunks> const chunks;
support::chunk_adjoint_cases<in_chunks> const chunks_back;
support::chunk_shape const plain, smallest{.time = 1, .heads = 1, .rows = 16, .columns = 1};

TEST(EmulatedHgrn2, IsTheRecurrenceInChunks) {
  chunks.hgrn2<float>(plain), chunks.hgrn2<float>(smallest), chunks.hgrn2<bfloat16>(plain);
  chunks.hgrn2<float>(plain, true);
}

TEST(EmulatedHgrn2, IsTheRecurrenceInOneToken) {
  support::chunk_cases<in_steps>().hgrn2<float>({.batch = 3, .time = 1, .rows = 16, .columns = 70});
}

TEST(EmulatedHgrn2, HasTheGradientsOfTheRecurrence) {
  chunks_back.hgrn2<float>({.columns = 40}), chunks_back.hgrn2<float>(plain, true);
}

TEST(EmulatedHgrn2, HasTheGradientsOfTheRecurrenceInScans) {
  support::adjoint_cases<emulated_runner<>> const cases{
      emulated_runner<>({.order = turns::last_taken})};
  for (auto way : {direction::forward, direction::reverse})
    cases.expect_as_on_the_cpu(hgrn2_problem<double>({2, 60, 2, 3, 40}), {way});
}

TEST(EmulatedHgrn2, KeepsTheLaws) {
  in_scans const scans({.order = turns::last_taken});
  support::expect_to_hold(check_laws(hgrn2_problem<float>({1, 97, 2, 3, 5, 1}), 1e-6, 1, scans));
  in_chunks const parts({.order = turns::last_taken});
  support::expect_to_hold(check_laws(hgrn2_problem<float>({1, 33, 2, 5, 17, 1}), 1e-6, 1, parts));
}

TEST(EmulatedLightningAttention, KeepsTheLaws) {
  in_scans const scans({.order = turns::last_taken});
  support::expect_to_hold(check_laws(lightning_problem<float>({2, 97, 2, 3, 5}), 1e-6, 1, scans));
  in_chunks const parts({.order = turns::last_taken});
  support::expect_to_hold(check_laws(lightning_problem<float>({1, 33, 2, 5, 17}), 1e-6, 1, parts));
}

TEST(EmulatedLightningAttention, HasTheGradientsOfTheRecurrence) {
  support::adjoint_cases<emulated_runner<>> const cases{emulated_runner<>()};
  cases.expect_as_on_the_cpu(lightning_problem<double>({2, 60, 2, 3, 40}));
}

}  // namespace
}  // namespace wane::testing
