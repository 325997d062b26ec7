// The fastest this machine multiplies and adds, in registers.
// SPDX-License-Identifier: MIT
#include "kernels/fma_peak.hpp"

#include <utility>

#include "kernels/vectors.hpp"

namespace wane::bench {
namespace {

// Enough chains to hide the latency (4 or 5 cycles, two units) that still fit the registers.
using chains = std::make_index_sequence<12>;

// Hides a value from the optimiser.
template <class T>
void hide(T& x) {
  asm volatile("" : "+m"(x) : : "memory");
}

template <class T, std::size_t... I>
void portable_chains(index rounds, std::index_sequence<I...>) {
  typedef T vector __attribute__((vector_size(16)));
  vector x[] = {vector{} + static_cast<T>(0.1 * I)...};
  T factor = T(0.999), term = T(0.001);
  hide(factor), hide(term);
  for (index k = 0; k < rounds; ++k) ((x[I] = x[I] * factor + term), ...);
  (hide(x[I]), ...);
}

#if defined(__x86_64__)
template <class T, std::size_t... I>
[[gnu::target("avx512f")]] void avx512_chains(index rounds, std::index_sequence<I...>) {
  typedef T vector __attribute__((vector_size(64)));
  vector x[] = {vector{} + static_cast<T>(0.1 * I)...};
  vector factor = vector{} + T(0.999), term = vector{} + T(0.001);
  asm volatile("" : "+v"(factor), "+v"(term));
  for (index k = 0; k < rounds; ++k) ((x[I] = x[I] * factor + term), ...);
  for (auto& chain : x) asm volatile("" : : "m"(chain));
}

template <class T, std::size_t... I>
[[gnu::target("avx2,fma")]] void avx2_chains(index rounds, std::index_sequence<I...>) {
  typedef T vector __attribute__((vector_size(32)));
  vector x[] = {vector{} + static_cast<T>(0.1 * I)...};
  vector factor = vector{} + T(0.999), term = vector{} + T(0.001);
  asm volatile("" : "+x"(factor), "+x"(term));
  for (index k = 0; k < rounds; ++k) ((x[I] = x[I] * factor + term), ...);
  for (auto& chain : x) asm volatile("" : : "m"(chain));
}
#endif

// Returns the bytes of a vector.
template <class T>
int run_chains(index rounds) {
#if defined(__x86_64__)
  vectors const widest = widest_vectors();
  if (widest == vectors::avx512) return avx512_chains<T>(rounds, chains{}), 64;
  if (widest == vectors::avx2) return avx2_chains<T>(rounds, chains{}), 32;
#endif
  return portable_chains<T>(rounds, chains{}), 16;
}

}  // namespace

double multiply_adds(index rounds, int threads, bool in_double) {
  int bytes = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(max : bytes)
  for (int i = 0; i < threads; ++i)
    bytes = in_double ? run_chains<double>(rounds) : run_chains<float>(rounds);
  double const lanes = bytes / static_cast<double>(in_double ? sizeof(double) : sizeof(float));
  return 2 * lanes * static_cast<double>(chains::size()) * static_cast<double>(rounds) * threads;
}

}  // namespace wane::bench
