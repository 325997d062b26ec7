// grouped_queries: query head h reads the state of head h / n, as n memories with equal states do.
// SPDX-License-Identifier: MIT
#include "wane/operators/grouped_queries.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/memory_laws.hpp"
#include "support/nearness.hpp"
#include "support/substep_problems.hpp"
#include "wane/run/adjoint.hpp"

namespace {

using support::index;
using namespace wane::testing;

// The same keys, values and decays for each query, in memories with states of their own.
template <class T, class Problem>
void expect_separate_states(memory_size const& s) {
  Problem p(s);
  index const n = Problem::each, H = s.heads * n, T_ = s.time;
  auto const size = static_cast<std::size_t>(s.batch * T_ * H * s.columns);
  std::vector<T> y(size), one(size / static_cast<std::size_t>(n));
  wane::run(p.make(0, T_), {y.data(), s.batch, T_, H, s.columns});
  for (index q = 0; q < n; ++q) {
    // Every n-th query head, as a view.
    wane::sequence_view<T const> query = p.queries.view();
    query.data += q * query.stride[2], query.stride[2] *= n, query.extent[2] = s.heads;
    p.size.options.queries = 1;
    wane::run(p.make_with(query, 0, T_), {one.data(), s.batch, T_, s.heads, s.columns});
    support::nearness near;
    for (std::size_t i = 0; i < one.size(); ++i) {
      auto const j = i % static_cast<std::size_t>(s.columns);
      auto const head = i / static_cast<std::size_t>(s.columns);
      near.add(
          static_cast<double>(y[(head * static_cast<std::size_t>(n) + static_cast<std::size_t>(q)) *
                                    static_cast<std::size_t>(s.columns) +
                                j]),
          static_cast<double>(one[i]));
    }
    EXPECT_LE(near.both(), sizeof(T) == 4 ? 1e-6 : 1e-14) << "query " << q;
  }
}

template <class T>
using of_gla = grouped_problem<gla_of_queries, T>;
template <class T>
using of_delta = grouped_problem<delta_of_queries, T>;

TEST(GroupedQueries, ReadAsSeparateStates) {
  for (memory_size const& s : {memory_size{1, 37, 1, 1, 1},
                               {2, 37, 2, 5, 7},
                               {1, 41, 2, 64, 17},
                               {1, 20, 2, 8, 9, 0, {.scale = -0.7, .normalise = true}}}) {
    expect_separate_states<float, of_gla<float>>(s);
    expect_separate_states<double, of_delta<double>>(s);
  }
}

TEST(GroupedQueriesLaws, Hold) {
  support::expect_memory_laws<of_gla>();
  support::expect_memory_laws<of_delta>();
}
TEST(GroupedQueriesLaws, OfTheAdjointHold) {
  support::expect_memory_adjoint_laws<of_gla>();
  support::expect_memory_adjoint_laws<of_delta>();
}

TEST(GroupedQueries, AreAskedForByName) {
  of_gla<float> p({1, 4, 2, 3, 5});
  std::vector<float> y(4 * 6 * 5);
  support::expect_error({"queries is 3; several queries of a head are asked through "
                         "wane::grouped_queries"},
                        [&] {
                          wane::run(p.make_with(p.queries.view(), 0, 4), {y.data(), 1, 4, 2, 5});
                        });
  support::expect_error({"output has heads 2; it must be 6"}, [&] {
    wane::run(p.make(0, 4), {y.data(), 1, 4, 2, 5});
  });
  p.size.options.queries = 2;
  support::expect_error({"query has heads 6; it must be 4"}, [&] { (void)p.make(0, 4); });
  auto to = p.gradients();
  p.size.options.queries = 3;
  to.query.extent[2] = 2;
  support::expect_error({"the gradient of query has heads 2; it must be 6"}, [&] {
    wane::adjoint(p.make(0, 4), {y.data(), 1, 4, 6, 5}, to);
  });
}

}  // namespace
