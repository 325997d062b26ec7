// comba is S <- e^g S + beta k (v - p^T S)^T, y = scale S^T q; p reads S before or after its decay.
// SPDX-License-Identifier: MIT
#include "wane/operators/comba.hpp"

#include <gtest/gtest.h>

#include "support/erasing_problems.hpp"
#include "support/expect_error.hpp"
#include "support/memory_case.hpp"
#include "support/memory_laws.hpp"

namespace {

using support::index;
using wane::comba, wane::erases;

static_assert(wane::is_delta_rule<wane::token_of<comba<float>>>);

template <class Io>
comba<Io> comba_of(support::memory_case<Io> const& c, erases when) {
  return {{.query = c.query,
           .key = c.key,
           .value = c.value,
           .removal = c.removal,
           .strength = support::by_token(c.strength.view())},
          support::by_token(c.head_decay.view()),
          {.keys = c.shape.options, .erases = when}};
}

template <class Io>
class Comba : public ::testing::Test {};
using Types = ::testing::Types<float, double, wane::bfloat16>;
TYPED_TEST_SUITE(Comba, Types);

TYPED_TEST(Comba, IsItsFormula) {
  for (erases when : {erases::before_decay, erases::after_decay})
    support::for_each_memory<TypeParam>([&](auto& c) {
      auto inputs = c.naive();
      inputs.strength = c.strength, inputs.log_decay = c.head_decay, inputs.removal = c.removal;
      auto const token = [&](auto const& in, auto& s, index b, index t, index h) {
        auto const row = [&](auto const& x) { return in.template direction<double>(x, b, t, h); };
        auto const before = s.read(row(in.removal));
        s.fade(in.template decay<double>(b, t, h));
        auto const found = when == erases::before_decay ? before : s.read(row(in.removal));
        s.write(support::times(in.template row<double>(in.strength, b, t, h)[0], row(in.key)),
                support::difference(in.template row<double>(in.value, b, t, h), found));
        return s.read(support::times(in.scale, row(in.query)));
      };
      c.expect(comba_of(c, when), inputs, token);
    });
}

template <class T>
using erases_before = wane::testing::comba_problem<T>;
template <class T>
using erases_after = wane::testing::comba_problem<T, erases::after_decay>;
TEST(CombaLaws, Hold) {
  support::expect_memory_laws<erases_before>();
  support::expect_memory_laws<erases_after>();
}
TEST(CombaLaws, OfTheAdjointHold) {
  support::expect_memory_adjoint_laws<erases_before>();
  support::expect_memory_adjoint_laws<erases_after>();
}

TEST(CombaTensors, AreRefusedInOtherShapes) {
  support::memory_case<float> c({1, 4, 2, 3, 5}), other({1, 4, 2, 6, 5}), longer({1, 5, 2, 3, 5});
  auto const with = [&](auto const& removal, auto const& strength) {
    wane::run(comba<float>({.query = c.query,
                            .key = c.key,
                            .value = c.value,
                            .removal = removal,
                            .strength = support::by_token(strength.view())},
                           support::by_token(c.head_decay.view())),
              c.output.view());
  };
  support::expect_error({"removal has rows 6; it must be 3"},
                        [&] { with(other.removal, c.strength); });
  support::expect_error({"strength has time 5; it must be 4"},
                        [&] { with(c.removal, longer.strength); });
}

}  // namespace
