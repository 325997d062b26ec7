// Cases of one operator and type, asked of the GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "cuda/shared/device_array.cuh"
#include "selftest/cases.hpp"
#include "wane/cuda/run.cuh"

namespace wane::selftest {

// Owns arrays in the memory of the device.
class device_memory {
 public:
  template <class T>
  T* put(std::vector<T> const& values) {
    auto const kept = std::make_shared<bench::device_array<T>>(values);
    kept_.push_back(kept);
    return kept->data();
  }
  template <class T>
  std::vector<T> get(T const* from, std::size_t count) const {
    std::vector<T> values(count);
    if (count == 0) return values;
    cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    cuda::throw_on_error(cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDefault),
                         "cudaMemcpy");
    return values;
  }

 private:
  std::vector<std::shared_ptr<void>> kept_;
};

struct run_on_device {
  template <class Op, class Out, class State>
  void operator()(Op const& op, sequence_view<Out> output,
                  run_options<State> const& options) const {
    bench::device_array<std::byte> const lent(cuda::workspace_bytes(op, options));
    cuda::run<memory_rows>(cuda::stream{}, op, output, cuda::workspace{lent.data(), lent.bytes()},
                           options);
    cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
};

// Judges every scenario. An error of CUDA is also a verdict.
template <form What, class Io>
void add_cases(test_cases& to, std::string const& operation, std::string const& type) {
  for (scenario const& s : is_memory(What) ? memory_scenarios() : scenarios()) {
    auto const ask = [](auto const& data) {
      device_memory memory;
      return call<What, Io>(data, memory, run_on_device{});
    };
    to.push_back({operation, type, s.name, [s, ask] { return judge<Io>(What, s, ask); }});
  }
}

}  // namespace wane::selftest
