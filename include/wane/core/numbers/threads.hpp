// Threads: how many a call uses, and loops over tasks that threads share.
// SPDX-License-Identifier: MIT
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif
#include <algorithm>
#include <atomic>
#include <exception>

#include "wane/core/error.hpp"
#include "wane/core/numbers/denormals.hpp"
#include "wane/core/numbers/scalar.hpp"

namespace wane::impl {

#ifdef _OPENMP
// True in a process that was forked since the program began. A fork copies one thread alone, while
// libgomp goes on to wait for those of the parent: a parallel region would never end.
inline std::atomic<bool> is_forked = false;
#if defined(__unix__) || defined(__APPLE__)
inline int const forks_are_seen = pthread_atfork(nullptr, nullptr, [] { is_forked = true; });
#endif
#endif

// `asked`; for 0, OpenMP's default, or 1 inside a parallel region. 1 in a forked process. Throws
// wane::error below 0.
inline int threads_to_use(int asked) {
  require(asked >= 0, "threads is ", asked, "; it must be 0 (the default) or positive");
#ifdef _OPENMP
  if (is_forked.load(std::memory_order_relaxed)) return 1;
  if (asked == 0) return omp_in_parallel() ? 1 : omp_get_max_threads();
  return asked;
#else
  return 1;
#endif
}

// The least work of a thread, in numbers of a state in panels times tokens: 8 microseconds or so,
// while to start threads takes 3. Tests set it to 1.
inline std::atomic<double> least_work_of_a_thread = 1 << 17;

// While it lives, short calls use all the threads they ask for.
struct all_threads {
  double was = least_work_of_a_thread.exchange(1);

  all_threads() = default;
  all_threads(all_threads const&) = delete;
  ~all_threads() { least_work_of_a_thread = was; }
};

// threads_to_use, but fewer where each would have less than the least work to do.
inline int threads_for(double work, int asked) {
  if (asked == 1) return 1;
  double const least = least_work_of_a_thread.load(std::memory_order_relaxed);
  int const threads = threads_to_use(asked);
  return work < least * threads ? std::max(1, static_cast<int>(work / least)) : threads;
}

// The first exception that one of several threads throws.
class first_exception {
 public:
  template <class Body>
  void guard(Body const& body) {
    try {
      body();
    } catch (...) {
      if (!taken_.exchange(true)) thrown_ = std::current_exception();
    }
  }
  // After the threads have joined.
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::atomic<bool> taken_ = false;
  std::exception_ptr thrown_;
};

#ifdef _OPENMP
// On its own, because clang++ asks OpenMP for the thread wherever a function has a parallel region,
// and OpenMP allocates when it is first asked.
template <class Task>
void share_tasks(index count, int threads, Task const& task) {
  first_exception thrown;
#pragma omp parallel num_threads(threads)
  {
    flush_denormals const guard;
#pragma omp for schedule(dynamic, 1)
    for (index i = 0; i < count; ++i) thrown.guard([&] { task(i); });
  }
  thrown.rethrow();
}
#endif
// Calls task(i) for 0 <= i < count in any order. Denormals are flushed. Where tasks throw, one of
// their exceptions is thrown.
template <class Task>
void for_each_task(index count, int threads, Task const& task) {
#ifdef _OPENMP
  if (threads > 1 && count > 1) return share_tasks(count, threads, task);
#endif
  (void)threads;
  flush_denormals const guard;
  for (index i = 0; i < count; ++i) task(i);
}

// Calls member(i) for 0 <= i < team, all at the same time, so that members may wait for each other.
// Members must not throw. Returns false, and calls nothing, when OpenMP gives fewer threads.
template <class Member>
bool as_team(int team, Member const& member) {
#ifdef _OPENMP
  bool complete = false;
#pragma omp parallel num_threads(team)
  {
    bool const enough = omp_get_num_threads() == team;
    if (enough) {
      flush_denormals const guard;
      member(omp_get_thread_num());
    }
#pragma omp single
    complete = enough;
  }
  return complete;
#else
  (void)team, (void)member;
  return false;
#endif
}

}  // namespace wane::impl
