// Drawn weights of a layer as a safetensors file, and an example that reads it.
// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "examples/layer_case.hpp"
#include "wane/files/write_safetensors.hpp"

namespace support {

// Tensors by name. Their numbers are of 8 bits, so that each may be of any type.
class checkpoint_file {
 public:
  explicit checkpoint_file(std::string prefix) : prefix_(std::move(prefix)) {}
  checkpoint_file(checkpoint_file const&) = delete;

  // A tensor of F64, F32 or BF16, in turn: the first extent is the rows, the last the columns.
  matrix between(std::string const& name, double low, double high, std::vector<wane::index> shape) {
    std::size_t const rows = shape.size() > 1 ? static_cast<std::size_t>(shape[0]) : 1;
    matrix drawn{rows, static_cast<std::size_t>(shape.back()), {}};
    for (std::size_t i = 0; i < drawn.rows * drawn.columns; ++i) {
      wane::bfloat16 const x(static_cast<float>(random_.uniform(low, high)));
      drawn.values.push_back(static_cast<float>(x));
    }
    if (tensors_.size() % 3 == 0)
      add(name, shape, doubles_.emplace_back(drawn.values));
    else if (tensors_.size() % 3 == 1)
      add(name, shape, as(floats_, drawn.values));
    else
      add(name, shape, as(halves_, drawn.values));
    return drawn;
  }
  // Of a size at which sums over `in` numbers stay near 1.
  matrix linear(std::string const& name, wane::index out, wane::index in) {
    double const size = std::sqrt(3 / static_cast<double>(in));
    return between(name, -size, size, {out, in});
  }

  void write(std::string const& path) const { wane::write_safetensors(path, tensors_); }

 private:
  template <class T>
  static std::vector<T> const& as(std::deque<std::vector<T>>& all, row const& numbers) {
    auto& made = all.emplace_back();
    for (double const x : numbers) made.push_back(T(static_cast<float>(x)));
    return made;
  }
  void add(std::string const& name, std::vector<wane::index> const& shape, auto const& numbers) {
    tensors_.push_back(wane::stored_tensor::of(prefix_ + name, shape, numbers));
  }

  std::string prefix_;
  random_values random_{1};
  std::deque<row> doubles_;  // deques: tensors point into them
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<wane::bfloat16>> halves_;
  std::vector<wane::stored_tensor> tensors_;
};

// Runs the example on layer 3 of the weights; a Sequence(weights) must give its outputs.
template <class Sequence, class Weights>
void expect_checkpoint(char const* program, Weights const& weights, std::size_t width) {
  wane::bench::scratch const place;
  std::string const file = place.file("model.safetensors");
  weights.write(file);
  expect_sequences<Sequence>(program, {"--weights", file, "--layer", "3"}, weights, 70, width);
}

}  // namespace support
