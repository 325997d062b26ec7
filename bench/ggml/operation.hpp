// An operation of ggml: inputs in ggml's order, wane's outputs, and the expected outputs.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/buffers.hpp"

namespace wane::bench {

// H heads with a state of D x D numbers, T tokens of one sequence. For SSM_SCAN as Mamba-2 has it
// D channels a head with N = 128 states each, as Mamba-1 has it H D channels with 16.
struct ggml_shape {
  index heads, size, tokens;
};

class operation {
 public:
  explicit operation(ggml_shape const& shape) : shape_(shape) {}
  virtual ~operation() = default;
  // From the inputs to dst(): the outputs, and behind them the new states.
  virtual void take(int threads) = 0;
  // What dst() must be, by a plain loop in double.
  virtual std::vector<double> expected() const = 0;
  std::size_t outputs() const { return static_cast<std::size_t>(outputs_); }
  std::span<float> dst() { return {dst_, static_cast<std::size_t>(outputs_ + states_)}; }

 protected:
  // Outputs and states in dst, and the states before, random.
  void make_room(index outputs, index states) {
    outputs_ = outputs, states_ = states;
    dst_ = memory_.add<float>(outputs + states);
    state_ = filled(states, -0.5, 0.5);
  }
  float* filled(index count, double low, double high) {
    float* const x = memory_.add<float>(count);
    for (index i = 0; i < count; ++i) x[i] = static_cast<float>(next_(low, high));
    return x;
  }
  // Rows of `width` numbers, each of length 1 or less.
  float* short_rows(index count, index width);
  std::vector<double> expected_room() const {
    std::vector<double> all(static_cast<std::size_t>(outputs_));
    all.insert(all.end(), state_, state_ + states_);
    return all;
  }

  ggml_shape shape_;
  float *dst_ = nullptr, *state_ = nullptr;
  index outputs_ = 0, states_ = 0;

 private:
  buffers memory_;
  numbers next_;
};

struct named_operation {
  std::string name;  // as ggml's, and a variant
  std::unique_ptr<operation> (*make)(ggml_shape const&);
};
std::vector<named_operation> const& operations();

}  // namespace wane::bench
