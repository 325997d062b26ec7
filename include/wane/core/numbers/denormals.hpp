// flush_denormals: a guard; until it is destroyed, its thread treats denormal numbers as zero.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <cstdint>

namespace wane::impl {

//   flush_denormals const guard;
//
// Products of decays underflow, and processors that handle denormals in microcode then run up to
// 26 times slower. The destructor restores the setting of the thread.
class flush_denormals {
 public:
#if defined(__x86_64__)
  flush_denormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040u); }
  ~flush_denormals() { _mm_setcsr(before_); }

 private:
  unsigned before_;
#elif defined(__aarch64__)
  flush_denormals() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" ::"r"(before_ | (std::uint64_t{1} << 24)));
  }
  ~flush_denormals() { asm volatile("msr fpcr, %0" ::"r"(before_)); }

 private:
  std::uint64_t before_;
#else
  flush_denormals() {}
#endif
 public:
  flush_denormals(flush_denormals const&) = delete;
  flush_denormals& operator=(flush_denormals const&) = delete;
};

}  // namespace wane::impl
