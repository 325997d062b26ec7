// stream, and the exception for failed calls of the CUDA runtime.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace wane::cuda {

// Where the work is queued; the default stream where none is named.
struct stream {
  cudaStream_t handle = nullptr;
};

// The CUDA runtime refused a call.
class runtime_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws runtime_error where a call of the runtime fails, and clears the error, so that later calls
// do not report it.
//   throw_on_error(cudaMalloc(&p, n), "cudaMalloc(&p, n)");
inline void throw_on_error(cudaError_t result, char const* call) {
  if (result == cudaSuccess) return;
  (void)cudaGetLastError();
  throw runtime_error(std::string(call) + ": " + cudaGetErrorString(result) + " (" +
                      cudaGetErrorName(result) + ")");
}

}  // namespace wane::cuda
