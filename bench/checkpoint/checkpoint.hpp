// The tensors of the files of a checkpoint: .safetensors (one, or shards), .npy, .csv.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/npy.hpp"
#include "shared/csv.hpp"
#include "shared/input.hpp"
#include "wane/core/error.hpp"
#include "wane/files/mapped_file.hpp"
#include "wane/files/safetensors.hpp"
#include "wane/files/stored_tensor.hpp"

namespace wane::bench {

// A .npy file is one tensor, of the file's name; a column of a .csv file is one of the name in the
// heading, or of the file's name where there is one column and no heading.
class checkpoint {
 public:
  explicit checkpoint(std::vector<std::string> const& paths) {
    for (auto const& path : paths) {
      try {
        read(path);
      } catch (wane::error const& problem) {
        throw input_error(std::string("--checkpoint ") + problem.what());
      }
    }
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (!places_.emplace(tensors_[i].name, i).second) {
        throw input_error("--checkpoint: two tensors are called " + in_quotes(tensors_[i].name) +
                          "; give the files of one model, each once");
      }
    }
  }

  std::vector<stored_tensor> const& tensors() const { return tensors_; }

  stored_tensor const* find(std::string const& name) const {
    auto const found = places_.find(name);
    return found == places_.end() ? nullptr : &tensors_[found->second];
  }

 private:
  void read(std::string const& path) {
    std::filesystem::path const file(path);
    std::string const ending = file.extension().string(), stem = file.stem().string();
    if (ending == ".safetensors") {
      auto const& all = weights_.emplace_back(path).tensors();
      tensors_.insert(tensors_.end(), all.begin(), all.end());
    } else if (ending == ".npy") {
      files_.emplace_back(path);
      tensors_.push_back(npy_in(files_.back(), stem));
    } else if (ending == ".csv") {
      read_csv(path, stem);
    } else {
      throw input_error("--checkpoint " + in_quotes(path) +
                        " has no known ending; give .safetensors, .npy or .csv");
    }
  }

  void read_csv(std::string const& path, std::string const& stem) {
    std::string const file = "--checkpoint " + in_quotes(path);
    std::vector<std::string> names{stem};
    std::size_t const first = columns_.size();
    files_.emplace_back(path);
    csv_numbers number_at(file);
    for_each_csv_line(files_.back().text(), file, [&](csv_line const& line) {
      if (line.number == 1) {
        if (line.is_heading) names = line.cells;
        if (names.size() != line.cells.size()) {
          throw input_error(file + " has " + std::to_string(line.cells.size()) +
                            " columns; its first line must name them");
        }
        columns_.resize(first + names.size());
      }
      for (std::size_t i = 0; i < names.size() && !line.is_heading; ++i) {
        columns_[first + i].push_back(number_at(line, i));
      }
    });
    for (std::size_t i = 0; i < names.size(); ++i) {
      auto const& values = columns_[first + i];
      tensors_.push_back(stored_tensor::of(names[i], {std::ssize(values)}, values));
    }
  }

  std::vector<safetensors> weights_;
  std::vector<mapped_file> files_;
  std::deque<std::vector<double>> columns_;  // a deque: tensors point into them
  std::vector<stored_tensor> tensors_;
  std::map<std::string, std::size_t> places_;  // of tensors, by name
};

}  // namespace wane::bench
