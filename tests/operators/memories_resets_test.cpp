// Resets and the ends of packed sequences separate tokens, also in gradients of keyed memories.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/memory_problems.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace wane::testing {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr memory_size size{1, 40, 2, 5, 9};
constexpr index reset = 18;  // inside a chunk of any runner

// The elements of one token.
std::span<double> of_token(std::span<double> values, index t) {
  auto const each = values.size() / static_cast<std::size_t>(size.time);
  return values.subspan(static_cast<std::size_t>(t) * each, each);
}
// Decays and bonuses may be the same for every token; such numbers do not belong to a token.
bool is_by_token(std::span<double> values) {
  return values.size() >= static_cast<std::size_t>(size.time);
}

// Runs a problem and its adjoint.
template <class P>
struct aftermath {
  std::vector<double> output, initial, final, initial_gradient;
  std::vector<std::vector<double>> gradients;

  aftermath(P& p, std::vector<double> dy, std::vector<double> start,
            std::vector<index> const& starts = {})
      : output(dy.size(), nan), initial(start), final(start.size(), nan), initial_gradient(final) {
    auto const states = [&](auto& x) {
      auto const n = static_cast<index>(start.size()) / (size.heads * size.rows * size.columns);
      return wane::view<double, 4>(x.data(), n, size.heads, size.rows, size.columns);
    };
    auto const tokens = [&](auto& x) {
      return sequence_view<double>(x.data(), 1, size.time, size.heads, size.columns);
    };
    auto const op = p.make(0, size.time);
    run(op, tokens(output),
        run_options<double>{
            .initial = {states(initial)}, .final = {states(final)}, .packed = {starts}});
    adjoint(op, tokens(dy), p.gradients(),
            adjoint_options<double>{.initial = {states(initial)},
                                    .initial_gradient = {states(initial_gradient)},
                                    .packed = {starts}});
    for (auto gradient : p.input_gradients())
      gradients.emplace_back(gradient.begin(), gradient.end());
  }
  // Whether outputs and gradients of the tokens [begin, end) are those of `other`. A runner that
  // avoids NaN by another order may round differently.
  void expect_tokens(aftermath other, index begin, index end) {
    for (index t = begin; t < end; ++t) {
      expect_same(of_token(output, t), of_token(other.output, t), "output", t);
      for (std::size_t i = 0; i < gradients.size(); ++i)
        if (is_by_token(gradients[i]))
          expect_same(of_token(gradients[i], t), of_token(other.gradients[i], t),
                      "gradient of input " + std::to_string(i), t);
    }
  }
  static void expect_same(std::span<double> a, std::span<double> b, std::string const& of,
                          index t) {
    distance apart;
    apart.see<double>({a.begin(), a.end()}, {b.begin(), b.end()});
    EXPECT_LE(apart.relative(), 1e-13) << of << " at token " << t;
  }
};

std::vector<double> random_outputs() {
  std::mt19937_64 bits(9);
  return random_numbers<double>(size.time * size.heads * size.columns, bits);
}
std::vector<double> random_states(index sequences) {
  std::mt19937_64 bits(10);
  return random_numbers<double>(
      static_cast<std::size_t>(sequences * size.heads * size.rows * size.columns), bits);
}

template <class P>
void spoil_tokens(P& p, index begin, index end, double by = nan) {
  for (auto input : p.inputs())
    for (index t = begin; is_by_token(input) && t < end; ++t)
      for (double& x : of_token(input, t)) x = by;
}

// Memories with decays that can be -inf, a reset. The decays are their last input.
template <class P>
class Resets : public ::testing::Test {
 public:
  P clean{size}, spoiled{size};
  std::vector<double> dy = random_outputs(), start = random_states(1);
  Resets() {
    for (P* p : {&clean, &spoiled})
      for (double& g : of_token(p->inputs().back(), reset)) g = -HUGE_VAL;
  }
};
using Resettable =
    ::testing::Types<gla_problem<double>, gla_problem<double, token_view<double const>>,
                     gated_delta_net_problem<double>, kimi_problem<double>>;
TYPED_TEST_SUITE(Resets, Resettable);

TYPED_TEST(Resets, KeepNaNFromLaterTokensAndTheirGradients) {
  aftermath all(this->clean, this->dy, this->start);
  spoil_tokens(this->spoiled, 3, 4);
  aftermath after(this->spoiled, this->dy, this->start);
  after.expect_tokens(all, reset, size.time);
  after.expect_same(after.final, all.final, "final state", size.time);
}

// The numbers of a chunk are finite, and products of several of them are not.
TYPED_TEST(Resets, KeepWhatOverflowsFromLaterTokensAndTheirGradients) {
  aftermath all(this->clean, this->dy, this->start);
  for (index tokens : {1, 2, 7}) {
    TypeParam large = this->clean;
    spoil_tokens(large, reset - tokens, reset, 1e80);
    std::ranges::copy(this->clean.inputs().back(), large.inputs().back().begin());  // decays
    aftermath after(large, this->dy, this->start);
    after.expect_tokens(all, reset, size.time);
    after.expect_same(after.final, all.final, "final state", size.time);
  }
}

TYPED_TEST(Resets, KeepTheInitialStateFromLaterTokensAndTheirGradients) {
  aftermath all(this->clean, this->dy, this->start);
  aftermath after(this->spoiled, this->dy, std::vector<double>(this->start.size(), nan));
  after.expect_tokens(all, reset, size.time);
}

TYPED_TEST(Resets, KeepLaterNaNFromEarlierGradients) {
  aftermath all(this->clean, this->dy, this->start);
  spoil_tokens(this->spoiled, reset + 2, reset + 3);
  for (double& x : of_token(this->dy, reset)) x = nan;
  aftermath before(this->spoiled, this->dy, this->start);
  before.expect_tokens(all, 0, reset);
  before.expect_same(before.initial_gradient, all.initial_gradient, "initial gradient", 0);
}

TYPED_TEST(Resets, KeepWhatOverflowsLaterFromEarlierGradients) {
  aftermath all(this->clean, this->dy, this->start);
  spoil_tokens(this->spoiled, reset + 1, reset + 2, 1e200);
  for (double& x : of_token(this->dy, reset + 1)) x = 1e200;
  aftermath before(this->spoiled, this->dy, this->start);
  before.expect_tokens(all, 0, reset);
  before.expect_same(before.initial_gradient, all.initial_gradient, "initial gradient", 0);
}

template <class P>
class PackedMemories : public ::testing::Test {};
using All =
    ::testing::Types<gla_problem<double>, retnet_problem<double>, delta_net_problem<double>,
                     gated_delta_net_problem<double>, kimi_problem<double>, rwkv7_problem<double>>;
TYPED_TEST_SUITE(PackedMemories, All);

TYPED_TEST(PackedMemories, KeepNaNToTheirOwnSequence) {
  TypeParam clean(size), spoiled(size);
  auto dy = random_outputs(), start = random_states(3);
  std::vector<index> const starts{0, 7, 25, size.time};
  aftermath all(clean, dy, start, starts);
  spoil_tokens(spoiled, 12, 13);
  aftermath after(spoiled, dy, start, starts);
  after.expect_tokens(all, 0, 7);
  after.expect_tokens(all, 25, size.time);
}

TYPED_TEST(PackedMemories, OfNoTokenPassOnStatesAndTheirGradients) {
  memory_size none = size;
  none.time = 0;
  TypeParam p(none);
  auto start = random_states(1), final = std::vector<double>(start.size(), nan), gradient = final;
  auto const states = [](auto& x) {
    return wane::view<double, 4>(x.data(), 1, size.heads, size.rows, size.columns);
  };
  auto const op = p.make(0, 0);
  sequence_view<double> const y(nullptr, 1, 0, size.heads, size.columns);
  run(op, y, run_options<double>{.initial = {states(start)}, .final = {states(final)}});
  adjoint(op, y, p.gradients(),
          adjoint_options<double>{.final_gradient = {states(start)},
                                  .initial_gradient = {states(gradient)}});
  EXPECT_EQ(final, start);
  EXPECT_EQ(gradient, start);
}

}  // namespace
}  // namespace wane::testing
