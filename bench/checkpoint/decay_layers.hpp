// The decays of a trained model, layer by layer, found in its checkpoint by their names.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/decay_rates.hpp"
#include "checkpoint/decay_reading.hpp"
#include "checkpoint/layer_name.hpp"
#include "checkpoint/name_pattern.hpp"
#include "checkpoint/tensor_numbers.hpp"
#include "shared/input.hpp"
#include "wane/files/stored_tensor.hpp"

namespace wane::bench {

// Tensors whose name has a match are decays with this reading.
struct decay_pattern {
  name_pattern name;
  std::string reading;
};

struct layer_options {
  std::vector<decay_pattern> patterns;  // empty: the names of public models
  std::int64_t head_size = 0;           // channels of a head if the file does not say; 0: guess
};

// A name under which public models keep their decays.
struct decay_name {
  std::string tail;
  std::string reading;
  std::vector<std::string> steps;  // beside it: softplus of one of these multiplies the rate
  std::int64_t head_size;          // of a row of numbers without a layout; 0: one head
  std::string models;
};

inline std::vector<decay_name> const& decay_names() {
  static std::vector<decay_name> const list{
      {"A_log",
       "log-rate",
       {"dt_bias", "dt_proj.bias", "dt_proj_bias"},
       1,
       "Mamba, Mamba-2, Gated DeltaNet, Kimi Delta Attention"},
      {"w0", "rwkv7", {}, 64, "RWKV-7"},
      {"w_lora.lora.2.bias", "rwkv7", {}, 64, "RWKV-7 in flash-linear-attention"},
      {"time_decay", "log-rate", {}, 1, "RWKV-4, 5, 6"},
      {"w_proj.linear.lora.2.bias", "log-rate", {}, 0, "RWKV-6 in flash-linear-attention"},
      {"gk_proj.1.bias", "gla", {}, 0, "GLA"},
      {"decay", "", {}, 1, "RetNet"}};  // logs where none is positive, else factors
  return list;
}

class layer_finder {
 public:
  layer_finder(checkpoint const& files, layer_options const& how) : files_(files), how_(how) {}

  std::vector<decay_layer> layers() {
    for (auto const& one : files_.tensors()) {
      how_.patterns.empty() ? look_by_name(one) : look_by_pattern(one);
    }
    if (found_.empty()) refuse_none();
    std::stable_sort(found_.begin(), found_.end(),
                     [](auto const& a, auto const& b) { return comes_before(a.name, b.name); });
    return std::move(found_);
  }

 private:
  void look_by_pattern(stored_tensor const& one) {
    for (auto const& pattern : how_.patterns) {
      if (!pattern.name.matches(one.name)) continue;
      decay_source const source{one.name, &one, nullptr, *find_reading(pattern.reading), "x"};
      return add(source, {std::max<std::int64_t>(1, how_.head_size), how_.head_size > 0});
    }
  }

  void look_by_name(stored_tensor const& one) {
    for (auto const& known : decay_names()) {
      std::string prefix;
      if (!ends_in(one.name, known.tail, prefix)) continue;
      auto const last = parts_of(prefix, '.').back();
      if (known.tail == "w0" && !last.empty() && !last.starts_with("att")) {
        continue;  // initial weights of another parameter
      }
      if (known.tail == "decay" && (one.shape.empty() || !one.has_reals())) {
        continue;  // weights of a moving average
      }
      decay_source source{prefix, &one, nullptr, reading_of(known, one), known.tail};
      for (auto const& step : known.steps) {
        if (source.step == nullptr) source.step = files_.find(joined(prefix, step));
      }
      if (!known.steps.empty() && source.step == nullptr) {
        source.reading.formula += ", no " + known.steps.front() + ": per unit of the step size";
        source.per_step = false;
      }
      return add(source, size_of_head(known, prefix, one));
    }
  }

  static decay_reading reading_of(decay_name const& known, stored_tensor const& one) {
    if (!known.reading.empty()) return *find_reading(known.reading);
    auto const values = numbers_of(one);
    if (std::all_of(values.begin(), values.end(), [](double x) { return x == 0; })) {
      throw input_error("tensor " + in_quotes(one.name) +
                        " holds zeros alone, which may be logs or factors; say which with "
                        "--pattern '" +
                        printable(one.name) + "=log-decay' or =decay");
    }
    bool const logs = std::all_of(values.begin(), values.end(), [](double x) { return x <= 0; });
    return *find_reading(logs ? "log-decay" : "decay");
  }

  // RWKV keeps another parameter of shape [heads, channels].
  head_size size_of_head(decay_name const& known, std::string const& prefix,
                         stored_tensor const& one) const {
    if (how_.head_size > 0) return {how_.head_size, true};
    for (char const* const tail : {"r_k", "time_faaaa", "bonus"}) {
      stored_tensor const* const shaped = files_.find(joined(prefix, tail));
      if (shaped != nullptr && shaped->shape.size() == 2 &&
          numbers_in(shaped->shape) == numbers_in(one.shape)) {
        return {shaped->shape[1], false};
      }
    }
    return {known.head_size, false};
  }

  void add(decay_source const& source, head_size const& size) {
    for (auto& layer : layers_of(source, size)) found_.push_back(std::move(layer));
  }

  [[noreturn]] void refuse_none() const {
    std::string sought, there;
    for (auto const& known : decay_names()) sought += (sought.empty() ? "" : ", ") + known.tail;
    if (!how_.patterns.empty()) sought = "one that --pattern matches";
    for (std::size_t i = 0; i < files_.tensors().size() && i < 4; ++i) {
      there += (i == 0 ? "" : ", ") + in_quotes(files_.tensors()[i].name.substr(0, 80));
    }
    throw input_error("--checkpoint has no tensor of decays (" + sought + ") among its " +
                      std::to_string(files_.tensors().size()) + " tensors" +
                      (there.empty() ? "" : " (" + there + ")") +
                      "; name them with --pattern REGEX=READING");
  }

  checkpoint const& files_;
  layer_options const& how_;
  std::vector<decay_layer> found_;
};

// Layers in the order of the model. Throws input_error if there are none, or a number is no decay.
inline std::vector<decay_layer> decay_layers(checkpoint const& files, layer_options const& how) {
  return layer_finder(files, how).layers();
}

}  // namespace wane::bench
