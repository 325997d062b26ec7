// device_array: memory of the device that is freed by the destructor.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <vector>

#include "cuda/shared/program.hpp"
#include "wane/cuda/machine/stream.cuh"

namespace wane::bench {

template <class T>
class device_array {
 public:
  device_array() = default;
  // Throws out_of_memory where the device has too little memory left.
  explicit device_array(std::size_t count) : count_(count) {
    void* memory = nullptr;
    cudaError_t const result = cudaMalloc(&memory, count > 0 ? bytes() : 1);
    if (result == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      throw out_of_memory(bytes());
    }
    cuda::throw_on_error(result, "cudaMalloc");
    memory_.reset(static_cast<T*>(memory));
  }
  explicit device_array(std::vector<T> const& values) : device_array(values.size()) {
    cuda::throw_on_error(cudaMemcpy(data(), values.data(), bytes(), cudaMemcpyDefault),
                         "cudaMemcpy");
  }

  // Waits for all work of the device.
  std::vector<T> download() const {
    std::vector<T> values(count_);
    cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    cuda::throw_on_error(cudaMemcpy(values.data(), data(), bytes(), cudaMemcpyDefault),
                         "cudaMemcpy");
    return values;
  }

  T* data() const { return memory_.get(); }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  struct release {
    void operator()(T* memory) const { (void)cudaFree(memory); }
  };
  std::size_t count_ = 0;
  std::unique_ptr<T, release> memory_;
};

}  // namespace wane::bench
