// The Laplace nodes of a model, from a JSON file: a layer, or an array of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "checkpoint/decay_rates.hpp"
#include "shared/argument.hpp"
#include "shared/input.hpp"
#include "shared/json_document.hpp"
#include "wane/core/error.hpp"
#include "wane/spectra/nodes/laplace_nodes.hpp"
#include "wane/spectra/nodes/window.hpp"

namespace wane::bench {

struct laplace_layer {
  std::string name;  // empty for the one layer of a file
  spectra::laplace_nodes nodes;
  spectra::window window{spectra::window_shape::none};
  std::vector<double> mask;  // how much of each node is left, in [0, 1]; empty: all of it
};

// In the order of window_shape.
inline std::vector<std::string> const& window_names() {
  static std::vector<std::string> const names{"none", "rectangular", "hann", "exponential",
                                              "gaussian"};
  return names;
}

inline std::string name_of(spectra::window_shape shape) {
  return window_names()[static_cast<std::size_t>(shape)];
}

inline constexpr double widest_window = 1e15;  // tokens

inline double number_of(nlohmann::json const& layer, char const* name) {
  if (!layer.at(name).is_number()) throw input_error(std::string(name) + " must be a number");
  return layer.at(name);
}

inline std::vector<double> numbers_of(nlohmann::json const& layer, char const* name) {
  auto const wrong =
      input_error(std::string(name) + " must be an array of numbers, as in [0.1, 0.01]");
  if (!layer.contains(name) || !layer.at(name).is_array()) throw wrong;
  std::vector<double> numbers;
  for (auto const& number : layer.at(name)) {
    if (!number.is_number()) throw wrong;
    numbers.push_back(number);
  }
  return numbers;
}

inline spectra::window window_of(nlohmann::json const& layer) {
  auto const given = layer.value("window", nlohmann::json("none"));
  if (!given.is_string()) throw input_error("window must be a name, such as \"hann\"");
  auto const& names = window_names();
  auto const place = std::find(names.begin(), names.end(), one_of("window", given, names));
  auto const shape = static_cast<spectra::window_shape>(place - names.begin());
  bool const wants_width = shape != spectra::window_shape::none;
  if (wants_width != layer.contains("width")) {
    throw input_error(wants_width ? "window \"" + name_of(shape) + "\" needs a width, in tokens"
                                  : "width needs a window that has one, such as \"hann\"");
  }
  spectra::window const found(shape, wants_width ? number_of(layer, "width") : 1);
  require(found.width() <= widest_window, "width is ", found.width(), "; it must be at most ",
          widest_window);
  return found;
}

inline void require_mask(std::vector<double> const& mask, std::size_t nodes) {
  require(mask.size() == nodes, "mask has ", mask.size(), " entries; it must have one for each of ",
          nodes, " nodes");
  for (std::size_t k = 0; k < nodes; ++k) {
    require(mask[k] >= 0 && mask[k] <= 1, "mask[", k, "] is ", mask[k], "; it must lie in [0, 1]");
  }
}

inline laplace_layer layer_of(nlohmann::json const& given) {
  if (!given.is_object()) {
    throw input_error("a layer must be an object, as in {\"sigma\": [0.1], \"omega\": [0]}");
  }
  for (auto const& [name, value] : given.items()) {
    one_of("entry", name, {"name", "sigma", "omega", "step", "window", "width", "mask"});
  }
  laplace_layer layer;
  if (given.contains("name")) {
    if (!given["name"].is_string()) throw input_error("name must be a string");
    layer.name = given["name"];
  }
  layer.nodes = {numbers_of(given, "sigma"), numbers_of(given, "omega"),
                 given.contains("step") ? number_of(given, "step") : 1};
  spectra::require_nodes(layer.nodes, slowest_rate / layer.nodes.step);
  layer.window = window_of(given);
  if (given.contains("mask")) {
    layer.mask = numbers_of(given, "mask");
    require_mask(layer.mask, layer.nodes.sigma.size());
  }
  return layer;
}

// The layers of a file. Throws input_error, which names the file and the layer.
inline std::vector<laplace_layer> read_laplace_layers(std::string const& path) {
  std::string const file = "--laplace " + in_quotes(path);
  // An array of layers, a layer, its numbers.
  auto const document =
      json_document(read_file(path, "--laplace"), 3,
                    [&](std::string const& problem) { throw input_error(file + " " + problem); });
  auto const given = document.is_array() ? document : nlohmann::json::array({document});
  if (given.empty()) throw input_error(file + " has no layer; give at least one");
  std::vector<laplace_layer> layers;
  for (auto const& one : given) {
    std::string const where =
        file + (document.is_array() ? " layer " + std::to_string(layers.size()) : "") + ": ";
    try {
      layers.push_back(layer_of(one));
    } catch (std::invalid_argument const& problem) {
      throw input_error(where + problem.what());
    } catch (input_error const& problem) {
      throw input_error(where + problem.what());
    }
    if (document.is_array() && layers.back().name.empty()) {
      throw input_error(where + "name is missing; each layer of an array needs one");
    }
  }
  return layers;
}

}  // namespace wane::bench
