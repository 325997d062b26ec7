// The configurations of the kernels on a device.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/one_token/step.hpp"
#include "wane/cuda/penalty/plan.hpp"
#include "wane/cuda/scan/adjoint_call.hpp"

namespace wane::cuda::impl {

inline constexpr int any_rows = 0;

// The configuration of each kernel in the table (kernels.hpp). MostRows is the most rows that a
// memory with keys will have: one kernel is compiled then, in place of those for 64, 128 and 256.
template <int MostRows = any_rows>
struct device_sizes {
  static_assert(0 <= MostRows && MostRows <= most_rows_on_device,
                "wane::cuda: memories with keys have at most 256 rows on a GPU");
  static constexpr int most_rows = MostRows == any_rows ? most_rows_on_device
                                   : MostRows <= 64     ? 64
                                   : MostRows <= 128    ? 128
                                                        : 256;
  template <class V>
  using scan = default_scan_config<V>;
  template <class V>
  using scan_adjoint = default_adjoint_config<V>;
  template <int Rows>
  using chunks = chunk_config<device_warps, Rows>;
  template <int Rows>
  using one_token = step_config<std::max(Rows, 128)>;
  template <int Rows>
  using penalty = penalty_config<Rows>;
  template <int Rows>
  using of_rows = device_sizes<Rows>;

  // body(64), body(128) or body(256), an integral_constant: the least with room for MostRows or,
  // where these are any_rows, for the rows of `op`. Throws wane::error where `op` has more rows.
  template <class Op, class Body>
  static void with_rows(Op const& op, Body const& body) {
    index const rows = recurrence_shape(op.shape()).rows;
    require(MostRows == any_rows || rows <= MostRows, "the operator has rows ", rows,
            "; of a memory with keys this call takes at most ", MostRows,
            " (run<256> and adjoint<256>: 256)");
    if constexpr (MostRows != any_rows)
      body(std::integral_constant<int, most_rows>{});
    else if (rows <= 64)
      body(std::integral_constant<int, 64>{});
    else if (rows <= 128)
      body(std::integral_constant<int, 128>{});
    else
      body(std::integral_constant<int, 256>{});
  }
};

}  // namespace wane::cuda::impl
