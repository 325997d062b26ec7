// The functions of NCCL that wane/nccl.cuh calls, between threads of one process.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "cuda_runtime.h"

#define NCCL_MAJOR 2
#define NCCL_MINOR 18
#define NCCL_VERSION(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))
#define NCCL_VERSION_CODE NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, 0)

enum ncclResult_t {
  ncclSuccess = 0,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7
};
enum ncclDataType_t { ncclUint8 = 1 };
struct ncclConfig_t {
  int blocking, splitShare;
};
#define NCCL_CONFIG_INITIALIZER \
  { 1, 0 }

struct ncclComm;
using ncclComm_t = ncclComm*;

namespace emulated {

// A message whose sender is in its operation.
struct offered {
  std::byte const* bytes;
  std::size_t count;
  bool taken = false;
};
struct gathering {
  std::map<int, std::pair<std::byte const*, std::size_t>> from;
  std::size_t done = 0;
};
// What the ranks of a communicator share.
struct world {
  explicit world(int ranks) : size(ranks) {}
  int const size;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<offered>>> messages;
  std::set<std::pair<std::pair<int, int>, bool>> ends;  // of links, the receiver's or the sender's
  std::map<int, gathering> gatherings;
  std::map<int, std::shared_ptr<world>> split;
  std::map<int, int> splitting;
  std::set<ncclComm_t> members;
  bool left = false;  // a rank has aborted
};
struct operation {
  ncclComm_t communicator;
  cudaStream_t on;
  bool sends;
  std::byte* bytes;
  std::size_t count;
  int other;
};
struct group {
  int depth = 0;
  std::vector<operation> operations;
};
inline group& group_of_thread() {
  thread_local group g;
  return g;
}

}  // namespace emulated

struct ncclComm {
  ncclComm(std::shared_ptr<emulated::world> of, int own, int where)
      : world(std::move(of)), rank(own), device(where) {
    std::lock_guard const lock(world->mutex);
    world->members.insert(this);
  }
  ~ncclComm() {
    std::lock_guard const lock(world->mutex);
    world->members.erase(this);
  }
  std::shared_ptr<emulated::world> const world;
  int const rank, device;
  std::atomic<int> error = ncclSuccess;
  bool aborted = false;
  int splits = 0, gatherings = 0;
  emulated::stream* on = nullptr;  // the stream of all its operations
};

namespace emulated {

// Waits, in an operation, for what other ranks do; ends early where the communicator is aborted.
template <class Until>
void await(ncclComm& own, std::unique_lock<std::mutex>& lock, Until const& until) {
  own.world->changed.wait(lock, [&] { return own.aborted || until(); });
}

// The operations of a group, which go on at the same time.
inline void exchange(ncclComm& own, std::vector<operation> const& group) {
  world& w = *own.world;
  std::unique_lock lock(w.mutex);
  std::vector<std::shared_ptr<offered>> sent;
  std::deque<operation> to_receive;
  for (operation const& o : group)
    if (o.sends) {
      sent.push_back(std::make_shared<offered>(offered{o.bytes, o.count}));
      w.messages[{own.rank, o.other}].push_back(sent.back());
    } else {
      to_receive.push_back(o);
    }
  w.changed.notify_all();
  await(own, lock, [&] {
    std::set<int> wait_for;
    std::erase_if(to_receive, [&](operation const& o) {
      auto& from = w.messages[{o.other, own.rank}];
      if (from.empty() || wait_for.contains(o.other)) return wait_for.insert(o.other), false;
      if (from.front()->count != o.count) return own.error = ncclInternalError, false;
      std::memcpy(o.bytes, from.front()->bytes, o.count);
      from.front()->taken = true;
      from.pop_front();
      w.changed.notify_all();
      return true;
    });
    return to_receive.empty() &&
           std::all_of(sent.begin(), sent.end(), [](auto& s) { return s->taken; });
  });
  for (auto& [link, waiting] : w.messages)  // those of an aborted sender are gone
    std::erase_if(waiting,
                  [&](auto& s) { return std::find(sent.begin(), sent.end(), s) != sent.end(); });
}
inline void gather(ncclComm& own, std::byte const* mine, std::byte* all, std::size_t count) {
  world& w = *own.world;
  std::unique_lock lock(w.mutex);
  int const number = own.gatherings++;
  gathering& g = w.gatherings[number];
  g.from[own.rank] = {mine, count};
  w.changed.notify_all();
  auto const everyone = static_cast<std::size_t>(w.size);
  await(own, lock, [&] { return g.from.size() == everyone; });
  if (own.aborted) {
    g.from.erase(own.rank);
    return;
  }
  for (auto const& [rank, bytes] : g.from) {
    if (bytes.second != count) own.error = ncclInternalError;
    std::byte* const to = all + static_cast<std::size_t>(rank) * count;
    if (to != bytes.first) std::memcpy(to, bytes.first, std::min(count, bytes.second));
  }
  ++g.done;
  w.changed.notify_all();
  await(own, lock, [&] { return g.done >= everyone; });
  if (++g.done == 2 * everyone) w.gatherings.erase(number);
}

// The first operations of two ranks wait, on the host, until both are in their calls.
inline ncclResult_t connect(ncclComm& own, std::vector<operation> const& group) {
  world& w = *own.world;
  std::unique_lock lock(w.mutex);
  auto const link = [&](operation const& o) {
    return o.sends ? std::pair(own.rank, o.other) : std::pair(o.other, own.rank);
  };
  for (operation const& o : group) w.ends.insert({link(o), o.sends});
  w.changed.notify_all();
  for (operation const& o : group)
    w.changed.wait(lock, [&] { return w.left || w.ends.contains({link(o), !o.sends}); });
  return w.left ? ncclRemoteError : ncclSuccess;
}
inline ncclResult_t queue_on(ncclComm& own, cudaStream_t on, std::function<void()> what) {
  if (on->device != own.device || (own.on && own.on != on)) return ncclInvalidUsage;
  own.on = on;
  on->queue(std::move(what));
  if (the_machine().all_calls_wait) on->wait();
  return ncclSuccess;
}
inline ncclResult_t launch(std::vector<operation> const& group) {
  if (group.empty()) return ncclSuccess;
  ncclComm& own = *group.front().communicator;
  if (ncclResult_t const result = connect(own, group)) return result;
  return queue_on(own, group.front().on, [&own, group] { exchange(own, group); });
}
inline ncclResult_t add(operation const& o, char const* function) {
  if (int const code = fails(function, o.communicator->device))
    return static_cast<ncclResult_t>(code);
  if (!lies_in(o.bytes, o.count, o.communicator->device)) return ncclInvalidUsage;
  if (group_of_thread().depth == 0) return launch({o});
  group_of_thread().operations.push_back(o);
  return ncclSuccess;
}

// What a test does to the ranks of a device: lets its communicators report an error.
inline std::set<ncclComm_t>& all_communicators() {
  static std::set<ncclComm_t> all;
  return all;
}
inline void report_error(int device, ncclResult_t code) {
  std::lock_guard const lock(the_machine().mutex);
  for (ncclComm_t c : all_communicators())
    if (c->device == device) c->error = code;
}
inline ncclComm_t make(std::shared_ptr<world> of, int rank, int device) {
  auto* const made = new ncclComm(std::move(of), rank, device);
  std::lock_guard const lock(the_machine().mutex);
  all_communicators().insert(made);
  return made;
}
inline void destroy(ncclComm_t c) {
  if (c->on) c->on->wait();
  std::unique_lock lock(the_machine().mutex);
  all_communicators().erase(c);
  lock.unlock();
  delete c;
}

}  // namespace emulated

inline char const* ncclGetErrorString(ncclResult_t r) {
  return r == ncclSystemError    ? "unhandled system error"
         : r == ncclRemoteError  ? "remote process exited or there was a network error"
         : r == ncclInvalidUsage ? "invalid usage"
                                 : "internal error";
}
inline char const* ncclGetLastError(ncclComm_t) { return "emulated"; }
inline ncclResult_t ncclCommInitAll(ncclComm_t* all, int size, int const*) {
  auto const world = std::make_shared<emulated::world>(size);
  for (int r = 0; r < size; ++r) all[r] = emulated::make(world, r, r);
  return ncclSuccess;
}
inline ncclResult_t ncclCommSplit(ncclComm_t c, int, int, ncclComm_t* own, ncclConfig_t*) {
  if (int const code = emulated::fails("ncclCommSplit", c->device))
    return static_cast<ncclResult_t>(code);
  emulated::world& w = *c->world;
  std::unique_lock lock(w.mutex);
  int const number = c->splits++;
  auto& split = w.split[number];
  if (!split) split = std::make_shared<emulated::world>(w.size);
  *own = emulated::make(split, c->rank, c->device);
  ++w.splitting[number];
  w.changed.notify_all();
  w.changed.wait(lock, [&] { return w.left || w.splitting[number] == w.size; });
  return ncclSuccess;
}
inline ncclResult_t ncclCommDestroy(ncclComm_t c) {
  emulated::destroy(c);
  return ncclSuccess;
}
// The other ranks are told, but their operations go on waiting.
inline ncclResult_t ncclCommAbort(ncclComm_t c) {
  {
    std::lock_guard const lock(c->world->mutex);
    c->aborted = c->world->left = true;
    for (ncclComm_t other : c->world->members)
      if (other != c) other->error = ncclRemoteError;
    c->world->changed.notify_all();
  }
  emulated::destroy(c);
  return ncclSuccess;
}
inline ncclResult_t ncclCommGetAsyncError(ncclComm_t c, ncclResult_t* error) {
  *error = static_cast<ncclResult_t>(c->error.load());
  return ncclSuccess;
}
inline ncclResult_t ncclCommCount(ncclComm_t c, int* size) {
  *size = c->world->size;
  return ncclSuccess;
}
inline ncclResult_t ncclCommUserRank(ncclComm_t c, int* rank) {
  *rank = c->rank;
  return ncclSuccess;
}
inline ncclResult_t ncclCommCuDevice(ncclComm_t c, int* device) {
  *device = c->device;
  return ncclSuccess;
}
inline ncclResult_t ncclGroupStart() {
  ++emulated::group_of_thread().depth;
  return ncclSuccess;
}
inline ncclResult_t ncclGroupEnd() {
  emulated::group& g = emulated::group_of_thread();
  if (--g.depth > 0) return ncclSuccess;
  return emulated::launch(std::exchange(g.operations, {}));
}
inline ncclResult_t ncclSend(void const* bytes, std::size_t count, ncclDataType_t, int to,
                             ncclComm_t c, cudaStream_t s) {
  auto* const from = static_cast<std::byte*>(const_cast<void*>(bytes));
  return emulated::add({c, s, true, from, count, to}, "ncclSend");
}
inline ncclResult_t ncclRecv(void* bytes, std::size_t count, ncclDataType_t, int from, ncclComm_t c,
                             cudaStream_t s) {
  return emulated::add({c, s, false, static_cast<std::byte*>(bytes), count, from}, "ncclRecv");
}
inline ncclResult_t ncclAllGather(void const* mine, void* all, std::size_t count, ncclDataType_t,
                                  ncclComm_t c, cudaStream_t s) {
  if (int const code = emulated::fails("ncclAllGather", c->device))
    return static_cast<ncclResult_t>(code);
  auto const size = static_cast<std::size_t>(c->world->size);
  if (!emulated::lies_in(mine, count, c->device) ||
      !emulated::lies_in(all, size * count, c->device))
    return ncclInvalidUsage;
  return emulated::queue_on(*c, s, [=] {
    emulated::gather(*c, static_cast<std::byte const*>(mine), static_cast<std::byte*>(all), count);
  });
}
