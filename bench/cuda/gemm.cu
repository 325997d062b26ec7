// gemm: cuBLAS's product of matrices in bfloat16, of as many operations as a kernel.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>

#include "cuda/gemm.cuh"

namespace wane::bench {
namespace {

void check_blas(cublasStatus_t result, char const* call) {
  if (result != CUBLAS_STATUS_SUCCESS)
    throw cuda::runtime_error(call + std::string(": ") + cublasGetStatusString(result));
}

}  // namespace

gemm::gemm(double flops)
    : columns_(128 * std::max(1, static_cast<int>(flops / (2. * rows * depth * 128)))),
      a_(std::size_t{rows} * depth),
      b_(static_cast<std::size_t>(columns_) * depth),
      c_(static_cast<std::size_t>(columns_) * rows),
      workspace_(std::size_t{32} << 20) {
  for (auto const* x : {&a_, &b_})
    for_each(static_cast<index>(x->size()), 256, nullptr, fill_signed<bfloat16>{x->data(), 1});
  cublasHandle_t made = nullptr;
  check_blas(cublasCreate(&made), "cublasCreate");
  handle_.reset(made);
  cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void gemm::operator()(cudaStream_t on) const {
  float const one = 1, zero = 0;
  check_blas(cublasSetStream(handle_.get(), on), "cublasSetStream");
  check_blas(cublasSetWorkspace(handle_.get(), workspace_.data(), workspace_.bytes()),
             "cublasSetWorkspace");
  check_blas(cublasGemmEx(handle_.get(), CUBLAS_OP_N, CUBLAS_OP_N, rows, columns_, depth, &one,
                          a_.data(), CUDA_R_16BF, rows, b_.data(), CUDA_R_16BF, depth, &zero,
                          c_.data(), CUDA_R_16BF, rows, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
             "cublasGemmEx");
}

}  // namespace wane::bench
