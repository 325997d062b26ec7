// The GPU that a program runs on, and the versions of what drives it.
// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

#include "cuda/shared/gpu.hpp"
#include "cuda/shared/program.hpp"
#include "wane/cuda/machine/stream.cuh"

namespace wane::bench {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

gpu find_gpu() {
  int devices = 0;
  cudaError_t const result = cudaGetDeviceCount(&devices);
  if (result != cudaSuccess) throw no_device(cudaGetErrorString(result));
  if (devices == 0) throw no_device("CUDA shows none");
  int device = 0, driver = 0, runtime = 0;
  cudaDeviceProp found{};
  cuda::throw_on_error(cudaGetDevice(&device), "cudaGetDevice");
  cuda::throw_on_error(cudaGetDeviceProperties(&found, device), "cudaGetDeviceProperties");
  cuda::throw_on_error(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  cuda::throw_on_error(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return {found.name,
          found.major,
          found.minor,
          found.totalGlobalMem,
          found.multiProcessorCount,
          version_text(driver),
          version_text(runtime)};
}

}  // namespace wane::bench
