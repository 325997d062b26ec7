// The widest vectors of this machine, for any flags of the build.
// SPDX-License-Identifier: MIT
#pragma once

namespace wane::bench {

enum class vectors { portable, avx2, avx512 };

inline vectors widest_vectors() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return vectors::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return vectors::avx2;
#endif
  return vectors::portable;
}

inline char const* name_of(vectors v) {
  return v == vectors::avx512 ? "avx512" : v == vectors::avx2 ? "avx2" : "portable";
}

}  // namespace wane::bench
