// Triads, copies and similar passes: the fastest reads and writes of arrays on this machine.
// SPDX-License-Identifier: MIT
#include "kernels/traffic.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <stdexcept>

#include "kernels/vectors.hpp"

namespace wane::bench {
namespace {

constexpr index block = 64;    // floats in a turn of the loop; a remainder is left out
constexpr index ahead = 1024;  // floats; further than a page finds the next page in time
constexpr float factor = 0.9f;

struct arrays {
  float const *a, *b, *c;
  float *y, *z;
};

template <int Reads>
void fetch(arrays const& p, index i) {
  for (index line = 0; line < block; line += 16) {
    __builtin_prefetch(p.a + i + line + ahead);
    if constexpr (Reads > 1) __builtin_prefetch(p.b + i + line + ahead);
    if constexpr (Reads > 2) __builtin_prefetch(p.c + i + line + ahead);
  }
}

template <int Reads, int Writes, bool Stream, bool Prefetch>
void portable_pass(arrays const p, index begin, index end) {
  for (index i = begin; i < end; i += block) {
    if constexpr (Prefetch) fetch<Reads>(p, i);
    for (index k = i; k < i + block; ++k) {
      float x = p.a[k];
      if constexpr (Reads > 1) x = x * factor + p.b[k];
      if constexpr (Reads > 2) x = x * factor + p.c[k];
      p.y[k] = x;
      if constexpr (Writes > 1) p.z[k] = x;
    }
  }
}

#if defined(__x86_64__)
template <int Reads, int Writes, bool Stream, bool Prefetch>
[[gnu::target("avx512f")]] void avx512_pass(arrays const p, index begin, index end) {
  __m512 const s = _mm512_set1_ps(factor);
  for (index i = begin; i < end; i += block) {
    if constexpr (Prefetch) fetch<Reads>(p, i);
    for (index k = i; k < i + block; k += 16) {
      __m512 x = _mm512_load_ps(p.a + k);
      if constexpr (Reads > 1) x = _mm512_fmadd_ps(x, s, _mm512_load_ps(p.b + k));
      if constexpr (Reads > 2) x = _mm512_fmadd_ps(x, s, _mm512_load_ps(p.c + k));
      Stream ? _mm512_stream_ps(p.y + k, x) : _mm512_store_ps(p.y + k, x);
      if constexpr (Writes > 1) Stream ? _mm512_stream_ps(p.z + k, x) : _mm512_store_ps(p.z + k, x);
    }
  }
  if constexpr (Stream) _mm_sfence();
}

template <int Reads, int Writes, bool Stream, bool Prefetch>
[[gnu::target("avx2,fma")]] void avx2_pass(arrays const p, index begin, index end) {
  __m256 const s = _mm256_set1_ps(factor);
  for (index i = begin; i < end; i += block) {
    if constexpr (Prefetch) fetch<Reads>(p, i);
    for (index k = i; k < i + block; k += 8) {
      __m256 x = _mm256_load_ps(p.a + k);
      if constexpr (Reads > 1) x = _mm256_fmadd_ps(x, s, _mm256_load_ps(p.b + k));
      if constexpr (Reads > 2) x = _mm256_fmadd_ps(x, s, _mm256_load_ps(p.c + k));
      Stream ? _mm256_stream_ps(p.y + k, x) : _mm256_store_ps(p.y + k, x);
      if constexpr (Writes > 1) Stream ? _mm256_stream_ps(p.z + k, x) : _mm256_store_ps(p.z + k, x);
    }
  }
  if constexpr (Stream) _mm_sfence();
}
#endif

template <int Reads, int Writes, bool Stream, bool Prefetch>
void pass(arrays const& p, index begin, index end) {
#if defined(__x86_64__)
  vectors const widest = widest_vectors();
  if (widest == vectors::avx512) return avx512_pass<Reads, Writes, Stream, Prefetch>(p, begin, end);
  if (widest == vectors::avx2) return avx2_pass<Reads, Writes, Stream, Prefetch>(p, begin, end);
#endif
  portable_pass<Reads, Writes, Stream, Prefetch>(p, begin, end);
}

template <int Reads, int Writes>
void pass(arrays const& p, index begin, index end, manner how) {
  if (how.stream)
    how.prefetch ? pass<Reads, Writes, true, true>(p, begin, end)
                 : pass<Reads, Writes, true, false>(p, begin, end);
  else
    how.prefetch ? pass<Reads, Writes, false, true>(p, begin, end)
                 : pass<Reads, Writes, false, false>(p, begin, end);
}

void part(traffic const& what, manner how, index begin, index end) {
  auto const read = [&](std::size_t i) {
    return i < what.reads.size() ? static_cast<float const*>(what.reads[i]) : nullptr;
  };
  auto const write = [&](std::size_t i) {
    return i < what.writes.size() ? static_cast<float*>(what.writes[i]) : nullptr;
  };
  arrays const p{read(0), read(1), read(2), write(0), write(1)};
  switch (10 * what.reads.size() + what.writes.size()) {
    case 11:
      return pass<1, 1>(p, begin, end, how);
    case 21:
      return pass<2, 1>(p, begin, end, how);
    case 32:
      return pass<3, 2>(p, begin, end, how);
    default:
      throw std::logic_error("no such traffic");
  }
}

}  // namespace

void carry_out(traffic const& what, manner how) {
  index const blocks = what.bytes / static_cast<index>(sizeof(float)) / block;
  if (what.threads == 1) return part(what, how, 0, blocks * block);
#pragma omp parallel for num_threads(what.threads) schedule(static, 1)
  for (int i = 0; i < what.threads; ++i)
    part(what, how, blocks * i / what.threads * block, blocks * (i + 1) / what.threads * block);
}

}  // namespace wane::bench
