// States, snapshots and files whose requests for memory fail, each in turn.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "bench/process.hpp"
#include "support/failing_calls.hpp"
#include "support/random_values.hpp"
#include "wane/core/state/snapshots.hpp"
#include "wane/core/state/state_file.hpp"
#include "wane/files.hpp"

namespace {

using support::bytes_of, support::expect_all_or_nothing, support::expect_to_survive_failures;
using state = wane::recurrent_state<float>;
using wane::index;

state state_of(std::uint64_t seed) {
  support::random_values random(seed);
  state made(2, 3, 2, 5);
  for (float& x : made.values()) x = static_cast<float>(random.uniform(-1, 1));
  made.positions() = {7, static_cast<index>(seed)};
  return made;
}
std::string bytes_of_state(state const& s) {
  return bytes_of(s.values()) + bytes_of(s.positions());
}

// The names and contents of all files of a folder.
std::string files_in(wane::bench::scratch const& place) {
  std::map<std::string, std::string> files;
  for (auto const& one : std::filesystem::directory_iterator(place.file("")))
    files[one.path().filename().string()] = wane::bench::content_of(one.path().string());
  std::string all;
  for (auto const& [name, content] : files) all += name + ": " + content + '\n';
  return all;
}
void empty(wane::bench::scratch const& place) {
  for (auto const& one : std::filesystem::directory_iterator(place.file("")))
    std::filesystem::remove(one.path());
}
// Pieces of files in the memory of this process.
std::ptrdiff_t maps_of(std::string const& path) {
  std::istringstream maps(wane::bench::content_of("/proc/self/maps"));
  std::ptrdiff_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find(path) != line.npos;
  return count;
}

TEST(WithoutMemory, AStateIsNotMade) {
  std::optional<state> made;
  expect_all_or_nothing({[&] { made.reset(); }, [&] { made.emplace(2, 3, 2, 5); },
                         [&] { return made ? bytes_of_state(*made) : ""; }});
}

TEST(WithoutMemory, SnapshotsAreNotMade) {
  state const first = state_of(1);
  std::optional<wane::snapshots<float>> made;
  state back = first;
  expect_all_or_nothing({[&] { made.reset(), back = first; },
                         [&] {
                           made.emplace(3, first);
                           made->push(first);
                           for (float& x : back.values()) x = 0;
                           made->rollback(0, back);
                         },
                         [&] { return made ? bytes_of_state(back) : ""; }});
}

TEST(WithoutMemory, AStateOfAStreamIsReadWholeOrNotAtAll) {
  std::ostringstream file;
  wane::save_state(file, "gla", state_of(1));
  state to = state_of(2);
  std::optional<std::istringstream> from;
  expect_all_or_nothing({[&] { to = state_of(2), from.emplace(file.str()); },
                         [&] { wane::load_state(*from, "gla", to); },
                         [&] { return bytes_of_state(to); }});
}

// A stream has what was written before memory ran out.
TEST(WithoutMemory, AStateInAStreamThrows) {
  state const from = state_of(1);
  std::optional<std::ostringstream> to;
  auto const found = expect_to_survive_failures(
      {[&] { to.emplace(); }, [&] { wane::save_state(*to, "gla", from); },
       [&] { return to->str(); }, [&] { return bytes_of_state(from); }, true});
  EXPECT_GT(found.requests, 0);
}

TEST(WithoutMemory, AStateOfAFileIsReadWholeOrNotAtAll) {
  wane::bench::scratch const place;
  std::string const path = place.file("a.state");
  wane::save_state(path, "gla", state_of(1));
  state to = state_of(2);
  expect_all_or_nothing({[&] { to = state_of(2); },
                         [&] { wane::load_state(path, "gla", to); },
                         [&] { return bytes_of_state(to); },
                         {},
                         true});
}

TEST(WithoutMemory, AFileOfAStateIsTheOldOneOrTheNewOne) {
  for (bool const replaces : {false, true}) {
    wane::bench::scratch const place;
    std::string const path = place.file("a.state");
    expect_all_or_nothing({[&] {
                             empty(place);
                             if (replaces) wane::save_state(path, "gla", state_of(1));
                           },
                           [&] { wane::save_state(path, "gla", state_of(2)); },
                           [&] { return files_in(place); },
                           {},
                           true});
  }
}

TEST(WithoutMemory, AFileOfTensorsIsTheOldOneOrTheNewOne) {
  std::vector<float> const numbers = {1, 2, 3, 4, 5, 6};
  wane::bench::scratch const place;
  std::string const path = place.write("a.safetensors", "old");
  expect_all_or_nothing({[&] { empty(place), place.write("a.safetensors", "old"); },
                         [&] {
                           wane::write_safetensors(
                               path, {wane::stored_tensor::of("blocks.0.weight", {2, 3}, numbers)},
                               {{"format", "pt"}});
                         },
                         [&] { return files_in(place); },
                         {},
                         true});
}

TEST(WithoutMemory, TensorsOfAFileAreReadOrNot) {
  wane::bench::scratch const place;
  std::string const path = place.file("a.safetensors");
  std::vector<float> const numbers = {1, 2, 3, 4, 5, 6};
  wane::write_safetensors(path,
                          {wane::stored_tensor::of("blocks.0.weight", {2, 3}, numbers),
                           wane::stored_tensor::of("blocks.0.bias", {6}, numbers)},
                          {{"format", "pt"}});
  std::vector<double> found;
  found.reserve(6);
  expect_all_or_nothing({[&] { found.clear(); },
                         [&] {
                           wane::safetensors const file(path);
                           auto const read = file.values<double>("blocks.0.weight", {2, 3});
                           found.assign(read.begin(), read.end());
                         },
                         [&] { return bytes_of(found) + std::to_string(maps_of(path)); }});
  EXPECT_EQ(maps_of(path), 0);
}

}  // namespace
