// Wrong input to run, step and adjoint: the messages, and that nothing is written.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "support/expect_error.hpp"
#include "support/user_operators.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/effects.hpp"
#include "wane/run/run.hpp"

namespace {

using support::expect_error;
using wane::index;
using recurrence = wane::linear_recurrence<wane::decay_as::log, float>;
using view = wane::sequence_view<float>;

// A run of B = 2, T = 5, H = 3, C = 4 whose outputs hold -7 until they are written.
class WrongInput : public testing::Test {
 public:
  static constexpr index batch = 2, time = 5, heads = 3, columns = 4;
  std::vector<float> decay = std::vector<float>(batch * time * heads * columns, -1.f);
  std::vector<float> drive = decay, output = std::vector<float>(decay.size(), -7.f);
  std::vector<float> gradient = output, initial_gradient = std::vector<float>(24, -7.f);
  wane::recurrent_state<float> state{batch, heads, 1, columns};
  wane::run_options<float> options;
  wane::adjoint_options<float> adjoint_options;

  WrongInput() { state.values().assign(24, -7.f); }
  ~WrongInput() override {
    for (std::span<float const> written :
         {std::span<float const>(output), std::span<float const>(gradient),
          std::span<float const>(initial_gradient), std::span<float const>(state.values())})
      for (float x : written) EXPECT_EQ(x, -7.f) << "written in spite of the error";
    for (index p : state.positions()) EXPECT_EQ(p, 0);
  }

  static recurrence of(view a, view b) { return recurrence({.decay = a, .drive = b}); }
  recurrence op() { return of(whole(decay), whole(drive)); }
  static view whole(std::vector<float>& x) { return {x.data(), batch, time, heads, columns}; }

  // `run` and `adjoint` must both refuse their output (or its gradient) and say `pieces`.
  void refused(view y, std::vector<std::string> pieces) {
    options.final = state;
    expect_error(pieces, [&] { wane::run(op(), y, options); });
    expect_error(pieces, [&] {
      wane::adjoint(op(), y, {.decay = whole(gradient), .drive = whole(gradient)});
    });
    expect_error(pieces, [&] { wane::step(op(), y, wane::state_view<float>(state)); });
  }
  void run_refused(std::vector<std::string> pieces) {
    expect_error(pieces, [&] { wane::run(op(), whole(output), options); });
  }
  void adjoint_refused(std::vector<std::string> pieces) {
    expect_error(pieces, [&] {
      wane::adjoint(op(), whole(drive), {.decay = whole(gradient)}, adjoint_options);
    });
  }
};

TEST_F(WrongInput, OutputOfAnotherShape) {
  float* const y = output.data();
  refused({y, 3, time, heads, columns}, {"output", "batch 3", "must be 2"});
  refused({y, batch, 4, heads, columns}, {"output", "time 4", "must be 5"});
  refused({y, batch, time, 2, columns}, {"output", "heads 2", "must be 3"});
  refused({y, batch, time, heads, 1}, {"output", "columns 1", "must be 4"});
  refused({y, batch, -5, heads, columns}, {"output", "time -5", "must be 5"});
}

TEST_F(WrongInput, OutputWithoutData) {
  refused({nullptr, batch, time, heads, columns}, {"output", "no data"});
}

TEST_F(WrongInput, StateOfAnotherShape) {
  float* const s = state.values().data();
  using values = wane::view<float, 4>;
  std::pair<values, std::vector<std::string>> const wrong[] = {
      {{s, 1, heads, 1, columns}, {"sequences 1", "must be 2"}},
      {{s, batch, 4, 1, columns}, {"heads 4", "must be 3"}},
      {{s, batch, heads, 2, columns}, {"rows 2", "must be 1"}},
      {{s, batch, heads, 1, 5}, {"columns 5", "must be 4"}}};
  for (auto const& one : wrong) {
    values const v = one.first;
    auto const& pieces = one.second;
    options = {.initial = {v}};
    run_refused(pieces), run_refused({"initial"});
    options = {.final = {v}};
    run_refused(pieces), run_refused({"final"});
    expect_error({"state"}, [&] { wane::step(op(), whole(output), wane::state_view<float>{v}); });
    expect_error(pieces, [&] { wane::step(op(), whole(output), wane::state_view<float>{v}); });
    adjoint_options = {.initial = {v}};
    adjoint_refused(pieces), adjoint_refused({"initial"});
    adjoint_options = {.final_gradient = {v}};
    adjoint_refused(pieces), adjoint_refused({"final_gradient"});
    adjoint_options = {.initial_gradient = {v}};
    adjoint_refused(pieces), adjoint_refused({"initial_gradient"});
  }
}

TEST_F(WrongInput, StepWithoutState) {
  expect_error({"state", "no data"},
               [&] { wane::step(op(), whole(output), wane::state_view<float>{}); });
}

TEST_F(WrongInput, NegativeThreads) {
  options.threads = adjoint_options.threads = -2;
  options.final = state;
  run_refused({"threads is -2", "must be 0"});
  adjoint_refused({"threads is -2"});
}

TEST_F(WrongInput, PackedSequencesInSeveralRows) {
  std::vector<index> const starts = {0, 2, 5};
  options.packed = adjoint_options.packed = {starts};
  run_refused({"batch is 2", "must be 1"});
  adjoint_refused({"batch is 2"});
}

TEST_F(WrongInput, PackedSequencesThatDoNotFit) {
  std::pair<std::vector<index>, char const*> const wrong[] = {
      {{1, 5}, "begins with 1"}, {{0, 4}, "ends with 4"}, {{0, 3, 2, 5}, "must not fall"}};
  for (auto const& one_wrong : wrong) {
    std::vector<index> const& starts = one_wrong.first;
    std::string const message = one_wrong.second;
    wane::run_options<float> const one{.packed = {starts}};
    recurrence const row = of({decay.data(), 1, 5, 1, 4}, {drive.data(), 1, 5, 1, 4});
    view const y(output.data(), 1, 5, 1, 4);
    expect_error({message}, [&] { wane::run(row, y, one); });
    expect_error({message}, [&] {
      wane::adjoint(row, y, {}, wane::adjoint_options<float>{.packed = {starts}});
    });
  }
}

TEST_F(WrongInput, LengthsThatDoNotFit) {
  std::pair<std::vector<index>, char const*> const wrong[] = {
      {{5}, "lengths has 1 entries; it must have one a sequence, 2"},
      {{5, 5, 5}, "lengths has 3"},
      {{0, -1}, "lengths[1] is -1; it must be in [0, 5]"},
      {{6, 5}, "lengths[0] is 6"}};
  for (auto const& one : wrong) {
    std::vector<index> const& lengths = one.first;
    std::string const message = one.second;
    options.final = state;
    options.lengths = adjoint_options.lengths = lengths;
    run_refused({message});
    adjoint_refused({message});
    expect_error({message}, [&] { wane::step(op(), whole(output), state, {.lengths = lengths}); });
  }
}

TEST_F(WrongInput, LengthsOfPackedSequences) {
  std::vector<index> const starts = {0, 5}, lengths = {5};
  recurrence const row = of({decay.data(), 1, 5, 1, 4}, {drive.data(), 1, 5, 1, 4});
  expect_error({"packed and lengths", "at most one"}, [&] {
    wane::run(row, view(output.data(), 1, 5, 1, 4),
              wane::run_options<float>{.packed = {starts}, .lengths = lengths});
  });
}

TEST_F(WrongInput, AStateForEveryRowWhereEveryPackedSequenceNeedsOne) {
  std::vector<index> const starts = {0, 2, 2, 5};
  recurrence const row = of({decay.data(), 1, 5, 1, 4}, {drive.data(), 1, 5, 1, 4});
  wane::recurrent_state<float> one(row);
  expect_error({"final", "sequences 1", "must be 3"}, [&] {
    wane::run(row, view(output.data(), 1, 5, 1, 4),
              wane::run_options<float>{.final = one, .packed = {starts}});
  });
}

TEST_F(WrongInput, DecayAndDriveOfDifferentShapes) {
  index const right[] = {batch, time, heads, columns};
  for (int i = 0; i < 4; ++i) {
    view other = whole(decay);
    other.extent[i] += 1;
    expect_error({"decay", std::to_string(right[i] + 1), std::to_string(right[i])},
                 [&] { of(other, whole(drive)); });
  }
}

TEST_F(WrongInput, TensorsWithoutData) {
  view const nothing(nullptr, batch, time, heads, columns);
  expect_error({"decay", "no data"}, [&] { wane::run(of(nothing, whole(drive)), whole(output)); });
  expect_error({"drive", "no data"}, [&] { wane::run(of(whole(decay), nothing), whole(output)); });
  expect_error({"drive", "no data"}, [&] {
    wane::step(of(whole(decay), nothing), whole(output), wane::state_view<float>(state));
  });
  expect_error({"decay", "no data"},
               [&] { wane::adjoint(of(nothing, whole(drive)), whole(drive), {}); });
}

TEST_F(WrongInput, GradientsOfAnotherShape) {
  view const fewer(gradient.data(), batch, time, heads, 3);
  expect_error({"drive", "3", "must"},
               [&] { wane::adjoint(op(), whole(drive), {.drive = fewer}); });
  expect_error({"decay", "3", "must"},
               [&] { wane::adjoint(op(), whole(drive), {.decay = fewer}); });
}

TEST_F(WrongInput, ExtentsThatAreNegativeOrZero) {
  for (index bad : {index{-1}, index{0}}) {
    std::string const is = std::to_string(bad);
    auto const refuse = [&](char const* what, index b, index h, index c) {
      view const x(drive.data(), b, time, h, c);
      expect_error({what, is, "must be 1 or more"},
                   [&] { wane::run(of(x, x), view(output.data(), b, time, h, c)); });
    };
    refuse("batch", bad, heads, columns);
    refuse("heads", batch, bad, columns);
    refuse("columns", batch, heads, bad);
  }
  view const x(drive.data(), batch, -2, heads, columns);
  expect_error({"time", "-2", "0 or more"}, [&] { wane::run(of(x, x), x); });
}

TEST_F(WrongInput, EffectsWithoutData) {
  wane::view<wane::segment_effect<recurrence>, 4> const none(nullptr, batch, heads, 1, columns);
  expect_error({"found", "no data"}, [&] { wane::effects(op(), none); });
}

TEST_F(WrongInput, ChannelwiseRecurrenceOfSeveralRows) {
  expect_error({"rows", "2", "channelwise", "1"}, [&] {
    wane::run(support::self_gated_sum{whole(drive), 2}, whole(output));
  });
}

}  // namespace
