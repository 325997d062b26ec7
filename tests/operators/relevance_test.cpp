// Relevance of STLT: coefficients as queries and keys of softmax attention, and its gradients.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/nearness.hpp"
#include "support/relevance_case.hpp"
#include "wane/operators/laplace_coefficients.hpp"
#include "wane/operators/softmax_attention.hpp"
#include "wane/run/attention/attend_adjoint.hpp"
#include "wane/run/two_sided/coefficients.hpp"

namespace {

using support::index;
using support::laplace_size;
using wane::spectra::window_shape;

// A sequence, its nodes, and the values that attention reads from it.
template <window_shape Window>
struct sequence_of : support::laplace_problem<double, Window> {
  using base = support::laplace_problem<double, Window>;
  bool two_sided;
  std::vector<double> L, to_L;

  sequence_of(laplace_size const& size, bool both_sides)
      : base(size),
        two_sided(both_sides),
        L(static_cast<std::size_t>(base::tokens * channels())),
        to_L(L.size()) {}

  index channels() const { return 2 * base::nodes * base::columns; }
  wane::sequence_view<double> view(std::vector<double>& of) {
    return {of.data(), 1, base::tokens, 1, static_cast<index>(of.size()) / base::tokens};
  }
  auto operation() const { return wane::laplace_coefficients(base::make(0, base::tokens)); }
  void run() {
    two_sided ? wane::run_two_sided(operation(), view(L)) : wane::run(operation(), view(L));
  }
  void adjoint() {
    auto to = base::gradients();
    to.nodes.read_out = {};
    two_sided ? wane::adjoint_two_sided(operation(), view(to_L), to)
              : wane::adjoint(operation(), view(to_L), to);
  }
  std::vector<long double> naive() const {
    return support::naive_coefficients<long double>(static_cast<base const&>(*this), 0, 0,
                                                    two_sided);
  }
};

// Checks Z of queries against keys, which may be the same sequence. Compares the gradient of <g, Z>
// with differences of 4th order of the equations in long double. They err by h^4 of a fifth
// derivative, 1e-15 of it at h = 2e-4.
template <window_shape Window>
void expect_relevance(sequence_of<Window>& queries, sequence_of<Window>& keys, bool causal) {
  index const V = 3;
  bool const same = &queries == &keys;
  support::random_values random(11);
  std::vector<double> values(static_cast<std::size_t>(keys.tokens * V)), to_values(values.size());
  for (double& v : values) v = random.uniform(-1, 1);
  queries.run();
  if (!same) keys.run();

  wane::softmax_attention<double> const relevance(
      {.query = queries.view(queries.L), .key = keys.view(keys.L), .value = keys.view(values)},
      {.scale = 1 / std::sqrt(static_cast<double>(keys.nodes)), .causal = causal});
  std::vector<double> z(static_cast<std::size_t>(queries.tokens * V)), g(z.size());
  for (double& x : g) x = random.uniform(-1, 1);
  wane::attend(relevance, queries.view(z));

  auto const outputs = [&] {
    std::vector<long double> const v(values.begin(), values.end());
    auto const of_queries = queries.naive();
    return support::naive_relevance(of_queries, same ? of_queries : keys.naive(), v, queries.tokens,
                                    keys.nodes, causal);
  };
  support::nearness of_z;
  auto const naive = outputs();
  for (std::size_t i = 0; i < z.size(); ++i) of_z.add(z[i], static_cast<double>(naive[i]));
  EXPECT_LE(of_z.both(), 1e-13);

  std::vector<double> as_key(keys.L.size());
  wane::attend_adjoint(relevance, queries.view(g),
                       {.query = queries.view(queries.to_L),
                        .key = keys.view(as_key),
                        .value = keys.view(to_values)});
  if (same)
    for (std::size_t i = 0; i < as_key.size(); ++i) keys.to_L[i] += as_key[i];
  else
    keys.to_L = as_key, keys.adjoint();
  queries.adjoint();

  auto const loss = [&] {
    long double total = 0;
    auto const all = outputs();
    for (std::size_t i = 0; i < all.size(); ++i) total += static_cast<long double>(g[i]) * all[i];
    return total;
  };
  auto const check = [&](std::string const& what, std::span<double> x,
                         std::span<double const> gradient) {
    support::nearness near;
    for (std::size_t i = 0; i < x.size(); i += 1 + x.size() / 5) {
      double const before = x[i], step = 2e-4;
      auto const central = [&](double by) {
        x[i] = before + by;
        long double const up = loss();
        x[i] = before - by;
        long double const down = loss();
        x[i] = before;
        return (up - down) / (2 * static_cast<long double>(by));
      };
      near.add(gradient[i], static_cast<double>((4 * central(step / 2) - central(step)) / 3));
    }
    EXPECT_LE(near.both(), 1e-9) << what;
  };
  check("values", values, to_values);
  auto const check_sequence = [&](sequence_of<Window>& s) {
    auto const x = s.inputs(), to = s.input_gradients();
    for (std::size_t i : {0u, 1u, 2u, 4u, 5u}) check("input " + std::to_string(i), x[i], to[i]);
  };
  check_sequence(queries);
  if (!same) check_sequence(keys);
}

laplace_size const small{
    .batch = 1, .tokens = 23, .heads = 1, .columns = 2, .nodes = 3, .width = 7.3, .masked = true};

template <window_shape Window>
void expect_every_relevance() {
  sequence_of<Window> decoder(small, false);
  expect_relevance(decoder, decoder, true);
  sequence_of<Window> encoder(small, true);
  expect_relevance(encoder, encoder, false);
  laplace_size longer = small;
  longer.tokens = 31;
  sequence_of<Window> source(longer, true), target(small, false);
  expect_relevance(target, source, false);
}

TEST(Relevance, WithoutAWindow) { expect_every_relevance<window_shape::none>(); }
TEST(Relevance, WithAWindowThatFades) { expect_every_relevance<window_shape::exponential>(); }
TEST(Relevance, WithAWindowThatEnds) { expect_every_relevance<window_shape::hann>(); }

}  // namespace
