// The only macros of wane: host, device and its rounding, inlining, no -ffinite-math-only.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ && !defined(WANE_ALLOW_FAST_MATH)
#error \
    "wane needs infinities and NaN: a log decay of -inf is a reset. Build without \
-ffinite-math-only (part of -ffast-math), or define WANE_ALLOW_FAST_MATH if no reset is ever used."
#endif

#ifdef __CUDACC__
#define WANE_HOST_DEVICE __host__ __device__
#else
#define WANE_HOST_DEVICE
#endif

// The code is that of a GPU which rounds to bfloat16, float16 and TF32 by instructions.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define WANE_ROUNDS_BY_INSTRUCTION
#endif

#if defined(__SANITIZE_ADDRESS__)
#define WANE_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WANE_ADDRESS_SANITIZER
#endif
#endif

// Small functions are inlined by force, because kernels are fast only then. Under a sanitizer, and
// with WANE_NO_FORCED_INLINE, they are calls, which compile sooner (docs/design.md). Code for a GPU
// is always inlined: the compiler must see registers and addresses.
#if (defined(WANE_ADDRESS_SANITIZER) || defined(WANE_NO_FORCED_INLINE)) && !defined(__CUDA_ARCH__)
#define WANE_HOST_INLINE inline
#define WANE_INLINE_LAMBDA
#else
#define WANE_HOST_INLINE [[gnu::always_inline]] inline
#define WANE_INLINE_LAMBDA __attribute__((always_inline))
#endif
#define WANE_INLINE WANE_HOST_DEVICE WANE_HOST_INLINE

namespace wane {}
