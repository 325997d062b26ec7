// How large the blocks of an emulated GPU are, and kernels that a test asks for by name.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/kernels.hpp"

namespace wane::testing {

// Small blocks, threads and groups, so that a few hundred tokens pass through every part.
using small_scan = cuda::impl::scan_config<64, 3, 2, 64, 512>;
template <int MostRows>
using small_chunks = cuda::impl::chunk_config<1, MostRows>;
template <int MostRows>
using small_step = cuda::impl::step_config<MostRows>;
template <int MostRows>
using small_penalty = cuda::impl::penalty_config<MostRows>;
// Of penalised memories: the kernel of penalties, and that of S.
template <class Penalty, class Memory>
struct penalised_config {
  using penalty = Penalty;
  using memory = Memory;
};
// No kernel by name: the one that a device would launch, with smaller blocks.
struct as_on_device {};

}  // namespace wane::testing

namespace wane::testing::impl {

// As cuda::impl::device_sizes, but smaller, and of one number of rows.
struct small_sizes {
  static constexpr int most_rows = 32;
  template <class V>
  using scan = small_scan;
  template <class V>
  using scan_adjoint = small_scan;
  template <int Rows>
  using chunks = small_chunks<Rows>;
  template <int Rows>
  using one_token = small_step<Rows>;
  template <int Rows>
  using penalty = small_penalty<Rows>;
  template <int>
  using of_rows = small_sizes;

  template <class Op, class Body>
  static void with_rows(Op const&, Body const& body) {
    body(std::integral_constant<int, most_rows>{});
  }
};

// The row of the table that a configuration belongs to, and sizes of which it is one.
template <class Config>
struct named_kernel;

template <int... Sizes>
struct named_kernel<cuda::impl::chunk_config<Sizes...>> {
  using row = cuda::impl::chunks;
  struct sizes : small_sizes {
    template <int>
    using chunks = cuda::impl::chunk_config<Sizes...>;
  };
};
template <int MostRows>
struct named_kernel<cuda::impl::step_config<MostRows>> {
  using row = cuda::impl::one_token;
  struct sizes : small_sizes {
    template <int>
    using chunks = small_chunks<MostRows>;
    template <int>
    using one_token = small_step<MostRows>;
  };
};
template <class Penalty, class Memory>
struct named_kernel<penalised_config<Penalty, Memory>> {
  using row = cuda::impl::penalties;
  struct sizes : small_sizes {
    template <int>
    using chunks = Memory;
    template <int>
    using one_token = small_step<Memory::most_rows>;
    template <int>
    using penalty = Penalty;
    template <int>
    using of_rows = sizes;
  };
};
template <int Threads, int Tokens, int FanLog2, index LinkNumbers, index ManyStrips,
          std::size_t KeptBytes>
struct named_kernel<
    cuda::impl::scan_config<Threads, Tokens, FanLog2, LinkNumbers, ManyStrips, KeptBytes>> {
  using row = cuda::impl::scans;
  using config =
      cuda::impl::scan_config<Threads, Tokens, FanLog2, LinkNumbers, ManyStrips, KeptBytes>;
  struct sizes : small_sizes {
    template <class>
    using scan = config;
    template <class>
    using scan_adjoint = config;
  };
};

}  // namespace wane::testing::impl
