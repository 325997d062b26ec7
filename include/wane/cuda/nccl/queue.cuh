// nccl_queue and nccl_message: a communicator with its stream, and the memory of a message.
// SPDX-License-Identifier: MIT
#pragma once

#include <nccl.h>

#include <cstddef>
#include <memory>
#include <thread>
#include <type_traits>

#include "wane/cuda/machine/stream.cuh"

namespace wane::cuda::impl {

static_assert(NCCL_VERSION_CODE >= NCCL_VERSION(2, 18, 0),
              "wane: nccl_ranks needs NCCL 2.18 or newer, which has ncclCommSplit");

// Throws std::runtime_error where a call of NCCL failed.
inline void check_nccl(ncclResult_t result, char const* call) {
  if (result == ncclSuccess) return;
  std::string text = std::string("NCCL: ") + call + ": " + ncclGetErrorString(result);
  if (char const* const more = ncclGetLastError(nullptr); more && *more)
    text += std::string("; ") + more;
  throw std::runtime_error(text);
}

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* what) const {
    (void)Free(what);
  }
};
template <class Pointer, auto Free>
using owned = std::unique_ptr<std::remove_pointer_t<Pointer>, freed_by<Free>>;

// The device that is the calling thread's current one for the life of this.
class current_device {
 public:
  explicit current_device(int device) {
    throw_on_error(cudaGetDevice(&before_), "cudaGetDevice");
    throw_on_error(cudaSetDevice(device), "cudaSetDevice");
  }
  current_device(current_device const&) = delete;
  ~current_device() { (void)cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

// The bytes of a message, in pinned host memory, from which copies do not wait, and on the device.
class nccl_message {
 public:
  explicit nccl_message(std::size_t size) : bytes(size) {
    void* p = nullptr;
    throw_on_error(cudaHostAlloc(&p, size, cudaHostAllocDefault), "cudaHostAlloc");
    host_.reset(static_cast<std::byte*>(p));
    throw_on_error(cudaMalloc(&p, size), "cudaMalloc");
    device_.reset(static_cast<std::byte*>(p));
    cudaEvent_t event = nullptr;
    throw_on_error(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                   "cudaEventCreateWithFlags");
    done_.reset(event);
  }
  std::byte* host() const { return host_.get(); }
  std::byte* device() const { return device_.get(); }

  void to_device(std::size_t at, std::size_t count, cudaStream_t on) const {
    throw_on_error(cudaMemcpyAsync(device() + at, host() + at, count, cudaMemcpyHostToDevice, on),
                   "cudaMemcpyAsync to the device");
  }
  void to_host(std::size_t count, cudaStream_t on) const {
    throw_on_error(cudaMemcpyAsync(host(), device(), count, cudaMemcpyDeviceToHost, on),
                   "cudaMemcpyAsync to the host");
  }
  // Marks the end of its work on the stream.
  void record(cudaStream_t on) const {
    throw_on_error(cudaEventRecord(done_.get(), on), "cudaEventRecord");
  }
  bool done() const {
    cudaError_t const state = cudaEventQuery(done_.get());
    if (state == cudaErrorNotReady)
      (void)cudaGetLastError();
    else
      throw_on_error(state, "cudaEventQuery");
    return state == cudaSuccess;
  }

  std::size_t const bytes;
  enum { idle, taken, sent } use = idle;  // sent: idle once its work is done

 private:
  owned<std::byte*, cudaFreeHost> host_;
  owned<std::byte*, cudaFree> device_;
  owned<cudaEvent_t, cudaEventDestroy> done_;
};

// A communicator of all ranks and the stream of its operations, both its own.
class nccl_queue {
 public:
  nccl_queue(ncclComm_t from, int rank) {
    cudaStream_t stream = nullptr;
    throw_on_error(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                   "cudaStreamCreateWithFlags");
    stream_.reset(stream);
    // Communicators that shared resources would wait for each other.
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1, config.splitShare = 0;
    ncclComm_t own = nullptr;
    ncclResult_t result = ncclCommSplit(from, 0, rank, &own, &config);
    while (result == ncclInProgress) {
      std::this_thread::yield();
      check_nccl(ncclCommGetAsyncError(from, &result), "ncclCommGetAsyncError");
    }
    check_nccl(result, "ncclCommSplit");
    communicator_.reset(own);
  }
  ncclComm_t communicator() const { return communicator_.get(); }
  cudaStream_t stream() const { return stream_.get(); }

  void check() const {
    ncclResult_t error = ncclSuccess;
    check_nccl(ncclCommGetAsyncError(communicator(), &error), "ncclCommGetAsyncError");
    if (error != ncclInProgress) check_nccl(error, "while its operations ran");
  }
  // Ends the operations, of which some wait for other ranks.
  void abort() {
    if (ncclComm_t const own = communicator_.release()) (void)ncclCommAbort(own);
  }

 private:
  owned<cudaStream_t, cudaStreamDestroy> stream_;
  owned<ncclComm_t, ncclCommDestroy> communicator_;
};

}  // namespace wane::cuda::impl
