// shared_arrays: arrays in the shared memory of a block, named by their offsets in bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/machine/machine.hpp"

namespace wane::cuda::impl {

template <machine M>
class shared_arrays {
 public:
  WANE_HOST_DEVICE explicit shared_arrays(M& machine) : machine_(machine) {}

  template <class T>
  WANE_INLINE T* shared(std::size_t array) const {
    return reinterpret_cast<T*>(machine_.shared() + array);
  }
  template <class T>
  WANE_INLINE T get(std::size_t array, int i) const {
    return machine_.read_shared(shared<T const>(array) + i);
  }
  template <class T, class X>
  WANE_INLINE void put(std::size_t array, int i, X x) const {
    machine_.write_shared(shared<T>(array) + i, T(x));
  }

 private:
  M& machine_;
};

}  // namespace wane::cuda::impl
