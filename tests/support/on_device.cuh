// Runs wane::cuda on copies of tensors in the memory of the device, for tests.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "wane/cuda/adjoint.cuh"

namespace support {

using wane::index;

// Copies of host memory on the device, which live until the end of the run.
class device_copies {
 public:
  ~device_copies() {
    for (copy const& c : copies_) cudaFree(c.device);
  }

  void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    wane::cuda::throw_on_error(cudaMalloc(&memory, std::max<std::size_t>(bytes, 16)), "cudaMalloc");
    copies_.push_back({memory, nullptr, 0});
    return memory;
  }
  // The same memory is copied once.
  template <class T>
  T* of(T* first, std::size_t count) {
    if (!first) return nullptr;
    auto* const host = const_cast<std::remove_const_t<T>*>(first);
    for (copy const& c : copies_)
      if (c.host == host) return static_cast<T*>(c.device);
    void* const device = allocate(count * sizeof(T));
    copies_.back().host = host, copies_.back().bytes = count * sizeof(T);
    wane::cuda::throw_on_error(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice),
                               "cudaMemcpy to the device");
    return static_cast<T*>(device);
  }
  // All that lies between the first and the last element of a view.
  template <class T, int Rank>
  wane::view<T, Rank> of(wane::view<T, Rank> const& x) {
    if (!x.data) return x;
    index low = 0, high = 0;
    for (int i = 0; i < Rank; ++i) {
      if (x.extent[i] == 0) return x;
      index const reach = (x.extent[i] - 1) * x.stride[i];
      (reach < 0 ? low : high) += reach;
    }
    wane::view<T, Rank> near = x;
    near.data = of(x.data + low, static_cast<std::size_t>(high - low + 1)) - low;
    return near;
  }
  template <class T>
  void bring_back(T const* host) const {
    for (copy const& c : copies_)
      if (c.host && c.host <= host && host < static_cast<T const*>(c.host) + c.bytes / sizeof(T))
        wane::cuda::throw_on_error(cudaMemcpy(c.host, c.device, c.bytes, cudaMemcpyDeviceToHost),
                                   "cudaMemcpy from the device");
  }

  void bring_all_back() const {
    for (copy const& c : copies_)
      if (c.host)
        wane::cuda::throw_on_error(cudaMemcpy(c.host, c.device, c.bytes, cudaMemcpyDeviceToHost),
                                   "cudaMemcpy from the device");
  }

  template <class View>
  View by_column(View const& x) const {
    return const_cast<device_copies*>(this)->of(x);
  }
  template <class View>
  View whole(View const& x) const {
    return by_column(x);
  }

 private:
  struct copy {
    void *device, *host;
    std::size_t bytes;
  };
  std::vector<copy> copies_;
};

// Called as wane::run is, on host memory. MostRows: as for wane::cuda::run.
template <int MostRows>
struct runner_of_rows {
  template <class Op, class Out, class State>
  void operator()(Op const& op, wane::sequence_view<Out> output,
                  wane::run_options<State> const& options) const {
    device_copies copies;
    auto const near = wane::on_other_memory(op, copies);
    auto there = options;
    there.initial = {copies.of(options.initial.values),
                     copies.of(options.initial.positions, sequences(options.initial))};
    there.final = {copies.of(options.final.values),
                   copies.of(options.final.positions, sequences(options.final))};
    there.packed.starts = {copies.of(options.packed.starts.data(), options.packed.starts.size()),
                           options.packed.starts.size()};
    std::size_t const bytes = wane::cuda::workspace_bytes(near, there);
    wane::cuda::run<MostRows>(wane::cuda::stream{}, near, copies.of(output),
                              wane::cuda::workspace{copies.allocate(bytes), bytes}, there);
    wane::cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    copies.bring_back(output.data);
    copies.bring_back(options.final.values.data);
    copies.bring_back(options.final.positions);
  }

  // Likewise wane::adjoint.
  template <class Op, class Out, class Gradients, class State>
  void operator()(Op const& op, wane::sequence_view<Out> output_gradient,
                  Gradients const& gradients, wane::adjoint_options<State> const& options) const {
    device_copies copies;
    auto const near = wane::on_other_memory(op, copies);
    auto there = options;
    there.initial = {copies.of(options.initial.values), nullptr};
    there.final_gradient = {copies.of(options.final_gradient.values), nullptr};
    there.initial_gradient = {copies.of(options.initial_gradient.values), nullptr};
    there.packed.starts = {copies.of(options.packed.starts.data(), options.packed.starts.size()),
                           options.packed.starts.size()};
    std::size_t const bytes = wane::cuda::adjoint_workspace_bytes(near, there);
    wane::cuda::adjoint<MostRows>(wane::cuda::stream{}, near, copies.of(output_gradient),
                                  moved(gradients, copies),
                                  wane::cuda::workspace{copies.allocate(bytes), bytes}, there);
    wane::cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    copies.bring_all_back();
  }

 private:
  template <class Gradients>
  static Gradients moved(Gradients to, device_copies& copies) {
    if constexpr (requires { to.with_tensors(copies); }) {
      return to.with_tensors(copies);
    } else {
      auto const move = [&](auto& x) { x = copies.of(x); };
      if constexpr (requires { to.query; }) move(to.query), move(to.key), move(to.value);
      if constexpr (requires { to.strength; }) move(to.strength);
      if constexpr (requires { to.lambda; }) move(to.direction), move(to.lambda);
      if constexpr (requires { to.log_decay.data; }) move(to.log_decay);
      if constexpr (requires { to.direct; }) move(to.direct);
      if constexpr (requires { to.drive; }) move(to.decay), move(to.drive);
      return to;
    }
  }
  template <class T>
  static std::size_t sequences(wane::state_view<T> const& state) {
    return static_cast<std::size_t>(state.values.extent[0]);
  }
};

using device_runner = runner_of_rows<wane::cuda::impl::any_rows>;
// Compiles the kernels for so many rows only, which is faster; with WANE_ALL_KERNELS all of them.
#ifdef WANE_ALL_KERNELS
template <int>
using device_runner_of = device_runner;
#else
template <int MostRows>
using device_runner_of = runner_of_rows<MostRows>;
#endif

// Tests of this kind are skipped, aloud, where there is no device.
class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    cudaError_t const found = cudaGetDeviceCount(&count);
    (void)cudaGetLastError();
    if (found != cudaSuccess || count == 0) GTEST_SKIP() << "this machine has no CUDA device";
  }
};

}  // namespace support
