// The GPU that a program runs on, and the versions of what drives it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace wane::bench {

struct gpu {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  std::size_t memory_bytes = 0;
  int processors = 0;
  std::string driver, runtime;  // the CUDA versions they are for
};

// The first that CUDA shows (CUDA_VISIBLE_DEVICES chooses). Throws no_device where there is none.
gpu find_gpu();

}  // namespace wane::bench
