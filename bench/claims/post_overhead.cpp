// The claims of PoST (arXiv 2604.07658) about time: the taper costs less than 1 % of a layer.
// SPDX-License-Identifier: MIT
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

#include "claims/claim.hpp"
#include "shared/stopwatch.hpp"
#include "wane/operators/gates/gates.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/mamba2.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/run/run.hpp"
#include "wane/spectra/rates/random.hpp"

namespace wane::bench {
namespace {

constexpr index tokens = 1024, heads = 16, size = 64;

class tensor {
 public:
  tensor(index width, double low, double high) : width_(width) {
    static std::mt19937_64 bits(1);
    for (index i = 0; i < tokens * heads * width; ++i)
      values_.push_back(static_cast<float>(low + (high - low) * spectra::unit_uniform(bits)));
  }
  sequence_view<float const> rows() const { return {values_.data(), 1, tokens, heads, width_}; }
  sequence_view<float const> one_group() const { return {values_.data(), 1, tokens, 1, width_}; }
  token_view<float const> whole() const { return {values_.data(), 1, tokens, heads}; }
  view<float const, 1> of_heads() const { return {values_.data(), heads}; }
  view<float const, 2> of_rows() const { return {values_.data(), heads, width_}; }

 private:
  index width_;
  std::vector<float> values_;
};

struct matrix_shape {
  index rows, columns;
};
// Seconds of the products of all tokens with matrices of these shapes, each the least of three.
double seconds_of_projections(std::vector<matrix_shape> const& shapes) {
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  double total = 0;
  for (auto const& [rows, columns] : shapes) {
    matrix const of_tokens = matrix::Random(tokens, rows), weights = matrix::Random(rows, columns);
    matrix projected = matrix::Zero(tokens, columns);
    double least = HUGE_VAL;
    for (int i = 0; i < 3; ++i)
      least = std::min(least, seconds_of([&] { projected.noalias() = of_tokens * weights; }, 1, 1));
    total += least;
  }
  return total;
}

// Every round times both recurrences; which one is first alternates. The finding is the median
// difference of their processor time over the time of the layer: the plain recurrence and its
// projections.
finding overhead(std::function<void()> const& tapered, std::function<void()> const& plain,
                 std::vector<matrix_shape> const& projections) {
  constexpr std::size_t rounds = 101;
  // The median lies between these ranks of 101 with a probability of 99 %.
  constexpr std::size_t low = 37, high = 63;
  Eigen::setNbThreads(1);
  tapered(), plain();
  std::vector<double> differences, alone;
  for (std::size_t i = 0; i < rounds; ++i) {
    bool const tapered_first = i % 2 == 0;
    double const first = seconds_of(tapered_first ? tapered : plain, 1, 1);
    double const second = seconds_of(tapered_first ? plain : tapered, 1, 1);
    differences.push_back(tapered_first ? first - second : second - first);
    alone.push_back(tapered_first ? second : first);
  }
  std::sort(differences.begin(), differences.end());
  double const recurrence = median(alone);
  double const layer = recurrence + seconds_of_projections(projections);
  char remark[240];
  std::snprintf(remark, sizeof remark,
                "16 heads of 64 x 64, 1024 tokens, float, one thread, median of 101 rounds; surely "
                "%.2f to %.2f, of the recurrence without projections %.1f to %.1f; fails where all "
                "of that is above 1",
                100 * differences[low] / layer, 100 * differences[high] / layer,
                100 * differences[low] / recurrence, 100 * differences[high] / recurrence);
  return {100 * differences[rounds / 2] / layer, differences[low] < 0.01 * layer, false, remark};
}

struct memory_inputs {
  tensor query{size, -1, 1}, key{size, -0.1, 0.1}, value{size, -1, 1}, exponents{1, 0, 1};
  std::vector<float> y = std::vector<float>(static_cast<std::size_t>(tokens * heads * size));

  keyed_inputs<float> in() const {
    return {.query = query.rows(), .key = key.rows(), .value = value.rows()};
  }
  void take(auto const& op) {
    run(op, sequence_view<float>(y.data(), 1, tokens, heads, size),
        run_options<float>{.threads = 1});
  }
};

// The projections of queries, keys, values and outputs in a model of width 1024.
std::vector<matrix_shape> const square(4, {1024, 1024});

finding of_mamba2() {
  memory_inputs x;
  tensor const dt(1, -3, 0), rate(1, -2, -0.1);
  mamba2_inputs<float> in{.x = x.value.rows(),
                          .dt = dt.whole(),
                          .A = rate.of_heads(),
                          .B = x.key.one_group(),
                          .C = x.query.one_group()};
  auto const taken = [&](view<float const, 1> const& taper) {
    in.taper = taper;
    x.take(mamba2<float>(in, {.dt_softplus = true}));
  };
  // Algorithm 2, lines 10 and 28, of a model of 512: z, x, B and C (one group), dt; the way back.
  return overhead([&] { taken(x.exponents.of_heads()); }, [&] { taken({}); },
                  {{512, 2 * 1024 + 2 * size + heads}, {1024, 512}});
}
finding of_gla() {
  memory_inputs x;
  tensor const log_rate(1, -5, -1);
  auto const taken = [&](taper<float> const& how) {
    constant_rate_gate<float> const gate(log_rate.of_heads(), how);
    x.take(gla(x.in(), gate));
  };
  return overhead([&] { taken({x.exponents.of_heads()}); }, [&] { taken({}); }, square);
}
finding of_rwkv7() {
  memory_inputs x;
  tensor const logit(size, -6, 0), removal(size, -0.1, 0.1), rate(size, 0, 1);
  tensor const exponents(size, 0, 1);
  auto const taken = [&](taper<float> const& how) {
    sigmoid_gate const gate(logit.rows(), {.taper = how});
    auto const in = x.in();
    x.take(rwkv7({.query = in.query,
                  .key = in.key,
                  .value = in.value,
                  .removal = removal.rows(),
                  .rate = rate.rows()},
                 gate));
  };
  return overhead([&] { taken({exponents.of_rows()}); }, [&] { taken({}); }, square);
}

}  // namespace

std::vector<claim> post_overhead_claims() {
  return {{"post-time-mamba2", "PoST, section 5.2",
           "per cent of a layer's forward time that the taper costs, below", 1, of_mamba2},
          {"post-time-gla", "PoST, abstract", "the same of GLA, no overhead, below", 1, of_gla},
          {"post-time-rwkv7", "PoST, abstract",
           "the same of RWKV-7, the taper in the logit of every row, below", 1, of_rwkv7}};
}

}  // namespace wane::bench
