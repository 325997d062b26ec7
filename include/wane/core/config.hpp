// The macros of wane: host and device functions, rounding of a GPU, inlining; builds it refuses.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ && !defined(WANE_ALLOW_FAST_MATH)
#error \
    "wane needs infinities and NaN: a log decay of -inf is a reset. Build without \
-ffinite-math-only (part of -ffast-math), or define WANE_ALLOW_FAST_MATH if no reset is ever used."
#endif

#if !defined(__cpp_exceptions) && !defined(__CUDA_ARCH__)
#error "wane reports wrong input by exceptions (wane::error). Build without -fno-exceptions."
#endif

#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ < 8
#error "wane is for machines of 64 bits: sizes of memory must hold products of its extents."
#endif

#ifdef __CUDACC__
#define WANE_HOST_DEVICE __host__ __device__
#else
#define WANE_HOST_DEVICE
#endif

// Defined in code for a GPU (sm_80 or newer) that has instructions which round to bfloat16, float16
// and TF32.
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

// Small functions are inlined by force, because kernels are fast only then. Under the address
// sanitizer and with WANE_NO_FORCED_INLINE they are ordinary calls, which compile faster
// (docs/design.md). GPU code is always inlined, because the compiler must see which arrays can be
// registers, and which memory an address belongs to.
#if (defined(WANE_ADDRESS_SANITIZER) || defined(WANE_NO_FORCED_INLINE)) && !defined(__CUDA_ARCH__)
#define WANE_HOST_INLINE inline
#define WANE_INLINE_LAMBDA
#else
#define WANE_HOST_INLINE [[gnu::always_inline]] inline
#define WANE_INLINE_LAMBDA __attribute__((always_inline))
#endif
#define WANE_INLINE WANE_HOST_DEVICE WANE_HOST_INLINE
// For large functions: inlined in files of nvcc, whose kernels need it; an ordinary call elsewhere,
// so that the function is compiled once.
#ifdef __CUDACC__
#define WANE_HOST_CALL WANE_INLINE
#else
#define WANE_HOST_CALL [[gnu::noinline]]
#endif

namespace wane {}
