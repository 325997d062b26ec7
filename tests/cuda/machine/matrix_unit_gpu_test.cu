// The matrix unit of a GPU multiplies as the emulated one does.
// SPDX-License-Identifier: MIT
#include "cuda/machine/matrix_unit_cases.hpp"
#include "support/on_device.cuh"
#include "wane/cuda/machine/device.cuh"

namespace {

using wane::bfloat16;
using wane::float16;
using wane::cuda::impl::tf32;

template <class T>
__global__ void multiply(T const* a, T const* b, float* c) {
  wane::cuda::impl::device_thread<64> machine;
  support::multiply_by_unit(machine, a, b, c);
}

auto const run_on_device = []<class T>(support::unit_product<T>& p) {
  support::device_copies copies;
  float* const c = copies.of(p.c.data(), p.c.size());
  multiply<<<1, 64>>>(copies.of(p.a.data(), p.a.size()), copies.of(p.b.data(), p.b.size()), c);
  wane::cuda::throw_on_error(cudaDeviceSynchronize(), "multiply");
  copies.bring_back(p.c.data());
};

class GpuMatrixUnit : public support::OnDevice {};

TEST_F(GpuMatrixUnit, MultipliesBfloat16) { support::expect_products<bfloat16>(run_on_device); }
TEST_F(GpuMatrixUnit, MultipliesFloat16) { support::expect_products<float16>(run_on_device); }
TEST_F(GpuMatrixUnit, MultipliesTf32) { support::expect_products<tf32>(run_on_device); }
TEST_F(GpuMatrixUnit, MultipliesFloatsThreeTimes) {
  support::expect_floats_of_three(run_on_device);
}
TEST_F(GpuMatrixUnit, CutsSumsOff) { support::expect_sums_cut_off(run_on_device); }

}  // namespace
