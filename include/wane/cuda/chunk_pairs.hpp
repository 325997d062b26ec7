// What the tokens of a chunk mean to each other, the same for all columns of the state.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/chunk_terms.hpp"

namespace wane::cuda {

// One thread of a block. The recurrence of a chunk is that of micro_chunk.hpp. Everything that is
// multiplied by decays is a ratio P_t / P_s of two tokens of the chunk, s before t, the product of
// the decays between: it never exceeds those. Rows that fade by themselves have such ratios within
// sums over rows: there the pairs (t, s) go in halves. Between the tokens of the first and the
// second half of 16, 8, 4 or 2 tokens lies a last token m of the first, and P_t / P_s is P_t / P_m,
// a factor of what reads, times P_m / P_s, one of what was written: so all are products of
// matrices.
template <class Config, class Precision, machine M, class Arguments>
class chunk_pairs : protected chunk_terms<Config, Precision, M, Arguments> {
  using base = chunk_terms<Config, Precision, M, Arguments>;

 protected:
  using base::a_, base::at_, base::machine_, base::products_;
  using base::tokens, base::by_row, base::erases, base::general, base::fades;
  using typename base::Token, typename base::products, typename base::tile, typename base::stored;

  WANE_HOST_DEVICE chunk_pairs(M& machine, Arguments const& a) : base(machine, a) {}

  // All that the columns need of a chunk. Begins and ends behind a barrier. (Inlined, it would take
  // registers from the state.)
  [[gnu::noinline]] WANE_HOST_DEVICE void prepare(typename base::resetting how) const {
    for (int i = machine_.thread(); i < at_.rows; i += Config::threads) this->scale_row(i, how);
    if constexpr (!by_row)
      if (machine_.thread() < tokens) this->scale_token(machine_.thread(), how);
    if constexpr (by_row) {
      multiply_pairs<0>();
      for_halves([&](auto half) {
        for (int i = machine_.thread(); i < at_.rows; i += Config::threads) near_row<half>(i);
        machine_.barrier();
        multiply_pairs<half>();
        machine_.barrier();
      });
    } else {
      multiply_pairs<tokens>();
      machine_.barrier();
    }
    if constexpr (erases) {
      if (machine_.thread() < tokens) invert(machine_.thread());
      machine_.barrier();
    }
  }

  static constexpr int warps = Config::threads / warp_size;

  // The products of all tokens by the tokens 8 n ... 8 n + 7, sums over `length` numbers of each.
  template <class X>
  WANE_HOST_DEVICE tile pairs(std::size_t left, std::size_t right, int n, int length,
                              int stride) const {
    tile sum = {};
    for (int i = 0; i < length; i += 8 * products::tiles) {
      tile x[products::tiles];
      for (int k = 0; k < products::tiles; ++k)
        x[k] = products_.read(this->template shared<X const>(left) + i + 8 * k, stride);
      products_.add(sum, products_.left_of(x),
                    this->template shared<X const>(right) + 8 * n * stride + i, stride);
    }
    return sum;
  }

 private:
  template <class X>
  WANE_HOST_DEVICE tile pairs_of_rows(std::size_t left, std::size_t right, int n) const {
    return pairs<X>(left, right, n, at_.rows, at_.stride);
  }

  template <class Body>
  WANE_HOST_DEVICE static void for_halves(Body const& body) {
    body(std::integral_constant<int, 8>{}), body(std::integral_constant<int, 4>{});
    body(std::integral_constant<int, 2>{}), body(std::integral_constant<int, 1>{});
  }

  // Row i of tokens before and behind the middles between `half` and `half` of them.
  template <int half>
  WANE_HOST_DEVICE void near_row(int i) const {
    float p = 1.f;
    for (int t = 0; t < tokens; ++t) {
      if (!(t & half)) continue;
      int const from = t * at_.stride + i;
      if ((t & (half - 1)) == 0) p = 1.f;
      if constexpr (erases)
        this->template put<stored>(at_.near[1], from,
                                   this->template get<float>(at_.read, from) * p);
      p *= this->template get<float>(at_.decay, from);
      this->template put<stored>(at_.near[0], from, this->template get<float>(at_.query, from) * p);
    }
    for (int t = tokens - 1; t >= 0; --t) {
      if (t & half) continue;
      int const from = t * at_.stride + i;
      if ((t & (half - 1)) == half - 1) p = 1.f;
      this->template put<stored>(at_.near[0], from, this->template get<float>(at_.key, from) * p);
      if constexpr (erases) {
        float write = 0.f;
        if constexpr (general) write = this->template get<float>(at_.write, from);
        this->template put<stored>(at_.near[1], from, write * p);
      }
      p *= this->template get<float>(at_.decay, from);
    }
  }

  // Products of pairs of tokens. What: all of them, of heads; those of a token with itself, and
  // zeros elsewhere (0); those of two halves.
  template <int what>
  WANE_HOST_DEVICE void multiply_pairs() const {
    constexpr bool halves = what == 8 || what == 4 || what == 2 || what == 1;
    auto const multiply = [&](int job, bool query, bool key, std::size_t to) {
      for (int n = 0; n < 2; ++n)
        if ((2 * job + n) % warps == machine_.thread() / warp_size) {
          if constexpr (halves)
            put_pairs<what>(
                pairs_of_rows<stored>(at_.near[query ? 0 : 1], at_.near[key ? 0 : 1], n), n, query,
                to);
          else
            put_pairs<what>(
                pairs_of_rows<float>(query ? at_.query : at_.read, key ? at_.key : at_.write, n), n,
                query, to);
        }
    };
    multiply(0, true, true, at_.query_key);
    if constexpr (erases) multiply(1, false, true, at_.read_key);
    if constexpr (general) multiply(2, true, false, at_.query_write);
    if constexpr (general) multiply(3, false, false, at_.read_write);
  }
  template <int what>
  WANE_HOST_DEVICE void put_pairs(tile const& x, int n, bool query, std::size_t to) const {
    for (int e = 0; e < 4; ++e) {
      int const t = products_.row() + 8 * (e / 2), s = 8 * n + products_.column() + e % 2;
      bool const counts = s < t || (s == t && query && !strictly_causal<Token>);
      float const product = x.of[e];
      if constexpr (what == tokens)
        this->template put<float>(to, t * chunk_stride + s,
                                  counts ? product * ratio(t, s, query) : 0.f);
      else if constexpr (what == 0)
        this->template put<float>(to, t * chunk_stride + s, counts && s == t ? product : 0.f);
      else if ((t & what) && !(s & what) && t / (2 * what) == s / (2 * what))
        this->template put<float>(to, t * chunk_stride + s, product);
    }
  }
  // Of a head: P_t / P_s for a query, P_{t-1} / P_s for what erases.
  WANE_HOST_DEVICE float ratio(int t, int s, bool query) const {
    float p = 1.f;
    if constexpr (fades)
      for (int u = s + 1; u < (query ? t + 1 : t); ++u)
        p *= this->factor(this->template get<float>(at_.decay, u));
    return p;
  }

  // Column c of (1 - N)^-1, N what a token erases of what those before it wrote.
  WANE_HOST_DEVICE void invert(int c) const {
    float x[tokens];
    for (int t = 0; t < tokens; ++t) {
      float sum = t == c ? 1.f : 0.f;
      for (int s = 0; s < t; ++s) {
        if constexpr (general)
          sum = multiply_add(this->template get<float>(at_.read_write, t * chunk_stride + s), x[s],
                             sum);
        else
          sum = multiply_add(-this->template get<float>(at_.read_key, t * chunk_stride + s), x[s],
                             sum);
      }
      this->template put<float>(at_.inverse, t * chunk_stride + c, x[t] = sum);
    }
  }
};

}  // namespace wane::cuda
