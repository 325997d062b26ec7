// device_thread: the machine of a kernel, a thread of a GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cuda/atomic>

#include "wane/cuda/machine/matrix_unit.hpp"

namespace wane::cuda::impl {

extern __shared__ __align__(16) std::byte device_shared_memory[];

template <int Threads>
class device_thread {
 public:
  static constexpr int threads = Threads;

  __device__ int thread() const { return static_cast<int>(threadIdx.x); }
  __device__ void barrier() { __syncthreads(); }
  __device__ bool any(bool x) { return __syncthreads_or(x) != 0; }

  template <class T>
  __device__ T shuffle(T const& x, int lane) {
    return of_words(x, [=](unsigned word) { return __shfl_sync(0xffffffffu, word, lane); });
  }
  template <class T>
  __device__ T shuffle_up(T const& x, int by) {
    return of_words(x, [=](unsigned word) {
      return __shfl_up_sync(0xffffffffu, word, static_cast<unsigned>(by));
    });
  }

  // Registers as words of 32 bits, in the order of PTX's figures.
  template <class T, class Unit = matrix_unit<T>>
  __device__ void multiply_add(typename Unit::sum& sum, typename Unit::left const& left,
                               typename Unit::right const& right) {
    unsigned a[4], b[2];
    __builtin_memcpy(a, &left, sizeof(a));
    __builtin_memcpy(b, &right, sizeof(b));
    float* const c = sum.of;
    if constexpr (std::is_same_v<T, bfloat16>)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else if constexpr (std::is_same_v<T, float16>)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }

  __device__ std::byte* shared() const { return device_shared_memory; }
  template <class T>
  __device__ T read_shared(T const* p) {
    return *p;
  }
  template <class T>
  __device__ void write_shared(T* p, T x) {
    *p = x;
  }

  __device__ void ask_for(void const* address) { asm volatile("prefetch.L2 [%0];" ::"l"(address)); }
  __device__ void copy(void* to, void const* from, int bytes) {
    if (bytes == 16)
      __pipeline_memcpy_async(to, from, 16);
    else if (bytes == 8)
      __pipeline_memcpy_async(to, from, 8);
    else if (bytes == 4)
      __pipeline_memcpy_async(to, from, 4);
    else
      copy_out(to, from, bytes);
  }
  __device__ void commit() { __pipeline_commit(); }
  template <int Left>
  __device__ void wait() {
    __pipeline_wait_prior(Left);
  }
  __device__ void copy_out(void* to, void const* from, int bytes) {
    if (bytes == 16)
      *static_cast<uint4*>(to) = *static_cast<uint4 const*>(from);
    else if (bytes == 8)
      *static_cast<uint2*>(to) = *static_cast<uint2 const*>(from);
    else if (bytes == 4)
      *static_cast<unsigned*>(to) = *static_cast<unsigned const*>(from);
    else if (bytes == 2)
      *static_cast<unsigned short*>(to) = *static_cast<unsigned short const*>(from);
    else
      *static_cast<unsigned char*>(to) = *static_cast<unsigned char const*>(from);
  }

  template <class T>
  __device__ T read(T const* p) {
    return *p;
  }
  template <class T>
  __device__ void write(T* p, T x) {
    *p = x;
  }
  __device__ void raise(std::uint32_t* flag) {
    device_atomic<std::uint32_t>(*flag).store(1, ::cuda::memory_order_release);
  }
  __device__ void await(std::uint32_t const* flag) {
    device_atomic<std::uint32_t> const watched(*const_cast<std::uint32_t*>(flag));
    while (watched.load(::cuda::memory_order_acquire) == 0) __nanosleep(20);
  }
  __device__ std::uint64_t take(std::uint64_t* counter) {
    return device_atomic<std::uint64_t>(*counter).fetch_add(1, ::cuda::memory_order_relaxed);
  }
  __device__ std::uint64_t count(std::uint64_t* counter) {
    return device_atomic<std::uint64_t>(*counter).fetch_add(1, ::cuda::memory_order_acq_rel);
  }

 private:
  // x with each of its 32-bit words replaced by of_word(word).
  template <class T, class OfWord>
  __device__ static T of_words(T const& x, OfWord const& of_word) {
    static_assert(sizeof(T) % 4 == 0);
    unsigned words[sizeof(T) / 4];
    __builtin_memcpy(words, &x, sizeof(T));
    for (unsigned& word : words) word = of_word(word);
    T other;
    __builtin_memcpy(&other, words, sizeof(T));
    return other;
  }

  template <class T>
  using device_atomic = ::cuda::atomic_ref<T, ::cuda::thread_scope_device>;
};

}  // namespace wane::cuda::impl
