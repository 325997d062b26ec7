// save_state and load_state: a carried state as a file with its type, shape and checksum.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "wane/core/numbers/byte_order.hpp"
#include "wane/core/numbers/storage.hpp"
#include "wane/core/state/crc64.hpp"
#include "wane/core/state/file_replacement.hpp"
#include "wane/core/state/state.hpp"

namespace wane::impl {

// A stored state is this header, N positions (int64) if the state has positions, the values
// [N, H, rows, columns] in row-major order, and the CRC-64 of all bytes before it. Numbers are in
// the byte order of the machine that wrote them; the CRC-64 is of the bytes as they lie in the
// file.
struct state_file_header {
  char magic[8];             // holds line ends, as PNG's does: a transfer as text alters them
  std::uint32_t byte_order;  // 0x01020304 in the byte order of the writer
  std::uint32_t version;
  char scalar[16], operator_name[64];  // padded with zeros
  index extent[4], positions;          // positions: N or 0
};

}  // namespace wane::impl

namespace wane {

static_assert(sizeof(impl::state_file_header) == 136);

}  // namespace wane

namespace wane::impl {

// The name in a file of the type of a state; empty where it cannot be stored.
template <class T>
inline constexpr std::string_view scalar_name = {};
template <>
inline constexpr std::string_view scalar_name<float> = "float32";
template <>
inline constexpr std::string_view scalar_name<double> = "float64";
template <>
inline constexpr std::string_view scalar_name<bfloat16> = "bfloat16";
template <>
inline constexpr std::string_view scalar_name<float16> = "float16";
template <>
inline constexpr std::string_view scalar_name<std::complex<float>> = "complex64";
template <>
inline constexpr std::string_view scalar_name<std::complex<double>> = "complex128";

// The header for a state. Throws wane::error for a state without data, and for a name that is
// empty, has more than 63 characters, or holds a zero.
template <class T>
state_file_header header_of(std::string_view operator_name, state_view<T> const& state) {
  constexpr std::string_view scalar = scalar_name<std::remove_const_t<T>>;
  static_assert(!scalar.empty(),
                "wane: a stored state is of float, double, bfloat16, float16, or complex float or "
                "double");
  state_file_header header{
      {'\x89', 'w', 'a', 'n', 'e', '\r', '\n', '\x1a'}, 0x01020304, 1, {}, {}, {}, 0};
  require(!operator_name.empty() && operator_name.size() < sizeof header.operator_name &&
              operator_name.find('\0') == operator_name.npos,
          "operator_name is '", operator_name, "'; it must have 1 to 63 characters and no zero");
  require(state.present() || of_no_sequences(state),
          "state has no data; it must point to its values");
  std::ranges::copy(scalar, header.scalar);
  std::ranges::copy(operator_name, header.operator_name);
  std::ranges::copy(state.values.extent, header.extent);
  header.positions = state.positions ? header.extent[0] : 0;
  return header;
}

// Calls use(x) for every value, in row-major order.
template <class T, class Use>
void for_each_value(view<T, 4> const& values, Use const& use) {
  auto const& e = values.extent;
  for (index n = 0; n < e[0]; ++n)
    for (index h = 0; h < e[1]; ++h)
      for (index i = 0; i < e[2]; ++i)
        for (index j = 0; j < e[3]; ++j) use(values(n, h, i, j));
}

// Whether a file comes from a machine of the other byte order. Its header is then turned round.
inline bool has_other_byte_order(state_file_header& header) {
  std::uint32_t order = header.byte_order;
  reverse_bytes(&order, 1, sizeof order);
  if (order != 0x01020304) return false;
  header.byte_order = order;
  reverse_bytes(&header.version, 1, sizeof header.version);
  reverse_bytes(std::span(header.extent));
  reverse_bytes(&header.positions, 1, sizeof header.positions);
  return true;
}

// Throws wane::error unless the header `is` of a file equals `must_be`.
inline void check_header(std::string const& file, state_file_header const& is,
                         state_file_header const& must_be) {
  auto const text = [](auto const& field) {
    return std::string_view(field, std::find(field, field + sizeof field, '\0'));
  };
  auto const same = [](auto const& a, auto const& b) { return std::memcmp(a, b, sizeof a) == 0; };
  require(same(is.magic, must_be.magic), file,
          " is no state of wane; the first 8 bytes must be \\x89wane\\r\\n\\x1a");
  require(is.byte_order == must_be.byte_order, file,
          " is damaged: it does not say in which order the bytes of its numbers are");
  require(is.version == must_be.version, file, " has version ", is.version, "; it must be ",
          must_be.version);
  require(same(is.operator_name, must_be.operator_name), file, " is a state of '",
          text(is.operator_name), "'; it must be one of '", text(must_be.operator_name), "'");
  require(same(is.scalar, must_be.scalar), file, " holds ", text(is.scalar), "; it must hold ",
          text(must_be.scalar));
  char const* const names[] = {"sequences", "heads", "rows", "columns"};
  for (int i = 0; i < 4; ++i) check_extent(file.c_str(), names[i], is.extent[i], must_be.extent[i]);
  check_extent(file.c_str(), "positions", is.positions, must_be.positions);
}

// The positions and values of a stored state. They are checked here before a state is overwritten.
template <class T>
struct stored_state {
  std::vector<index> positions;
  std::vector<T> values;

  void into(state_view<T> const& state) const {
    std::ranges::copy(positions, state.positions);
    auto next = values.begin();
    for_each_value(state.values, [&](T& x) { x = *next++; });
  }
};

// Reads a state. Throws wane::error unless its header equals `expected` and its checksum is right.
// Messages call the stream `file`.
template <class T>
stored_state<T> read_state(std::istream& from, state_file_header const& expected,
                           std::string const& file) {
  crc64 checksum;
  auto const get = [&](void* bytes, std::size_t count) {
    from.read(static_cast<char*>(bytes), static_cast<std::streamsize>(count));
    require(from.good(), file, " is cut short; it must hold a whole state");
    checksum.add(bytes, count);
  };
  state_file_header header{};
  get(&header, sizeof header);
  bool const reversed = has_other_byte_order(header);
  check_header(file, header, expected);
  auto const& e = header.extent;
  stored_state<T> found{std::vector<index>(static_cast<std::size_t>(header.positions)),
                        std::vector<T>(static_cast<std::size_t>(e[0] * e[1] * e[2] * e[3]))};
  get(found.positions.data(), sizeof(index) * found.positions.size());
  get(found.values.data(), sizeof(T) * found.values.size());
  std::uint64_t const sum = checksum.value();
  std::uint64_t stored = 0;
  get(&stored, sizeof stored);
  if (reversed) {
    reverse_bytes(std::span(found.positions));
    reverse_bytes(std::span(found.values));
    reverse_bytes(&stored, 1, sizeof stored);
  }
  require(stored == sum, file, " is damaged: its checksum is not that of its contents");
  return found;
}

template <class T>
void write_state(std::ostream& to, std::string_view operator_name, state_view<T> const& state,
                 std::string const& file) {
  state_file_header const header = header_of(operator_name, state);
  crc64 checksum;
  auto const put = [&](void const* bytes, std::size_t count) {
    checksum.add(bytes, count);
    to.write(static_cast<char const*>(bytes), static_cast<std::streamsize>(count));
  };
  put(&header, sizeof header);
  put(state.positions, sizeof(index) * static_cast<std::size_t>(header.positions));
  for_each_value(state.values, [&](T const& x) { put(&x, sizeof x); });
  std::uint64_t const sum = checksum.value();
  put(&sum, sizeof sum);
  to.flush();
  require(to.good(), file, " could not be written; the disk may be full");
}

}  // namespace wane::impl

namespace wane {

//   save_state(stream, "gla", state);
//
// Writes a recurrent_state or a state_view. A stream may hold several states. Throws wane::error
// where the stream fails, or the name has not 1 to 63 characters.
template <class State>
void save_state(std::ostream& to, std::string_view operator_name, State const& state) {
  impl::write_state(to, operator_name, state_view(state), "the stream");
}

//   load_state(stream, "gla", state);
//
// Reads the next state of the stream. Throws wane::error, and does not change `state`, where the
// stored operator name, type or extents differ, or the stored bytes are damaged or cut short. The
// state may have been saved on a machine of the other byte order.
template <class State>
void load_state(std::istream& from, std::string_view operator_name, State&& state) {
  state_view const to(state);
  using T = typename decltype(to.values)::value_type;
  static_assert(std::is_convertible_v<decltype(to), state_view<T>>,
                "wane::load_state: the state is a view of constants; it must be writable");
  impl::read_state<T>(from, impl::header_of(operator_name, to), "the stream").into(to);
}

//   save_state("prefix.state", "gla", state);
//   load_state("prefix.state", "gla", state);
//
// The same for a file that holds one state and nothing else. save_state writes PATH.part and then
// renames it, so that readers find either the old file or the new one; the file keeps its mode, and
// a link is followed. Throws wane::error where the path leads to anything but a regular file.
// Writers to one path, threads or processes, wait for each other: the last one's file stays. The
// path is a std::string or converts to one, as std::filesystem::path does.
template <class State>
void save_state(std::string const& path, std::string_view operator_name, State const& state) {
  impl::file_replacement file(path);
  impl::write_state(file.stream(), operator_name, state_view(state), file.part());
  file.take_place();
}
template <class State>
void load_state(std::string const& path, std::string_view operator_name, State&& state) {
  state_view const to(state);
  using T = typename decltype(to.values)::value_type;
  static_assert(std::is_convertible_v<decltype(to), state_view<T>>,
                "wane::load_state: the state is a view of constants; it must be writable");
  impl::state_file_header const expected = impl::header_of(operator_name, to);
  std::ifstream from(path, std::ios::binary);
  require(from.good(), path, " cannot be opened; it must be a file that may be read");
  auto const found = impl::read_state<T>(from, expected, path);
  require(from.peek() == std::ifstream::traits_type::eof(), path,
          " goes on behind its state; it must end there");
  found.into(to);
}

}  // namespace wane
