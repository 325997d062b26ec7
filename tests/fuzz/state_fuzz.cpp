// Any bytes are a state or refused; a refused one leaves the state as it was.
// SPDX-License-Identifier: MIT
#include <sstream>

#include "fuzz/input.hpp"
#include "fuzz/memory_file.hpp"
#include "wane/core/state/state_file.hpp"

namespace {

constexpr wane::index sequences = 2, heads = 1, rows = 2, columns = 3;

template <class T>
void load(std::string const& bytes, bool by_path) {
  static fuzz::memory_file const file("a.state");
  wane::recurrent_state<T> state(sequences, heads, rows, columns);
  for (std::size_t i = 0; i < state.values().size(); ++i)
    state.values()[i] = static_cast<T>(static_cast<float>(i));
  state.positions() = {7, 8};
  auto const before = state;
  std::istringstream from(bytes);
  bool const taken = fuzz::takes([&] {
    if (by_path)
      wane::load_state(file.with(bytes), "gla", state);
    else
      wane::load_state(from, "gla", state);
  });
  if (!taken) {
    fuzz::must(state.positions() == before.positions() &&
                   std::memcmp(state.values().data(), before.values().data(),
                               state.values().size() * sizeof(T)) == 0,
               "a refused state is read in part");
    return;
  }
  std::ostringstream again;
  wane::save_state(again, "gla", state);
  auto const written = again.str();
  fuzz::must(bytes.starts_with(written), "a state is written otherwise than it was read");
  fuzz::must(!by_path || bytes.size() == written.size(), "a file goes on behind its state");
}

}  // namespace

// How it is read and whether its checksum is put right; a state.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::input in(data, size);
  int const how = in.byte();
  std::string bytes(in.rest());
  if (how & 1) {
    wane::impl::crc64 sum;
    sum.add(bytes.data(), bytes.size());
    std::uint64_t const value = sum.value();
    bytes.append(reinterpret_cast<char const*>(&value), sizeof value);
  }
  bool const by_path = how & 2;
  if (how & 4)
    load<wane::bfloat16>(bytes, by_path);
  else
    load<float>(bytes, by_path);
  return 0;
}
