// machine: the operations that a kernel uses, provided by a GPU and by the emulated GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>

#include "wane/core/numbers/scalar.hpp"
#include "wane/core/numbers/unroll.hpp"

namespace wane::cuda::impl {

// Internals of wane::cuda use those of the core.
using namespace wane::impl;

// Threads that run in step and may shuffle.
inline constexpr int warp_size = 32;

// Arrays begin at multiples of 16 bytes.
WANE_HOST_DEVICE constexpr std::size_t rounded_up(std::size_t bytes) {
  return (bytes + 15) / 16 * 16;
}

// The layout of arrays one after the other in one memory.
struct room {
  std::size_t bytes = 0;

  // Appends an array and returns where it begins, in bytes.
  constexpr std::size_t take(index numbers, std::size_t size = sizeof(float)) {
    std::size_t const place = bytes;
    bytes += rounded_up(static_cast<std::size_t>(numbers) * size);
    return place;
  }
};

// One thread of a block. A kernel is a function template over M, called by every thread.
//   thread()                 the number of the thread among the M::threads of its block
//   barrier()                waits for the block; what was written to shared memory is then seen
//   any(x)                   a barrier; whether x was true of any thread
//   shuffle(x, n)            x of thread n of the warp
//   shuffle_up(x, n)         x of the thread n below in the warp; of the first n threads, x itself
//   shared()                 the shared memory of the block, aligned to 16 bytes
//   read_shared, write_shared    numbers that other threads write or read, after a barrier
//   copy(to, from, bytes)    starts a copy into shared memory; units of 1, 2, 4, 8 or 16 bytes
//   ask_for(address)         prefetches device memory that will be read soon
//   commit(), wait<N>()      closes a group of copies; waits until at most N groups are pending
//   read, write              scratch in device memory; of another block only after await
//   raise(flag)              a thread that awaits the flag then sees all that this block has
//                            written before its last barrier, and all that this thread has
//                            written
//   await(flag)              waits until it is raised
//   take(counter)            adds one and returns what was there; orders nothing
//   count(counter)           the same; a block that counts later sees all that this block has
//                            written before its last barrier
template <class M>
concept machine = requires(M& m, float x, float* to, float const* from, void* bytes,
                           std::uint32_t* flag, std::uint64_t* counter) {
  { M::threads } -> std::convertible_to<int>;
  { m.thread() } -> std::same_as<int>;
  m.barrier();
  { m.any(true) } -> std::same_as<bool>;
  { m.shuffle(x, 1) } -> std::same_as<float>;
  { m.shuffle_up(x, 1) } -> std::same_as<float>;
  { m.shared() } -> std::same_as<std::byte*>;
  { m.read_shared(from) } -> std::same_as<float>;
  m.write_shared(to, x);
  m.ask_for(from);
  m.copy(bytes, bytes, 4);
  m.commit();
  m.template wait<1>();
  { m.read(from) } -> std::same_as<float>;
  m.write(to, x);
  m.raise(flag);
  m.await(flag);
  { m.take(counter) } -> std::same_as<std::uint64_t>;
  { m.count(counter) } -> std::same_as<std::uint64_t>;
};

}  // namespace wane::cuda::impl
