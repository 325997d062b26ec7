// workspace: memory that the caller lends to a call, and its checks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "wane/core/call/checks.hpp"

namespace wane::cuda {

// Memory that the caller lends for the time of a call, aligned to 16 bytes as cudaMalloc does; its
// contents mean nothing before or after.
//   std::size_t const bytes = wane::cuda::workspace_bytes(op);
//   wane::cuda::workspace lent{nullptr, bytes};
//   wane::cuda::throw_on_error(cudaMalloc(&lent.data, bytes), "cudaMalloc");
struct workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

}  // namespace wane::cuda

namespace wane::cuda::impl {

inline void check_workspace(workspace const& memory, std::size_t bytes, char const* who_says) {
  require(memory.data || bytes == 0, "the workspace has no data; it must point to ", bytes,
          " bytes (wane::cuda::", who_says, " says so)");
  require(memory.bytes >= bytes, "the workspace has ", memory.bytes, " bytes; it must have ", bytes,
          " (wane::cuda::", who_says, " says so)");
  require(reinterpret_cast<std::uintptr_t>(memory.data) % 16 == 0,
          "the workspace is not aligned; it must begin at a multiple of 16 bytes");
}

}  // namespace wane::cuda::impl
