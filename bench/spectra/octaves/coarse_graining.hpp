// The autocovariance of block means of a text: what PoST's condition 3.2 is about.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/corpus.hpp"
#include "spectra/measurement.hpp"

namespace wane::bench {

// The trace of the autocovariance of symbols as indicator vectors, averaged over blocks of b:
//
//   R_b(1) = mean_n sum_a (f_n(a) - q(a)) (f_{n+1}(a) - q(a)),
//
// f_n(a) the share of symbol a in block n, q(a) that in the text. At b = 1 it is how much more
// often than by chance a symbol follows itself.
struct coarse_grained {
  std::int64_t block = 0;
  double covariance = 0;
  std::array<double, blocks> without{};  // the same without each part of the pairs
  double exponent = 0;  // beta of R_{2b} = 2^-beta R_b; NaN where one is not positive
  double exponent_error = 0;

  double standard_error() const { return jackknife_error(without); }
};

inline std::vector<double> shares_of_symbols(corpus const& texts) {
  std::vector<double> share(texts.symbols);
  auto const n = static_cast<double>(texts.tokens());
  for (auto const& text : texts.texts) {
    for (auto const symbol : text) share[symbol] += 1 / n;
  }
  return share;
}

// Products of neighbouring blocks of one text, in order.
inline void add_products(std::vector<std::uint8_t> const& text, std::size_t block,
                         std::vector<double> const& share, std::vector<double>& products) {
  std::vector<double> previous, now(share.size());
  double const one = 1 / static_cast<double>(block);
  for (std::size_t begin = 0; begin + block <= text.size(); begin += block) {
    for (std::size_t a = 0; a < share.size(); ++a) now[a] = -share[a];
    for (std::size_t i = begin; i < begin + block; ++i) now[text[i]] += one;
    if (!previous.empty()) {
      double sum = 0;
      for (std::size_t a = 0; a < share.size(); ++a) sum += now[a] * previous[a];
      products.push_back(sum);
    }
    previous = now;
  }
}

inline coarse_grained coarse_grain(corpus const& texts, std::vector<double> const& share,
                                   std::size_t block) {
  coarse_grained result{.block = static_cast<std::int64_t>(block)};
  std::vector<double> products;
  for (auto const& text : texts.texts) add_products(text, block, share, products);
  auto const pairs = static_cast<std::int64_t>(products.size());
  std::array<double, blocks> sums{};
  double total = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    for (auto i = block_begin(pairs, b); i < block_begin(pairs, b + 1); ++i) {
      sums[b] += products[static_cast<std::size_t>(i)];
    }
    total += sums[b];
  }
  result.covariance = total / static_cast<double>(pairs);
  for (std::size_t b = 0; b < blocks; ++b) {
    auto const left = pairs - (block_begin(pairs, b + 1) - block_begin(pairs, b));
    result.without[b] = (total - sums[b]) / static_cast<double>(left);
  }
  return result;
}

// Blocks of 1, 2, 4, ..., as long as the longest text has 20 of them a part; shorter texts may add
// none.
inline std::vector<coarse_grained> coarse_grain(corpus const& texts, std::int64_t longest) {
  auto const share = shares_of_symbols(texts);
  std::vector<coarse_grained> found;
  std::int64_t const most = std::min(longest, texts.longest() / (20 * std::int64_t{blocks}));
  for (std::int64_t block = 1; block <= std::max<std::int64_t>(1, most); block *= 2) {
    found.push_back(coarse_grain(texts, share, static_cast<std::size_t>(block)));
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto& now = found[i];
    now.exponent = std::nan("");
    if (i + 1 == found.size()) continue;
    auto const& next = found[i + 1];
    if (now.covariance <= 0 || next.covariance <= 0) continue;
    now.exponent = std::log2(now.covariance / next.covariance);
    std::array<double, blocks> without{};
    for (std::size_t b = 0; b < blocks; ++b) {
      without[b] = std::log2(now.without[b] / next.without[b]);
    }
    now.exponent_error = jackknife_error(without);
  }
  return found;
}

}  // namespace wane::bench
