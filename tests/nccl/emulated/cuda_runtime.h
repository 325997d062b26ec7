// The functions of the CUDA runtime that wane/nccl.cuh calls, on threads: a stream is a thread.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNotReady = 600
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
inline constexpr unsigned cudaHostAllocDefault = 0, cudaStreamNonBlocking = 1,
                          cudaEventDisableTiming = 2;

namespace emulated {

// Carries out what is queued, in its order, on a thread of its own.
class stream {
 public:
  explicit stream(int on) : device(on), thread_([this] { work(); }) {}
  ~stream() {
    {
      std::lock_guard const lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void queue(std::function<void()> what) {
    std::lock_guard const lock(mutex_);
    queued_.push_back(std::move(what));
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queued_.empty(); });
  }
  int const device;

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return ends_ || !queued_.empty(); });
      if (queued_.empty()) return;
      std::function<void()> const what = queued_.front();
      lock.unlock();
      what();
      lock.lock();
      queued_.pop_front();
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queued_;
  bool ends_ = false;
  std::thread thread_;
};

struct event {
  std::shared_ptr<std::atomic<bool>> done;
};

// A call that is to fail: the one after `after` others.
struct fault {
  int after, code;
};

struct machine {
  std::mutex mutex;
  std::map<std::byte*, std::pair<std::size_t, int>> memory;  // bytes; the device, or -1: pinned
  std::set<std::shared_ptr<stream>> streams;
  std::map<std::pair<std::string, int>, fault> faults;  // by function and device
  // What may wait until the device has nothing to do: allocations, and then all of NCCL's calls.
  std::atomic<bool> allocations_wait = false, all_calls_wait = false;
};
inline machine& the_machine() {
  static machine m;
  return m;
}
inline int& device_of_thread() {
  thread_local int device = 0;
  return device;
}

// The code with which this call of a function fails, or 0.
inline int fails(char const* function, int device) {
  std::lock_guard const lock(the_machine().mutex);
  auto const at = the_machine().faults.find({function, device});
  if (at == the_machine().faults.end() || at->second.after-- > 0) return 0;
  int const code = at->second.code;
  the_machine().faults.erase(at);
  return code;
}
inline void wait_for_device(int device) {
  std::set<std::shared_ptr<stream>> streams;
  {
    std::lock_guard const lock(the_machine().mutex);
    streams = the_machine().streams;
  }
  for (auto const& s : streams)
    if (s->device == device) s->wait();
}
// Whether these bytes lie in memory of a device, or (-1) in pinned memory.
inline bool lies_in(void const* p, std::size_t bytes, int device) {
  std::lock_guard const lock(the_machine().mutex);
  auto at = the_machine().memory.upper_bound(static_cast<std::byte*>(const_cast<void*>(p)));
  if (at == the_machine().memory.begin()) return false;
  --at;
  return at->second.second == device &&
         static_cast<std::byte const*>(p) + bytes <= at->first + at->second.first;
}

inline cudaError_t allocate(void** p, std::size_t bytes, int device, char const* function) {
  if (int const code = fails(function, device_of_thread())) return static_cast<cudaError_t>(code);
  if (the_machine().allocations_wait) wait_for_device(device_of_thread());
  auto* const memory = new std::byte[bytes];
  std::lock_guard const lock(the_machine().mutex);
  the_machine().memory[memory] = {bytes, device};
  *p = memory;
  return cudaSuccess;
}
// Freeing always waits for the device.
inline cudaError_t release(void* p) {
  std::unique_lock lock(the_machine().mutex);
  auto const at = the_machine().memory.find(static_cast<std::byte*>(p));
  if (at == the_machine().memory.end()) return cudaErrorInvalidValue;
  int const device = at->second.second < 0 ? device_of_thread() : at->second.second;
  the_machine().memory.erase(at);
  lock.unlock();
  wait_for_device(device);
  delete[] static_cast<std::byte*>(p);
  return cudaSuccess;
}

}  // namespace emulated

using cudaStream_t = emulated::stream*;
using cudaEvent_t = emulated::event*;

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline char const* cudaGetErrorString(cudaError_t e) {
  return e == cudaErrorMemoryAllocation ? "out of memory" : "invalid argument";
}
inline char const* cudaGetErrorName(cudaError_t e) {
  return e == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaErrorInvalidValue";
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = emulated::device_of_thread();
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  emulated::device_of_thread() = device;
  return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  return emulated::allocate(p, bytes, emulated::device_of_thread(), "cudaMalloc");
}
inline cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) {
  return emulated::allocate(p, bytes, -1, "cudaHostAlloc");
}
inline cudaError_t cudaFree(void* p) { return emulated::release(p); }
inline cudaError_t cudaFreeHost(void* p) { return emulated::release(p); }

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) {
  auto const made = std::make_shared<emulated::stream>(emulated::device_of_thread());
  std::lock_guard const lock(emulated::the_machine().mutex);
  emulated::the_machine().streams.insert(made);
  *s = made.get();
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t s) {
  std::shared_ptr<emulated::stream> last;
  std::lock_guard const lock(emulated::the_machine().mutex);
  std::erase_if(emulated::the_machine().streams, [&](auto const& of) {
    if (of.get() == s) last = of;
    return of.get() == s;
  });
  return last ? cudaSuccess : cudaErrorInvalidValue;
}
inline cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t s) {
  bool const up = kind == cudaMemcpyHostToDevice;
  if (int const code = emulated::fails("cudaMemcpyAsync", s->device))
    return static_cast<cudaError_t>(code);
  if (!emulated::lies_in(to, bytes, up ? s->device : -1) ||
      !emulated::lies_in(from, bytes, up ? -1 : s->device))
    return cudaErrorInvalidValue;
  s->queue([=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  *e = new emulated::event;
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t e) {
  delete e;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  e->done = std::make_shared<std::atomic<bool>>(false);
  s->queue([done = e->done] { *done = true; });
  return cudaSuccess;
}
inline cudaError_t cudaEventQuery(cudaEvent_t e) {
  return !e->done || *e->done ? cudaSuccess : cudaErrorNotReady;
}
