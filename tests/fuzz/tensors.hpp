// Tensors of an input: extents, strides of any kind, and numbers from ordinary to NaN.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "fuzz/input.hpp"
#include "wane/core/recurrence/view.hpp"

namespace fuzz {

using wane::index;

// Numbers without end from a seed (splitmix64).
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : at_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = at_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  bool one_in(std::uint64_t n) { return bits() % n == 0; }
  // Even in [low, high).
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t at_;
};

// What a tensor may hold.
enum class range { reals, log_decays, parts };  // [-1, 1]; up to 0; [0, 1]

// Which numbers a tensor holds: tame ones, zeros among them, sizes of all orders, or NaN too.
enum class kind { tame, zeros, sizes, broken };

inline double number_in(range of, kind how, numbers& from) {
  double x = of == range::reals        ? from.between(-1, 1)
             : of == range::log_decays ? -from.between(0, 1) * from.between(0, 1)
                                       : from.between(0, 1);
  if (how == kind::tame || !from.one_in(4)) return x;
  if (how == kind::broken && from.one_in(4)) return std::numeric_limits<double>::quiet_NaN();
  if (how == kind::zeros || of == range::parts) return 0;
  constexpr double sizes[] = {1e9, 1e-12, 1e-41, 1e5};
  constexpr double logs[] = {-std::numeric_limits<double>::infinity(), -100, -1e-41, -1e-9};
  auto const which = from.bits() % 4;
  return of == range::reals ? std::copysign(sizes[which], x) : logs[which];
}

// A view with memory that ends where its last element does. Gaps and, at first, outputs hold
// `unwritten`.
template <class T, int Rank>
struct tensor {
  static constexpr T unwritten = T(-12345);
  std::vector<T> memory;
  wane::view<T, Rank> values;

  // Strides of an input may also be 0.
  tensor(input& in, std::array<index, std::size_t{Rank}> const& sizes, bool is_output) {
    int const how = in.byte();
    index extents[Rank], strides[Rank], step = 1, first = 0;
    std::copy(sizes.begin(), sizes.end(), extents);
    bool const in_other_order = how % 4 == 1;
    for (int k = 0; k < Rank; ++k) {
      int const i = in_other_order ? (k + Rank - 1) % Rank : Rank - 1 - k;
      int const of_this = how % 4 == 0 ? 0 : in.below(8);  // most tensors have no gaps
      if (of_this == 4 && !is_output) {
        strides[i] = 0;
        continue;
      }
      if (of_this == 5) step += 3;
      strides[i] = of_this == 6 ? -step : step;
      if (extents[i] > 0 && strides[i] < 0) first += (extents[i] - 1) * step;
      step *= std::max<index>(extents[i], 1);
    }
    index last = first;
    for (int i = 0; i < Rank; ++i)
      if (strides[i] > 0) last += std::max<index>(extents[i] - 1, 0) * strides[i];
    memory.assign(static_cast<std::size_t>(last + 1), unwritten);
    memory.shrink_to_fit();
    values = {memory.data() + first, extents, strides}, time_ = extents[Rank > 1];
  }
  // With the extents and strides of another, unwritten.
  struct unwritten_copy {};
  tensor(unwritten_copy, tensor const& like)
      : memory(like.memory.size(), unwritten),
        values(memory.data() + (like.values.data - like.memory.data()), like.values.extent,
               like.values.stride),
        time_(like.time_) {}
  tensor(tensor const&) = delete;
  tensor& operator=(tensor const&) = delete;

  template <class Body>
  void for_each(Body const& body) const {
    index at[Rank] = {};
    for (int i = 0; i < Rank; ++i)
      if (values.extent[i] == 0) return;
    for (;;) {
      T* element = values.data;
      for (int i = 0; i < Rank; ++i) element += at[i] * values.stride[i];
      body(*element);
      int i = Rank - 1;
      while (i >= 0 && ++at[i] == values.extent[i]) at[i--] = 0;
      if (i < 0) return;
    }
  }
  // Numbers of a kind up to `most`.
  void fill(input& in, range of, kind most = kind::broken) {
    auto const how = std::min(static_cast<kind>(std::min(in.below(6), 3)), most);
    numbers from(in.byte());
    for_each([&](T& x) { x = static_cast<T>(number_in(of, how, from)); });
  }
  // Whether only elements were written.
  bool gaps_unwritten() const {
    std::vector<bool> own(memory.size());
    for_each([&](T& x) { own[static_cast<std::size_t>(&x - memory.data())] = true; });
    for (std::size_t i = 0; i < own.size(); ++i)
      if (!own[i] && memory[i] != unwritten) return false;
    return true;
  }
  bool all_unwritten() const {
    return std::all_of(memory.begin(), memory.end(), [](T x) { return x == unwritten; });
  }

  // The tokens [begin, end), where the second extent is time.
  wane::view<T, Rank> tokens(index begin, index end) const {
    auto part = values;
    part.data += begin * part.stride[1], part.extent[1] += end - begin - time_;
    return part;
  }
  wane::view<T const, Rank> read(index begin, index end) const { return tokens(begin, end); }

 private:
  index time_ = 0;  // an extent that is made wrong stays wrong in parts
};

// The sizes of a call, mostly small.
struct sizes {
  index batch, time, heads, rows, columns;

  explicit sizes(input& in, int small = 9)
      : batch(1 + in.below(3)),
        time(extent(in, small)),
        heads(1 + in.below(3)),
        rows(extent(in, small)),
        columns(extent(in, small)) {
    if (in.below(16) == 0) time = 0;
    while (batch * time * heads * rows * columns > 60'000) time = time / 2;
  }

 private:
  static index extent(input& in, int small) {
    int const x = in.below(small + 3);
    return x < small ? 1 + x : x == small ? 33 : x == small + 1 ? 65 : 17;
  }
};

}  // namespace fuzz
