// Any file is a safetensors file or refused; what is read is read again from a file of its own.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstring>
#include <sstream>

#include "fuzz/input.hpp"
#include "fuzz/memory_file.hpp"
#include "wane/files/safetensors.hpp"
#include "wane/files/write_safetensors.hpp"

// Whether the length of the header is put right; a file without its length.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static fuzz::memory_file const file("m.safetensors"), copied("copy.safetensors");
  fuzz::input in(data, size);
  bool const right = in.flag();
  std::string bytes(in.rest());
  if (right) {
    // The header ends with the last brace.
    std::uint64_t const length = bytes.rfind('}') + 1;
    bytes.insert(0, reinterpret_cast<char const*>(&length), sizeof length);
  }
  std::string const& path = file.with(bytes);
  fuzz::takes([&] {
    wane::safetensors const all(path);
    std::byte const* end = nullptr;
    for (auto const& one : all.tensors()) {
      fuzz::must(!end || one.bytes.data() == end,
                 "a tensor begins elsewhere than the one before ends");
      end = one.bytes.data() + one.bytes.size();
      fuzz::must(all.find(one.name) == &one, "a tensor is not found by its name");
      auto const count = wane::impl::numbers_in(one.shape);
      fuzz::must(count.has_value(), "a tensor has no number of numbers");
      if (!one.has_reals()) {
        fuzz::must(!fuzz::takes([&] { (void)one.values<float>(); }), "no reals are read as reals");
        continue;
      }
      fuzz::must(std::ssize(one.values<double>()) == *count, "a tensor has lost numbers");
      fuzz::must(std::ssize(all.values<float>(one.name, one.shape)) == *count,
                 "so it has in float");
      auto shape = one.shape;
      shape.push_back(2);
      fuzz::must(!fuzz::takes([&] { (void)all.values<float>(one.name, shape); }),
                 "a tensor is read in another shape");
    }
    fuzz::takes([&] { (void)all.at("a name that no tensor has").name; });
    std::ostringstream to;
    if (!fuzz::takes([&] { wane::write_safetensors(to, all.tensors(), all.metadata()); })) return;
    wane::safetensors const again(copied.with(to.str()));
    fuzz::must(again.metadata() == all.metadata(), "metadata change in a copy");
    fuzz::must(again.tensors().size() == all.tensors().size(), "a copy has other tensors");
    for (auto const& one : all.tensors()) {
      auto const& copy = again.at(one.name);
      fuzz::must(copy.type == one.type && copy.shape == one.shape &&
                     std::ranges::equal(copy.bytes, one.bytes),
                 "a tensor changes in a copy");
    }
  });
  return 0;
}
