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

// Speed wants its small functions inlined whatever the compiler thinks. Where nobody looks at it,
// under a sanitizer or with WANE_NO_FORCED_INLINE, the code compiles sooner (docs/design.md); but
// in a GPU's code, whose registers and places in memory the compiler must see through.
#if (defined(WANE_ADDRESS_SANITIZER) || defined(WANE_NO_FORCED_INLINE)) && !defined(__CUDA_ARCH__)
#define WANE_HOST_INLINE inline
#define WANE_INLINE_LAMBDA
#else
#define WANE_HOST_INLINE [[gnu::always_inline]] inline
#define WANE_INLINE_LAMBDA __attribute__((always_inline))
#endif
#define WANE_INLINE WANE_HOST_DEVICE WANE_HOST_INLINE

namespace wane {}
