// What the programs for a GPU have in common: wrong options, exit statuses, JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

#include "cuda/shared/gpu.hpp"

namespace CLI {
class App;
}

namespace wane::bench {

struct wrong_option : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct no_device : std::runtime_error {
  explicit no_device(std::string const& why)
      : std::runtime_error("there is no CUDA device: " + why) {}
};
struct out_of_memory : std::runtime_error {
  explicit out_of_memory(std::size_t bytes)
      : std::runtime_error("does not fit: the device has no " + std::to_string(bytes >> 20) +
                           " MiB left") {}
};

// The exit status of `body`: what it returns; 2 for a wrong option or where there is no device, 1
// for other trouble, each with one sentence on stderr.
int exit_status(char const* program, std::function<int()> const& body);

// False where help was asked for and has been printed. Throws wrong_option.
bool parse(CLI::App& app, int argc, char const* const* argv);

// Throws wrong_option, unless there is no file to be written.
void check_writable(std::string const& file);
// Writes nothing where no file is named.
void write_json(std::string const& file, nlohmann::json const& document);

// The GPU, its versions and the date, to which results are added.
nlohmann::json head_of_report(gpu const& found);
// The same in a line.
std::string line_of(gpu const& found);

}  // namespace wane::bench
