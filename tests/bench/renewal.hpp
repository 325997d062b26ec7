// Random texts and series whose dependence is a known power law at every lag.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/random_series.hpp"
#include "shared/random.hpp"

namespace wane::bench {

// A value is drawn anew at each renewal and kept until the next; the gaps are such that places l
// apart lie in one gap with probability q(l) = share l^-decay, l >= 1, exactly:
//   P(gap > d) = (q(d) - q(d+1)) / (1 - q(1)),    share <= 1 / (2 - 2^-decay).
// The first gap is cut by the start, P(what is left of it > d) = q(d): the process is stationary.
struct renewal {
  double decay = 0.7;
  double share = 0.5;

  double together(std::int64_t lag) const {
    return lag == 0 ? 1 : share * std::pow(static_cast<double>(lag), -decay);
  }

  // Of symbols drawn from `symbols` alike, in nats: equal with probability q + (1-q)/A.
  double mutual_information(std::int64_t lag, std::size_t symbols) const {
    auto const a = static_cast<double>(symbols);
    double const q = together(lag);
    double const equal = q + (1 - q) / a;
    return equal * std::log(a * equal) + (1 - q) * (1 - 1 / a) * std::log1p(-q);
  }

  std::string text(std::size_t length, std::size_t symbols, std::uint64_t seed) const {
    auto const symbol = [&](random_bits& bits) {
      return static_cast<char>('a' + static_cast<int>(below(bits, symbols)));
    };
    return draw<std::string>(length, seed, symbol);
  }

  // Gaussian values: the autocorrelation is q.
  std::vector<double> series(std::size_t length, std::uint64_t seed) const {
    return draw<std::vector<double>>(length, seed, gaussian);
  }

 private:
  template <class Sequence, class Value>
  Sequence draw(std::size_t length, std::uint64_t seed, Value const& value) const {
    random_bits bits(seed);
    Sequence sequence;
    while (sequence.size() < length) {
      std::size_t const most = length - sequence.size();
      std::size_t const wanted = gap(unit(bits), sequence.empty(), most);
      sequence.resize(sequence.size() + wanted, value(bits));
    }
    return sequence;
  }

  // The least d >= 1 with P(gap > d) <= u, or `most` if that is less.
  std::size_t gap(double u, bool first, std::size_t most) const {
    auto const longer = [&](std::size_t d) {
      auto const lag = static_cast<std::int64_t>(d);
      if (first) return together(lag);
      return (together(lag) - together(lag + 1)) / (1 - together(1));
    };
    std::size_t low = 1, high = most;
    while (low < high) {
      std::size_t const middle = low + (high - low) / 2;
      if (longer(middle) > u) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

}  // namespace wane::bench
