// Rows of wane-bench-cuda: a name, and how to take its measurement.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

// A rival that a kernel is compared with.
struct comparison {
  double ratio;  // its time over the kernel's
  double bytes;  // what it moves
};

struct measurement {
  double seconds = 0;
  double bytes = 0;  // the floor: each input read once, each output written once
  double of_copy = 0;
  std::optional<double> of_gemm;  // useful operations a second over those of a product of matrices
  std::optional<comparison> cub, walk;
  std::optional<double> softmax;  // the time of softmax attention over the kernel's
  double max_rel_error = 0, bound = 0;
};

struct row {
  std::string name;
  // Throws disagreement before anything is timed, and out_of_memory.
  std::function<measurement(int rounds)> measure;
  index time = 0;  // tokens, in rows that are measured beside softmax attention
};

struct disagreement : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// [B, T, H, C] without gaps; the lengths and widths here are powers of two.
struct extents {
  index batch, heads, time, channels;

  index lines() const { return batch * heads * channels; }
  index numbers() const { return lines() * time; }
  std::string text() const {
    return "B:" + std::to_string(batch) + "/H:" + std::to_string(heads) +
           "/T:" + std::to_string(time) + "/C:" + std::to_string(channels);
  }
};
inline constexpr extents one_channel{1, 1, index{1} << 24, 1}, one_head{1, 1, index{1} << 24, 64},
    one_sequence{1, 16, index{1} << 20, 64}, batch{8, 16, 4096, 128}, one_step{256, 16, 1, 128};

// Each group of rows is a file of its own, so that they compile in parallel.
std::vector<row> linear_log_rows();
std::vector<row> linear_factor_rows();
std::vector<row> linear_bfloat16_rows();
std::vector<row> linear_adjoint_rows();
std::vector<row> exponential_bank_rows();
std::vector<row> bank_adjoint_rows();
std::vector<row> laplace_rows();
std::vector<row> retention_rows();
std::vector<row> retrieval_rows();
std::vector<row> memory_rows();
std::vector<row> vla_rows();
std::vector<row> vla_backward_rows();
std::vector<row> vla_softmax_rows();

}  // namespace wane::bench
