// gemm: cuBLAS's product of matrices in bfloat16, of as many operations as a kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include <cublas_v2.h>

#include <memory>
#include <type_traits>

#include "cuda/arrangement.cuh"
#include "cuda/shared/device_array.cuh"
#include "wane/core/numbers/storage.hpp"

namespace wane::bench {

// C (rows x columns, bfloat16) = A B, rows x depth and depth x columns; sums are float.
class gemm {
 public:
  // 2 rows depth columns is near `flops`, from 2^31 on.
  explicit gemm(double flops);
  void operator()(cudaStream_t on) const;
  double flops() const { return 2. * rows * depth * static_cast<double>(columns_); }

 private:
  static constexpr int rows = 4096, depth = 2048;
  struct release {
    void operator()(cublasHandle_t handle) const { (void)cublasDestroy(handle); }
  };

  int columns_;
  device_array<bfloat16> a_, b_, c_;
  device_array<std::byte> workspace_;
  std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, release> handle_;
};

}  // namespace wane::bench
