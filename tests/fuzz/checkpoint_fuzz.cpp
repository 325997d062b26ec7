// Any file of numbers (.npy, .csv, .safetensors) gives layers of decays, or is refused.
// SPDX-License-Identifier: MIT
#include <cmath>

#include "checkpoint/decay_layers.hpp"
#include "fuzz/input.hpp"
#include "fuzz/memory_file.hpp"

// The kind of the file, how its numbers are read, the channels of a head, the file.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace wane::bench;
  fuzz::input in(data, size);
  static fuzz::memory_file const files[] = {
      fuzz::memory_file("A_log.npy"), fuzz::memory_file("decay.csv"),
      fuzz::memory_file("m.safetensors"), fuzz::memory_file("w0.npy"),
      fuzz::memory_file("other.npy")};
  int const kind = in.below(5);
  layer_options how;
  auto const& readings = decay_readings();
  std::size_t const reading = in.byte();
  if (reading % 2)
    how.patterns.push_back({name_pattern("."), readings[reading / 2 % readings.size()].name});
  how.head_size = in.below(4);
  std::string const& path = files[kind].with(in.rest());
  fuzz::takes([&] {
    checkpoint const file({path});
    for (auto const& one : file.tensors()) {
      fuzz::must(file.find(one.name)->bytes.data() == one.bytes.data(), "a tensor is not found");
      auto const count = numbers_in(one.shape), each = bytes_of_type(one.type);
      fuzz::must(count && (!each || *count * *each == std::ssize(one.bytes)),
                 "a tensor has other bytes than its shape");
    }
    auto const layers = decay_layers(file, how);
    fuzz::must(!layers.empty(), "a checkpoint has no layer");
    for (auto const& layer : layers) {
      fuzz::must(std::ssize(layer.rates) == layer.heads * layer.channels, "a layer lacks rates");
      for (double const rate : layer.rates)
        fuzz::must(rate >= 0 && !std::isnan(rate), "a decay has no rate", rate);
    }
  });
  return 0;
}
