// State files: a saved state loads to the bit, and any other file is refused as a whole.
// SPDX-License-Identifier: MIT
#include "wane/core/state/state_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "support/expect_error.hpp"
#include "support/random_values.hpp"
#include "support/stored_states.hpp"

namespace {

using support::bytes_of, support::expect_refused, support::state_of;
using wane::index;
using wane::recurrent_state;

class StateFile : public testing::Test {
 protected:
  StateFile() { std::filesystem::create_directories(folder); }
  ~StateFile() override { std::filesystem::remove_all(folder); }

  void write(std::string const& bytes) const {
    std::ofstream(file, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  }
  std::string read() const {
    std::ostringstream all;
    all << std::ifstream(file, std::ios::binary).rdbuf();
    return all.str();
  }

  std::filesystem::path const folder =
      std::filesystem::path(testing::TempDir()) /
      ("wane_states_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  std::filesystem::path const file = folder / "a.state";
};

TEST(Crc64, IsThatOfTheStandard) {
  wane::impl::crc64 whole, pieces;
  whole.add("123456789", 9);
  pieces.add("1234", 4), pieces.add("56789", 5);
  EXPECT_EQ(whole.value(), 0x995dc9bbdf1939fau);
  EXPECT_EQ(pieces.value(), whole.value());
  EXPECT_EQ(wane::impl::crc64().value(), 0u);
}

template <class T>
void expect_same_bits_back() {
  recurrent_state<T> const state = state_of<T>(3);
  recurrent_state<T> found = state_of<T>(4);
  std::istringstream from(bytes_of(state));
  wane::load_state(from, "gla", found);
  EXPECT_EQ(std::memcmp(found.values().data(), state.values().data(), 60 * sizeof(T)), 0);
  EXPECT_EQ(found.positions(), state.positions());
}

TEST(State, ComesBackToTheBitInEveryType) {
  expect_same_bits_back<float>();
  expect_same_bits_back<double>();
  expect_same_bits_back<wane::bfloat16>();
  expect_same_bits_back<wane::float16>();
  expect_same_bits_back<std::complex<float>>();
  expect_same_bits_back<std::complex<double>>();
}

TEST(State, KeepsInfinitiesNaNsAndNegativeZeros) {
  recurrent_state<float> state = state_of<float>(3), found = state_of<float>(4);
  state.values()[0] = HUGE_VALF, state.values()[1] = NAN, state.values()[2] = -0.f;
  std::istringstream from(bytes_of(state));
  wane::load_state(from, "gla", found);
  EXPECT_EQ(std::memcmp(found.values().data(), state.values().data(), 60 * sizeof(float)), 0);
}

TEST(State, OfAnyStridesAndWithoutPositionsIsStoredInOrder) {
  std::vector<float> memory(120, NAN);
  wane::state_view<float> const spread{{memory.data(), {2, 3, 2, 5}, {2, 4, 60, 12}}};
  for (index i = 0; i < 120; i += 2) memory[static_cast<std::size_t>(i)] = static_cast<float>(i);
  std::stringstream file;
  wane::save_state(file, "gla", spread);
  std::vector<float> plain(60, NAN);
  wane::state_view<float> const dense{{plain.data(), 2, 3, 2, 5}};
  wane::load_state(file, "gla", dense);
  for (index n = 0; n < 2; ++n)
    for (index h = 0; h < 3; ++h)
      for (index i = 0; i < 2; ++i)
        for (index j = 0; j < 5; ++j)
          EXPECT_EQ(dense.values(n, h, i, j), spread.values(n, h, i, j));
}

TEST(State, OfEveryLayerMayStandInOneStream) {
  std::stringstream file;
  for (std::uint64_t layer : {1u, 2u, 3u}) wane::save_state(file, "gla", state_of<float>(layer));
  for (std::uint64_t layer : {1u, 2u, 3u}) {
    recurrent_state<float> found(2, 3, 2, 5);
    wane::load_state(file, "gla", found);
    EXPECT_EQ(found.values(), state_of<float>(layer).values());
  }
}

TEST(State, DamagedAnywhereIsRefused) {
  std::string const whole = bytes_of(state_of<float>(3));
  support::random_values random(5);
  for (int damage = 0; damage < 500; ++damage) {
    std::string bytes = whole;
    // One bit, or up to eight bytes in any places.
    auto const places = damage % 2 ? 1 : 1 + random.bits() % 8;
    for (std::uint64_t i = 0; i < places; ++i) {
      char& byte = bytes[random.bits() % bytes.size()];
      byte = static_cast<char>(damage % 2 ? byte ^ (1 << random.bits() % 8)
                                          : static_cast<int>(random.bits()));
    }
    if (bytes != whole) expect_refused(bytes, {"the stream"});
  }
}

TEST(State, CutShortAnywhereIsRefused) {
  std::string const whole = bytes_of(state_of<float>(3));
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_refused(whole.substr(0, size), {"the stream", "cut short"});
}

TEST(State, OfAnotherKindIsRefused) {
  expect_refused(bytes_of(state_of<double>(3)), {"float64", "float32"});
  expect_refused(bytes_of(state_of<float>(3), "rwkv7"), {"'rwkv7'", "'gla'"});
  expect_refused(bytes_of(state_of<float>(3)), {"'gla'", "'gl'"}, "gl");
  expect_refused(bytes_of(recurrent_state<float>(2, 3, 5, 2)), {"rows", "5", "2"});
  expect_refused(bytes_of(recurrent_state<float>(1, 3, 2, 5)), {"sequences", "1", "2"});
  expect_refused(
      "PNG, or anything else that is no state, of any length whatever, such as this one "
      "of more than a hundred and thirty-six bytes, which the header takes",
      {"no state of wane"});
  std::vector<float> values(60);
  std::ostringstream without_positions;
  wane::save_state(without_positions, "gla", wane::state_view<float>{{values.data(), 2, 3, 2, 5}});
  expect_refused(without_positions.str(), {"positions", "0", "2"});
}

TEST(State, OfALaterVersionIsRefused) {
  std::string bytes = bytes_of(state_of<float>(3));
  bytes[std::endian::native == std::endian::little ? 12 : 15] = 2;
  expect_refused(bytes, {"version", "2", "1"});
}

TEST_F(StateFile, IsReplacedWholeAndLeavesNothingElse) {
  recurrent_state<float> found(2, 3, 2, 5);
  for (std::uint64_t seed : {1u, 2u}) {
    wane::save_state(file, "gla", state_of<float>(seed));
    wane::load_state(file, "gla", found);
    EXPECT_EQ(found.values(), state_of<float>(seed).values());
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(StateFile, OfAnotherLengthIsRefused) {
  recurrent_state<float> found = state_of<float>(9);
  std::string const whole = bytes_of(state_of<float>(3));
  auto const load = [&] { wane::load_state(file, "gla", found); };
  write(whole + '\0');
  support::expect_error({file.string(), "goes on"}, load);
  write(whole.substr(0, whole.size() - 1));
  support::expect_error({file.string(), "cut short"}, load);
  std::filesystem::remove(file);
  support::expect_error({file.string(), "cannot be opened"}, load);
  EXPECT_EQ(found.values(), state_of<float>(9).values());
  EXPECT_EQ(found.positions(), state_of<float>(9).positions());
}

TEST_F(StateFile, StaysWhenItsSuccessorCannotBeWritten) {
  wane::save_state(file, "gla", state_of<float>(3));
  std::string const before = read();
  support::expect_error({"operator_name", "1 to 63"},
                        [&] { wane::save_state(file, "", state_of<float>(4)); });
  support::expect_error({"operator_name", "1 to 63"},
                        [&] { wane::save_state(file, std::string(64, 'x'), state_of<float>(4)); });
  support::expect_error({"no data"},
                        [&] { wane::save_state(file, "gla", wane::state_view<float>{}); });
  EXPECT_EQ(read(), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  support::expect_error({"b.state.part", "folder"}, [&] {
    wane::save_state(folder / "none" / "b.state", "gla", state_of<float>(4));
  });
}

TEST_F(StateFile, KeepsItsModeAndTheLinkThatLeadsToIt) {
  namespace fs = std::filesystem;
  auto const few = fs::perms::owner_read | fs::perms::owner_write;
  wane::save_state(file, "gla", state_of<float>(3));
  fs::permissions(file, few);
  fs::path const link = folder / "newest.state";
  fs::create_symlink(file.filename(), link);
  wane::save_state(link, "gla", state_of<float>(4));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(fs::status(file).permissions(), few);
  EXPECT_EQ(read(), bytes_of(state_of<float>(4)));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
}

TEST_F(StateFile, ReplacesNothingButAFile) {
  namespace fs = std::filesystem;
  auto const refuse = [&](fs::path const& path, std::string const& word) {
    support::expect_error({path.string(), word},
                          [&] { wane::save_state(path, "gla", state_of<float>(4)); });
  };
  fs::path const folder_there = folder / "c.state", pipe = folder / "d.state",
                 to_device = folder / "e.state", to_nothing = folder / "f.state";
  fs::create_directory(folder_there);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("/dev/full", to_device);
  fs::create_symlink("nowhere", to_nothing);
  for (auto const& path : {folder_there, pipe, to_device, fs::path("/dev/full")})
    refuse(path, "no regular file");
  refuse(to_nothing, "link to nothing");
  EXPECT_TRUE(fs::is_fifo(pipe) && fs::is_symlink(to_device) && fs::is_symlink(to_nothing));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  // Where the new state is written first.
  ASSERT_EQ(mkfifo((file.string() + ".part").c_str(), 0600), 0);
  support::expect_error({"a.state.part", "no regular file"},
                        [&] { wane::save_state(file, "gla", state_of<float>(4)); });
  EXPECT_TRUE(fs::is_fifo(file.string() + ".part"));
  fs::path const other = folder / "g.state", part = folder / "h.state.part";
  wane::save_state(other, "gla", state_of<float>(3));
  fs::create_symlink(other, part);
  support::expect_error({"h.state.part", "no regular file"},
                        [&] { wane::save_state(folder / "h.state", "gla", state_of<float>(4)); });
  EXPECT_TRUE(fs::is_symlink(part) && fs::is_regular_file(other));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 7);
}

TEST(State, OfNoSequencesIsStored) {
  recurrent_state<float> const none(0, 3, 2, 5);
  std::istringstream from(bytes_of(none));
  recurrent_state<float> found(0, 3, 2, 5);
  wane::load_state(from, "gla", found);
  expect_refused(bytes_of(none), {"sequences 0", "2"});
}

TEST(State, OnAFullStreamIsAnError) {
  std::ostringstream to;
  to.setstate(std::ios::badbit);
  support::expect_error({"the stream", "could not be written"},
                        [&] { wane::save_state(to, "gla", state_of<float>(3)); });
}

}  // namespace
