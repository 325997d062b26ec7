// The rates of a layer from the tensors that hold them, as [heads, channels].
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/decay_reading.hpp"
#include "checkpoint/layer_name.hpp"
#include "checkpoint/tensor_numbers.hpp"
#include "shared/input.hpp"
#include "shared/number_text.hpp"
#include "wane/files/stored_tensor.hpp"
#include "wane/spectra/algebra/softplus.hpp"

namespace wane::bench {

struct decay_layer {
  std::string name;     // "backbone.layers.0.mixer"
  std::string formula;  // "r = e^A_log softplus(dt_bias)"
  std::int64_t heads = 0;
  std::int64_t channels = 0;  // of a head
  std::vector<double> rates;  // [heads, channels]
  bool per_step = true;       // or per unit of the step size, which nothing tells
};

// Channels of a head, where a tensor is a row of numbers. If this is 0 or does not divide the
// numbers, all of them are one head. If it was asked for and does not divide them, they are
// refused.
struct head_size {
  std::int64_t channels = 1;
  bool asked_for = false;
};

struct decay_source {
  std::string name;  // of the layer; where it has no number in it, the first extent is the layers
  stored_tensor const* values;
  stored_tensor const* step;  // null: none
  decay_reading reading;
  std::string symbol;  // of the values in the formula
  bool per_step = true;
};

// The slowest rate forgets less than 1 % over 2^53 steps. The fastest leaves nothing after one
// step.
inline constexpr double slowest_rate = 0x1p-60, fastest_rate = 745;

inline double require_decay(double rate, double stored, stored_tensor const& t) {
  if (!(rate >= 0)) {
    throw input_error("tensor " + in_quotes(t.name) + " holds " + short_number(stored) +
                      ", which is no decay; its values must make rates that are not negative");
  }
  return rate;
}

// A part of a tensor: its contents and its layout.
struct tensor_part {
  std::vector<std::int64_t> shape;
  std::span<double const> values;

  tensor_part at(std::int64_t i) const {
    auto const size = values.size() / static_cast<std::size_t>(shape.front());
    return {{shape.begin() + 1, shape.end()},
            values.subspan(static_cast<std::size_t>(i) * size, size)};
  }
};

// [1, 1, C] is [C]; where the layer is numbered, [1, 1, H, 1] is [H] too.
inline std::vector<std::int64_t> without_ones(std::vector<std::int64_t> shape, bool everywhere) {
  if (everywhere) std::erase(shape, 1);
  while (!shape.empty() && shape.front() == 1) shape.erase(shape.begin());
  return shape;
}

class layer_maker {
 public:
  layer_maker(decay_source const& source, head_size const& size) : source_(source), size_(size) {}

  std::vector<decay_layer> layers() {
    bool const numbered = is_numbered(source_.name);
    auto const values = numbers(*source_.values);
    tensor_part const all{without_ones(source_.values->shape, numbered), values};
    std::vector<double> step_values;
    tensor_part step;
    if (source_.step != nullptr) {
      step_values = numbers(*source_.step);
      step = {without_ones(source_.step->shape, numbered), step_values};
    }
    auto const& leading = source_.step != nullptr ? step.shape : all.shape;
    if (numbered || leading.size() < 2) {
      return {layer(source_.name.empty() ? source_.values->name : source_.name, all, step)};
    }
    if (all.shape.empty() || all.shape.front() != leading.front()) refuse_shapes();
    std::vector<decay_layer> found;
    for (std::int64_t i = 0; i < leading.front(); ++i) {
      found.push_back(layer(joined(source_.name, std::to_string(i)), all.at(i),
                            source_.step != nullptr ? step.at(i) : step));
    }
    return found;
  }

 private:
  static std::vector<double> numbers(stored_tensor const& t) {
    auto values = numbers_of(t);
    if (values.empty()) throw input_error("tensor " + in_quotes(t.name) + " holds no numbers");
    return values;
  }

  [[noreturn]] void refuse_shapes() const {
    stored_tensor const &values = *source_.values, *step = source_.step;
    throw input_error(
        "tensor " + in_quotes(values.name) + " of shape " + shape_text(values.shape) +
        (step == nullptr
             ? " is not [heads], [heads, channels] or [groups, heads, channels]"
             : " does not fit " + in_quotes(step->name) + " of shape " + shape_text(step->shape)));
  }

  decay_layer layer(std::string const& name, tensor_part const& all, tensor_part const& step) {
    if (all.shape.size() > 3) refuse_shapes();
    auto const count = static_cast<std::int64_t>(all.values.size());
    decay_layer made{.name = name,
                     .formula = formula(),
                     .heads = count,
                     .channels = 1,
                     .rates = {},
                     .per_step = source_.per_step};
    if (all.shape.size() >= 2) {
      made.channels = all.shape.back();
    } else if (source_.step == nullptr) {
      made.channels = size_.channels == 0 ? count : size_.channels;
      if (count % made.channels != 0 && size_.asked_for) refuse_heads(count);
      if (count % made.channels != 0) made.channels = count;
    }
    made.heads = count / made.channels;
    for (double const x : all.values) {
      made.rates.push_back(require_decay(source_.reading.rate(x), x, *source_.values));
    }
    if (source_.step != nullptr) multiply(made, step);
    for (double& rate : made.rates) rate = std::clamp(rate, slowest_rate, fastest_rate);
    return made;
  }

  // One step for each head, or for each channel where a head has one rate.
  void multiply(decay_layer& made, tensor_part const& step) const {
    auto const count = static_cast<std::int64_t>(step.values.size());
    if (count % made.heads != 0 || (count != made.heads && made.channels != 1)) refuse_shapes();
    std::int64_t const each = count / made.heads, channels = std::max(each, made.channels);
    std::vector<double> rates;
    for (std::int64_t h = 0; h < made.heads; ++h) {
      for (std::int64_t c = 0; c < channels; ++c) {
        double const x = step.values[static_cast<std::size_t>(h * each + (each > 1 ? c : 0))];
        auto const at = h * made.channels + (made.channels > 1 ? c : 0);
        rates.push_back(require_decay(
            made.rates[static_cast<std::size_t>(at)] * spectra::softplus(x), x, *source_.step));
      }
    }
    made.channels = channels;
    made.rates = std::move(rates);
  }

  [[noreturn]] void refuse_heads(std::int64_t count) const {
    throw input_error("tensor " + in_quotes(source_.values->name) + " has " +
                      std::to_string(count) + " channels, not a multiple of --head-size " +
                      std::to_string(size_.channels));
  }

  std::string formula() const {
    std::string text = source_.reading.formula;
    text.replace(text.find("{}"), 2, source_.symbol);
    if (source_.step == nullptr) return text;
    auto const begin = source_.name.empty() ? 0 : source_.name.size() + 1;
    return text + " softplus(" + source_.step->name.substr(begin) + ")";
  }

  decay_source const& source_;
  head_size size_;
};

inline std::vector<decay_layer> layers_of(decay_source const& source, head_size const& size) {
  return layer_maker(source, size).layers();
}

}  // namespace wane::bench
