// The constants of a bank: factors, weights, and what corrects the rounding of the factors.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "wane/core/decay.hpp"
#include "wane/core/place.hpp"
#include "wane/core/recurrence.hpp"
#include "wane/core/simd.hpp"
#include "wane/core/terms.hpp"

namespace wane {

// The constants of one head. The states are held divided by key: N <- lambda N + v, y += q c N.
// Rows come in fours: the last row may be there up to four times, with a share of its weight each.
// (A row of weight zero would turn an infinite value into NaN.)
template <class T>
class bank_constants {
 public:
  // Rows treated in one pass: as many states as fit the registers, in steps of four.
  static constexpr int most_rows = simd_bytes == 64 ? 16 : 8;
  // States are corrected for the rounding of their factors every 16 tokens or, where a correction
  // so small would itself be rounded away, every 16 * 2^level. Where a product is rounded before
  // the sum, factors near one would lose more: there they are split.
  static constexpr index shortest_period = 16;
  static constexpr int levels = 11;
  static constexpr bool splits = !simd_contracts;

  template <class Op>
  bank_constants(Op const& op, index head) : rows_(recurrence_shape(op.shape()).rows) {
    auto const x = op.at(place<>{0, 0, head});
    using Token = std::remove_const_t<decltype(x)>;
    index const padded = (rows_ + 3) / 4 * 4;
    for (index i = 0; i < padded; ++i) {
      index const s = row(i);
      T key(1), query(1);
      if constexpr (has_key<Token>) key = T(x.key(s));
      if constexpr (has_query<Token>) query = T(x.query(s));
      auto const w = row_decay(x, s);
      factor.push_back(splits ? w.whole : factor_of(w));
      rest.push_back(w.rest);
      weight.push_back(query * key * share_of(i));
      keys.push_back(key);
      queries.push_back(query);
      // log of the decay over its rounded factor, exact to double's rounding of a number near 1
      double const lost = (static_cast<double>(w.whole) - static_cast<double>(factor.back())) +
                          static_cast<double>(w.rest);
      log_error_.push_back(splits || factor.back() == T(0)
                               ? 0.0
                               : std::log1p(lost / static_cast<double>(factor.back())));
      double const decay = static_cast<double>(w.whole) + static_cast<double>(w.rest);
      period_.push_back(period_of(decay, recurrence_shape(op.shape()).time));
    }
    if constexpr (has_direct<Token>) direct = x.direct();
    for (int level = 0; level < levels; ++level)
      for (index s = 0; s < padded; ++s) {
        index const period = period_[static_cast<std::size_t>(s)];
        correction_.push_back(period <= shortest_period << level ? correction_after(s, period)
                                                                 : T(0));
      }
  }

  // What the states of all rows gain, relative to themselves, when so many shortest periods have
  // gone by.
  T const* corrections(index periods) const {
    int const level = std::min(std::countr_zero(static_cast<std::uint64_t>(periods)), levels - 1);
    return correction_.data() + level * padded_rows();
  }
  // The same for row s after the last of all tokens.
  T last_correction(index s, index tokens) const {
    index const period = period_[static_cast<std::size_t>(s)];
    return correction_after(s, tokens == 0 ? 0 : (tokens - 1) % period + 1);
  }

  // The scaled state loses nothing: no row has key 0 under a state, and no row resets.
  bool usable(bool with_initial_state) const {
    for (std::size_t i = 0; i < factor.size(); ++i) {
      bool const vanishes = weight[i] == T(0) && keys[i] != T(0) && queries[i] != T(0);
      if (!std::isfinite(weight[i]) || vanishes) return false;
      if (factor[i] == T(0) || !(std::abs(factor[i]) <= T(2))) return false;
      if (with_initial_state && !(std::abs(keys[i]) >= T(1e-6))) return false;
    }
    return true;
  }

  index rows() const { return rows_; }
  index padded_rows() const { return static_cast<index>(factor.size()); }
  // The row that stands in place i.
  index row(index i) const { return i < rows_ ? i : rows_ - 1; }

  std::vector<T> factor, rest, weight, keys, queries;
  T direct = T(0);

 private:
  // exp(tokens * log_error) - 1
  T correction_after(index s, index tokens) const {
    return static_cast<T>(
        std::expm1(static_cast<double>(tokens) * log_error_[static_cast<std::size_t>(s)]));
  }

  // About the root of the memory min(T, 1 / (1 - |decay|)). What the factor's rounding adds up to
  // until then and what the correction's own rounding adds up to in a whole memory are then alike,
  // and as large as the root of the memory allows.
  static index period_of(double decay, index time) {
    double const memory = 1 / std::max(1 - std::abs(decay), 1e-12);
    double const root = std::sqrt(std::min(memory, static_cast<double>(time)));
    int level = 0;
    while (level < levels - 1 && static_cast<double>(shortest_period << (level + 1)) <= root)
      ++level;
    return shortest_period << level;
  }

  template <class Token>
  static split_decay<T> row_decay(Token const& x, index s) {
    auto const w = decay_of(x, s, index{0});
    if constexpr (std::is_same_v<std::remove_const_t<decltype(w)>, split_decay<T>>)
      return w;
    else if constexpr (std::is_same_v<std::remove_const_t<decltype(w)>, no_decay>)
      return {T(1), T(0)};
    else
      return {w.factor, T(0)};
  }

  // Shares are powers of two that add up to 1: 1/2 twice, 1/2 and 1/4 twice, or 1/4 four times.
  T share_of(index i) const {
    index const copies = (4 - rows_ % 4) % 4 + 1;
    if (i < rows_ - 1 || copies == 1) return T(1);
    return copies == 2 || (copies == 3 && i == rows_ - 1) ? T(0.5) : T(0.25);
  }

  index rows_;
  std::vector<double> log_error_;
  std::vector<index> period_;
  std::vector<T> correction_;  // [levels, padded rows]
};

}  // namespace wane
