// PoST's claims (arXiv 2604.07658) about properties it preserves: 4.17 to 4.19, section 5.2.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "claims/claim.hpp"
#include "claims/counted.hpp"
#include "wane/operators/gates/gates.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/mamba2.hpp"
#include "wane/run/run.hpp"
#include "wane/spectra/rates/post_map.hpp"
#include "wane/spectra/rates/random.hpp"
#include "wane/spectra/rates/taper.hpp"
#include "wane/spectra/rates/tapered_rates.hpp"

namespace wane::bench {
namespace {

using namespace spectra;

// Mamba-2 with a head of 64 states for each of 64 channels.
struct cost {
  std::int64_t operations;
  std::size_t state;
};
cost of_mamba2(index tokens, bool tapered) {
  constexpr index states = 64, channels = 64;
  auto const filled = [&](index width) {
    return std::vector<counted>(static_cast<std::size_t>(tokens * width), counted(0.5));
  };
  std::vector<counted> const x = filled(channels), dt = filled(1), b = filled(states);
  std::vector<counted> y = filled(channels);
  counted const rate = -1, exponent = 0.5;
  mamba2_inputs<counted> in{.x = {x.data(), 1, tokens, 1, channels},
                            .dt = {dt.data(), 1, tokens, 1},
                            .A = {&rate, 1},
                            .B = {b.data(), 1, tokens, 1, states},
                            .C = {b.data(), 1, tokens, 1, states}};
  if (tapered) in.taper = {&exponent, 1};
  mamba2<counted> const op(in, {.dt_softplus = true});
  recurrent_state<counted> state(op);
  std::int64_t const before = counted::operations();
  run(op, sequence_view<counted>(y.data(), 1, tokens, 1, channels),
      run_options<counted>{.final = state, .threads = 1});
  return {counted::operations() - before, state.values().size()};
}
// Proposition 4.17: the operations themselves, and that they grow with the tokens alone.
finding cost_of_the_taper() {
  cost const with = of_mamba2(16, true), twice = of_mamba2(32, true), thrice = of_mamba2(48, true);
  cost const without = of_mamba2(16, false);
  double const found =
      static_cast<double>(with.operations) / static_cast<double>(without.operations);
  bool const linear = thrice.operations - twice.operations == twice.operations - with.operations;
  char remark[160];
  std::snprintf(remark, sizeof remark,
                "counted in mamba2, N = d = 64: %.1f more a token and head, of %.0f; the state has "
                "%zu numbers with it and without",
                static_cast<double>(with.operations - without.operations) / 16,
                static_cast<double>(without.operations) / 16, with.state);
  return {found, found < 1.01 && linear && with.state == without.state, false, remark};
}

std::vector<double> ordered(std::mt19937_64& bits, double least_gap, double most_gap) {
  std::vector<double> p{-20 * unit_uniform(bits)};
  for (int k = 1; k < 32; ++k)
    p.push_back(p.back() + least_gap * std::pow(most_gap / least_gap, unit_uniform(bits)));
  return p;
}
// Proposition 4.18: there and back.
finding surjection() {
  std::mt19937_64 bits(1);
  double worst = 0;
  for (int draw = 0; draw < 1000; ++draw) {
    std::vector<double> const p = ordered(bits, 1e-9, 1e3), back = log_rates(parameters_of(p));
    for (std::size_t k = 0; k < p.size(); ++k)
      worst = std::max(worst, std::abs(back[k] - p[k]) / std::max(1.0, std::abs(p.back())));
  }
  return {worst, worst < 1e-14, false,
          "1000 increasing sequences of 32 numbers, gaps from 1e-9 to 1e3, relative to the range"};
}
// Corollary 4.19: the slowest rate of a static spectrum over positions.
finding representation() {
  std::mt19937_64 bits(1);
  double least = HUGE_VAL;
  bool is_static = true;
  for (int draw = 0; draw < 1000; ++draw) {
    std::vector<double> const p = ordered(bits, 1e-2, 1);
    std::vector<double> rates;
    for (double log_rate : p) rates.push_back(std::exp(log_rate));
    std::vector<double> const taper = adaptive_taper(p, std::log(2048)).values();
    double const late = tapered_rates(rates, taper, 1, 100).values()[0];
    least = std::min(least, rates[0] / late);
    std::vector<double> const none(taper.size());
    is_static = is_static && tapered_rates(rates, none, 1, 100).values() == rates;
  }
  return {least, least < 1.01, is_static,
          "least of 1000 ordered spectra of 32, t = 1 over t = 100: the first exponent of equation "
          "(9) is 1 for all of them; a taper of its own may be 0, and is then static"};
}

// A tapered memory of two heads, 8 x 8, in double; log decays from -2 to -0.1 before the taper.
class tapered_memory {
 public:
  static constexpr index tokens = 1024, heads = 2, size = 8, chunk = 256;
  tapered_memory() {
    std::mt19937_64 bits(1);
    auto const fill = [&](std::vector<double>& x, index width, double low, double high) {
      for (index i = 0; i < tokens * heads * width; ++i)
        x.push_back(low + (high - low) * unit_uniform(bits));
    };
    fill(query_, size, -1, 1), fill(key_, size, -1, 1), fill(value_, size, -1, 1);
    fill(log_decay_, 1, -2, -0.1);
  }

  std::vector<double> by_wane() const {
    std::vector<double> y(value_.size());
    auto const rows = [](std::vector<double> const& x) {
      return sequence_view<double const>(x.data(), 1, tokens, heads, size);
    };
    tapered_gate const gate(token_view<double const>(log_decay_.data(), 1, tokens, heads),
                            {view<double const, 1>(exponents, heads)});
    run(gla({.query = rows(query_), .key = rows(key_), .value = rows(value_)}, gate, {.scale = 1}),
        sequence_view<double>(y.data(), 1, tokens, heads, size));
    return y;
  }
  // By definition; position(t) is where the taper of token t is taken.
  template <class Position>
  std::vector<double> in_order(Position const& position) const {
    std::vector<double> y;
    long double s[heads][size][size] = {};
    for (index t = 0, at = 0; t < tokens; ++t)
      for (index h = 0; h < heads; ++h, ++at) {
        long double const stretch = std::pow(static_cast<long double>(position(t)),
                                             -static_cast<long double>(exponents[h]));
        long double const w = std::exp(log_decay_[static_cast<std::size_t>(at)] * stretch);
        for (index j = 0; j < size; ++j) {
          long double sum = 0;
          for (index i = 0; i < size; ++i) {
            auto const row = static_cast<std::size_t>(at * size + i);
            auto const column = static_cast<std::size_t>(at * size + j);
            s[h][i][j] = w * s[h][i][j] + static_cast<long double>(key_[row]) * value_[column];
            sum += query_[row] * s[h][i][j];
          }
          y.push_back(static_cast<double>(sum));
        }
      }
    return y;
  }

 private:
  static constexpr double exponents[heads] = {1, 0.5};
  std::vector<double> query_, key_, value_, log_decay_;
};
double relative_error(std::vector<double> const& is, std::vector<double> const& must_be) {
  double off = 0, largest = 0;
  for (std::size_t i = 0; i < is.size(); ++i) {
    off += (is[i] - must_be[i]) * (is[i] - must_be[i]);
    largest += must_be[i] * must_be[i];
  }
  return std::sqrt(off / largest);
}
// Section 5.2: that chunks ask for decays that are constant in each.
finding decays_within_chunks() {
  tapered_memory const memory;
  auto const exact = memory.in_order([](index t) { return t + 1; });
  double held = HUGE_VAL;
  for (index const at : {index{1}, tapered_memory::chunk / 2, tapered_memory::chunk}) {
    auto const y = memory.in_order(
        [&](index t) { return t / tapered_memory::chunk * tapered_memory::chunk + at; });
    held = std::min(held, relative_error(y, exact));
  }
  double const ours = relative_error(memory.by_wane(), exact);
  char remark[200];
  std::snprintf(remark, sizeof remark,
                "gla in double, T 1024, taper 1 and 1/2: error %.1e in chunks with every token's "
                "decay, %.2f with one for 256 tokens, that of the first, middle or last, the best",
                ours, held);
  return {ours / held, ours >= held, ours < 1e-14, remark};
}

}  // namespace

std::vector<claim> post_invariance_claims() {
  return {{"post-4.17", "PoST, Proposition 4.17", "operations with the taper over those without", 1,
           cost_of_the_taper},
          {"post-4.18", "PoST, Proposition 4.18", "distance of an ordered spectrum from the map's",
           0, surjection},
          {"post-4.19", "PoST, Corollary 4.19",
           "change of the slowest rate where a static spectrum is to be represented", 1,
           representation},
          {"post-5.2-chunk", "PoST, section 5.2",
           "error of decays by token in chunks over that of constant ones, if these are required",
           1, decays_within_chunks}};
}

}  // namespace wane::bench
