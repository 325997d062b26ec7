// The matrix unit of a warp, and which numbers of its matrices each thread holds.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "wane/core/numbers/storage.hpp"
#include "wane/cuda/machine/machine.hpp"

namespace wane::cuda::impl {

// A float rounded to the 10 bits after the point that the unit reads; ties away from zero. The sum
// of tf32(x) and tf32(x - tf32(x)) differs from x by at most 2^-22 |x|.
struct tf32 {
  float value = 0;

  tf32() = default;
  WANE_HOST_DEVICE explicit tf32(float x) {
#ifdef WANE_ROUNDS_BY_INSTRUCTION
    std::uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    value = __builtin_bit_cast(float, bits & ~0x1fffu);
#else
    auto const bits = __builtin_bit_cast(std::uint32_t, x);
    value = x == x ? __builtin_bit_cast(float, (bits + 0x1000u) & ~0x1fffu) : x;
#endif
  }
  WANE_HOST_DEVICE operator float() const { return value; }
};

// sum (16 x 8, float) += left (16 x depth) right (depth x 8), of T = bfloat16, float16 or tf32.
// Each of the 32 threads of a warp holds some numbers of all three (PTX ISA, mma.m16n8k16,
// m16n8k8).
template <class T>
struct matrix_unit {
  static constexpr int rows = 16, columns = 8, depth = 32 / sizeof(T);

  struct alignas(16) left {
    T of[depth / 2];
  };
  struct alignas(8) right {
    T of[depth / 4];
  };
  struct sum {
    float of[4];
  };

  // The place of a thread's number i in its matrix.
  struct place {
    int row, column;
  };
  WANE_HOST_DEVICE static constexpr place of_left(int lane, int i) {
    int const word = i / a_word;
    return {lane / 4 + 8 * (word % 2), lane % 4 * a_word + i % a_word + word / 2 * (depth / 2)};
  }
  WANE_HOST_DEVICE static constexpr place of_right(int lane, int i) {
    return {lane % 4 * a_word + i % a_word + i / a_word * (depth / 2), lane / 4};
  }
  WANE_HOST_DEVICE static constexpr place of_sum(int lane, int i) {
    return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2};
  }

 private:
  static constexpr int a_word = 4 / sizeof(T);  // numbers in 32 bits
};

// A machine whose warps have a matrix unit; multiply_add is called by all threads of a warp.
template <class M, class T>
concept multiplies = machine<M> &&
    requires(M& m, typename matrix_unit<T>::sum& sum, typename matrix_unit<T>::left const& left,
             typename matrix_unit<T>::right const& right) {
  m.template multiply_add<T>(sum, left, right);
};

}  // namespace wane::cuda::impl
