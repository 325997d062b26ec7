// The common parts of the programs for a GPU: their device and their JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

#include "cuda/shared/gpu.hpp"
#include "shared/input.hpp"

namespace wane::bench {

struct no_device : input_error {
  explicit no_device(std::string const& why) : input_error("there is no CUDA device: " + why) {}
};
struct out_of_memory : std::runtime_error {
  explicit out_of_memory(std::size_t bytes)
      : std::runtime_error("does not fit: the device has no " + std::to_string(bytes >> 20) +
                           " MiB left") {}
};

// Throws input_error, unless there is no file to be written.
void check_writable(std::string const& file);
// Writes nothing where no file is named.
void write_json(std::string const& file, nlohmann::json const& document);

// The GPU, its versions and the date, to which results are added.
nlohmann::json head_of_report(gpu const& found);
// The same in a line.
std::string line_of(gpu const& found);

}  // namespace wane::bench
