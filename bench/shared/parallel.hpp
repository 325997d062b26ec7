// Tasks 0..count-1 shared out to threads; each task writes only its own results.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace wane::bench {

// Calls task(i) for each i in [0, count) on at most `threads` threads, in no particular order.
// A task must not depend on another: then the result does not depend on `threads`. The first
// exception is thrown again here, after every thread has stopped.
template <class Task>
void for_each_task(std::size_t count, unsigned threads, Task const& task) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failing;
  auto const work = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) task(i);
    } catch (...) {
      next = count;
      std::lock_guard const lock(failing);
      if (!failure) failure = std::current_exception();
    }
  };
  std::size_t const helpers = std::min<std::size_t>(std::max(1u, threads), count);
  {
    std::vector<std::jthread> pool;
    for (std::size_t i = 1; i < helpers; ++i) pool.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace wane::bench
