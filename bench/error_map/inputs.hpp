// Inputs of a mapped operator: the same numbers for every type, cut, compiler and processor.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/core/numbers/storage.hpp"
#include "wane/operators/parts/keyed_inputs.hpp"

namespace wane::bench {

inline constexpr index heads = 2, size = 16;  // rows and columns of a state

// What a tensor holds.
//   centred   uniform in (-7/16, 7/16): a row of 16 is about 1 long
//   positive  uniform in (1/8, 7/8)
//   decays    the log decay of the map
enum class numbers_of { centred, positive, decays };

// 20 random bits of a counter (the finaliser of splitmix64).
inline std::uint64_t random_bits_of(std::uint64_t counter) {
  std::uint64_t x = (counter + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return (x ^ (x >> 31)) >> 44;
}

// Every step is exact, so that no compiler and no processor rounds it in its own way.
inline float random_number(numbers_of what, std::uint64_t counter) {
  auto const odd = static_cast<float>(2 * random_bits_of(counter) + 1);  // below 2^21
  return what == numbers_of::centred ? (odd - 0x1p20f) * 0x1.cp-22f : 0.125f + odd * 0x1.8p-22f;
}

// Tokens [first, first + count) of all tensors, as numbers of Io that are stored as Number: Io
// itself, or double for the reference. A tensor is made when an operator first reads it.
template <class Io, class Number>
class inputs {
 public:
  using number = Number;
  using parameter = widened<Number>;

  inputs(index first, index count, double log_decay)
      : first_(first), count_(count), log_decay_(static_cast<float>(log_decay)) {}

  // The tokens [begin, end) of these.
  class piece {
   public:
    using number = Number;
    using parameter = widened<Number>;
    using rows_view = sequence_view<Number const>;
    using tokens_view = token_view<Number const>;

    piece(inputs const& of, index begin, index end) : of_(of), begin_(begin), end_(end) {}

    // Tensors are told apart by their seeds. `each`: rows for every token.
    rows_view rows(int seed, numbers_of what = numbers_of::centred, index width = size,
                   index each = 1) const {
      return rows_view(of_.tensor(seed, what, width, each), 1, of_.count_ * each, heads, width)
          .tokens(begin_ * each, end_ * each);
    }
    tokens_view tokens(int seed, numbers_of what = numbers_of::positive, index each = 1) const {
      return tokens_view(of_.tensor(seed, what, 1, each), 1, of_.count_ * each, heads)
          .tokens(begin_ * each, end_ * each);
    }

    rows_view query() const { return rows(0); }
    rows_view key() const { return rows(1); }
    rows_view value() const { return rows(2); }
    tokens_view strength() const { return tokens(3); }
    rows_view decays_of_rows() const { return rows(4, numbers_of::decays); }
    tokens_view decays_of_heads() const { return tokens(5, numbers_of::decays); }
    // Features of queries and keys.
    rows_view positive_query() const { return rows(6, numbers_of::positive); }
    rows_view positive_key() const { return rows(7, numbers_of::positive); }

    keyed_inputs<Number> keyed() const {
      return {.query = query(), .key = key(), .value = value()};
    }
    keyed_inputs<Number> positive() const {
      return {.query = positive_query(), .key = positive_key(), .value = value()};
    }

    // Parameters that do not depend on the token, [heads] or [heads, width].
    view<parameter const, 1> of_heads(int seed, numbers_of what, double factor = 1) const {
      return {of_.parameters(seed, what, factor, 1), heads};
    }
    view<parameter const, 2> of_channels(int seed, numbers_of what, double factor = 1,
                                         index width = size) const {
      return {of_.parameters(seed, what, factor, width), heads, width};
    }
    double log_decay() const { return of_.log_decay_; }

   private:
    inputs const& of_;
    index begin_, end_;
  };

  piece tokens(index begin, index end) const { return {*this, begin, end}; }

 private:
  template <class Stored, class T>
  void fill(std::vector<T>& to, int seed, numbers_of what, index first, index count,
            double factor) const {
    to.resize(static_cast<std::size_t>(count));
    for (index i = 0; i < count; ++i) {
      auto const counter =
          static_cast<std::uint64_t>(seed) << 40 | static_cast<std::uint64_t>(first + i);
      double const x =
          what == numbers_of::decays ? double(log_decay_) : double(random_number(what, counter));
      to[static_cast<std::size_t>(i)] =
          static_cast<T>(static_cast<widened<Stored>>(Stored(static_cast<float>(factor * x))));
    }
  }
  Number const* tensor(int seed, numbers_of what, index width, index each) const {
    auto& to = tensors_[static_cast<std::size_t>(seed)];
    index const token = each * heads * width;
    if (to.empty()) fill<Io>(to, seed, what, first_ * token, count_ * token, 1);
    return to.data();
  }
  parameter const* parameters(int seed, numbers_of what, double factor, index width) const {
    auto& to = parameters_[static_cast<std::size_t>(seed)];
    if (to.empty()) fill<widened<Io>>(to, seed + 100, what, 0, heads * width, factor);
    return to.data();
  }

  index first_, count_;
  float log_decay_;
  mutable std::array<std::vector<Number>, 16> tensors_;
  mutable std::array<std::vector<parameter>, 4> parameters_;
};

}  // namespace wane::bench
