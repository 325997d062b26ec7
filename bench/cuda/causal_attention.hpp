// causal_attention: softmax attention over tiles of keys, the rival of memories of fixed size.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "wane/core/recurrence/view.hpp"
#include "wane/cuda/machine/unit_products.hpp"

namespace wane::bench {

// Tensors [B, T, H, Width] without gaps, T a multiple of `tile`.
struct attention_arguments {
  index heads, time;
  bfloat16 const *query, *key, *value;
  bfloat16* output;
};

// y_t = sum over s <= t of softmax(query_t . key_s / sqrt(Width)) value_s. A block takes `tile`
// queries of a head, 16 for each warp, through all keys before them. The next `tile` keys are
// loaded meanwhile. Only the scores of one tile are on the chip at a time: where larger scores
// come, the softmax rescales the sums so far (Dao et al., FlashAttention).
template <cuda::impl::multiplies<bfloat16> M, int Width>
class causal_attention {
  using products = cuda::impl::unit_products<cuda::impl::in_bfloat16, M>;
  using numbers = typename products::fragment;
  using factor = typename products::left;

 public:
  static constexpr int tile = M::threads / cuda::impl::warp_size * 16;
  static constexpr std::size_t shared_bytes = std::size_t{4} * tile * (Width + 8) * 2;

  WANE_HOST_DEVICE static index blocks(index batch, attention_arguments const& a) {
    return batch * a.heads * (a.time / tile);
  }

  WANE_HOST_DEVICE causal_attention(M& machine, attention_arguments const& a)
      : machine_(machine), products_(machine), a_(a) {}

  WANE_HOST_DEVICE void operator()(index block) {
    // The longest first.
    index const tiles = a_.time / tile, lines = a_.heads;
    index const own = tiles - 1 - block % tiles, line = block / tiles;
    start_ = (line / lines * a_.time * lines + line % lines) * Width;
    factor query[Width / 16];
    bring(a_.query, own, 0);
    machine_.commit();
    machine_.template wait<0>();
    machine_.barrier();
    bfloat16 const* const rows = at(0) + warp() * 16 * stride;
    impl::unroll<Width / 16>(
        [&](auto n) WANE_INLINE_LAMBDA { query[n] = products_.read_left(rows + n * 16, stride); });
    machine_.barrier();
    bring_pair(0);
    for (index n = 0; n <= own; ++n) {
      machine_.template wait<0>();
      machine_.barrier();
      if (n < own) bring_pair(n + 1);
      take(query, n, n == own);
    }
    hand_out(own);
  }

 private:
  static constexpr int stride = Width + 8;  // so that rows lie in different banks

  WANE_HOST_DEVICE int warp() const { return machine_.thread() / cuda::impl::warp_size; }
  WANE_HOST_DEVICE bfloat16* at(int array) const {
    return reinterpret_cast<bfloat16*>(machine_.shared()) + array * tile * stride;
  }

  // Tile n of a tensor.
  WANE_HOST_DEVICE void bring(bfloat16 const* tensor, index n, int array) {
    constexpr int copies = Width / 8;  // of a row
    for (int i = machine_.thread(); i < tile * copies; i += M::threads)
      machine_.copy(at(array) + i / copies * stride + i % copies * 8,
                    tensor + start_ + (n * tile + i / copies) * a_.heads * Width + i % copies * 8,
                    16);
  }
  WANE_HOST_DEVICE void bring_pair(index n) {
    bring(a_.key, n, static_cast<int>(n % 2) * 2);
    bring(a_.value, n, static_cast<int>(n % 2) * 2 + 1);
    machine_.commit();
  }

  WANE_HOST_DEVICE void take(factor const (&query)[Width / 16], index n, bool last) {
    bfloat16 const *const key = at(static_cast<int>(n % 2) * 2), *const value = key + tile * stride;
    numbers score[tile / 8] = {};
    impl::unroll<Width / 16>([&](auto k) WANE_INLINE_LAMBDA {
      impl::unroll<tile / 8>([&](auto s) WANE_INLINE_LAMBDA {
        products_.add(score[s], query[k], key + s * 8 * stride + k * 16, stride);
      });
    });
    impl::unroll<2>([&](auto half) WANE_INLINE_LAMBDA {
      int const row = warp() * 16 + products_.row() + 8 * half;
      float most = -HUGE_VALF;
      impl::unroll<tile / 8>([&](auto s) WANE_INLINE_LAMBDA {
        for (int e = 0; e < 2; ++e) {
          float& x = score[s].of[2 * half + e];
          x = last && s * 8 + products_.column() + e > row ? -HUGE_VALF : x * scale;
          most = fmaxf(most, x);
        }
      });
      // Four threads share a row.
      most = fmaxf(most, other(most, 1));
      most = fmaxf(fmaxf(most, other(most, 2)), most_[half]);
      float const kept = exp2f(most_[half] - most);
      most_[half] = most, total_[half] *= kept;
      impl::unroll<tile / 8>([&](auto s) WANE_INLINE_LAMBDA {
        for (int e = 0; e < 2; ++e) {
          float& x = score[s].of[2 * half + e];
          x = exp2f(x - most), total_[half] += x;
        }
      });
      impl::unroll<Width / 8>([&](auto c) WANE_INLINE_LAMBDA {
        for (int e = 0; e < 2; ++e) output_[c].of[2 * half + e] *= kept;
      });
    });
    impl::unroll<tile / 16>([&](auto s) WANE_INLINE_LAMBDA {
      factor const weight = products_.left_of(score + 2 * s);
      impl::unroll<Width / 8>([&](auto c) WANE_INLINE_LAMBDA {
        products_.add_transposed(output_[c], weight, value + s * 16 * stride + c * 8, stride);
      });
    });
  }

  WANE_HOST_DEVICE void hand_out(index own) {
    impl::unroll<2>([&](auto half) WANE_INLINE_LAMBDA {
      float total = total_[half];
      total += other(total, 1);
      total += other(total, 2);
      index const t = own * tile + warp() * 16 + products_.row() + 8 * half;
      bfloat16* const to = a_.output + start_ + t * a_.heads * Width + products_.column();
      impl::unroll<Width / 8>([&](auto c) WANE_INLINE_LAMBDA {
        for (int e = 0; e < 2; ++e)
          to[c * 8 + e] = static_cast<bfloat16>(output_[c].of[2 * half + e] / total);
      });
    });
  }

  // x of the thread of the warp whose number differs in one bit.
  WANE_HOST_DEVICE float other(float x, int bit) {
    return machine_.shuffle(x, machine_.thread() % cuda::impl::warp_size ^ bit);
  }

  // Scores are of exp2: log2(e) / sqrt(Width).
  static constexpr float scale = 1.44269504f / (Width == 64 ? 8.f : 11.3137085f);
  static_assert(Width == 64 || Width == 128);

  M& machine_;
  products products_;
  attention_arguments a_;
  index start_ = 0;  // of the head's row of the first token
  numbers output_[Width / 8] = {};
  float most_[2] = {-HUGE_VALF, -HUGE_VALF}, total_[2] = {};
};

}  // namespace wane::bench
