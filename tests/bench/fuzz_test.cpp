// Every reader of files takes any bytes: it reads them or refuses them with its own error.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "bench/process.hpp"
#include "checkpoint/decay_layers.hpp"
#include "spectra/laplace_layers.hpp"
#include "spectra/series.hpp"
#include "support/safetensors_bytes.hpp"
#include "wane/core/state/state_file.hpp"

namespace wane::bench {
namespace {

using support::safetensors_of;

// Changes sound files: bytes, pieces taken out, doubled or taken from another file, and words that
// mean something to a reader.
class mutations {
 public:
  mutations(std::vector<std::string> sound, std::vector<std::string> words)
      : sound_(std::move(sound)), words_(std::move(words)) {}

  std::string next() {
    std::string x = sound_[below(sound_.size())];
    for (std::size_t n = 1 + below(4); n > 0; --n) change(x);
    return x;
  }

 private:
  std::size_t below(std::size_t n) { return n ? bits_() % n : 0; }
  std::string piece(std::string const& of) {
    std::size_t const begin = below(of.size());
    return of.substr(begin, below(60));
  }
  void change(std::string& x) {
    std::size_t const at = below(x.size() + 1);
    switch (below(6)) {
      case 0:
        if (!x.empty()) x[below(x.size())] = static_cast<char>(bits_());
        break;
      case 1:
        x.insert(at, 1, static_cast<char>(bits_()));
        break;
      case 2:
        x.erase(at, below(40));
        break;
      case 3:
        x.insert(at, piece(x));
        break;
      case 4:
        x.insert(at, piece(sound_[below(sound_.size())]));
        break;
      default:
        x.insert(at, words_[below(words_.size())]);
    }
  }

  std::vector<std::string> sound_, words_;
  std::mt19937_64 bits_{1};
};

// Reads files for some seconds, or 2000 of them.
void fuzz(mutations files, double seconds, std::function<void(std::string const&)> const& read) {
  using clock = std::chrono::steady_clock;
  auto const end = clock::now() + std::chrono::duration<double>(seconds);
  long taken = 0, refused = 0;
  while (seconds > 0 ? clock::now() < end : taken + refused < 2000) {
    std::string const content = files.next();
    try {
      read(content);
      ++taken;
    } catch (input_error const&) {
      ++refused;
    } catch (wane::error const&) {
      ++refused;
    } catch (std::exception const& other) {
      FAIL() << other.what() << " from " << ::testing::PrintToString(content);
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

void fuzz_csv(double seconds) {
  fuzz({{"load,n\n1.5,2\n2.5,3\n", "x;y\n1,29;1\n1,3;2\r\n", "1\n2\n3\n", "a\tb\n\"1\"\t2\n"},
        {",", ";", "\t", "\n", "\r", "\"", "1e400", "nan", "-", ".", "\xC2\xA0", "\xEF\xBB\xBF",
         "0"}},
       seconds, [](std::string const& content) { series_in(content, "1", "file"); });
}
void fuzz_json(double seconds) {
  scratch const place;
  fuzz({{R"({"sigma": [0.1, 0.02], "omega": [0, 1], "window": "hann", "width": 9})",
         R"([{"name": "a", "sigma": [0.1], "omega": [0], "step": 2, "mask": [0.5]}])"},
        {"[", "]", "{", "}", "\"", ",", ":", "1e999", "-0", "null", "\\u0000", std::string(1, '\0'),
         std::string(5000, '['), "\"sigma\": [1],"}},
       seconds,
       [&](std::string const& content) { read_laplace_layers(place.write("n.json", content)); });
}
void fuzz_safetensors(double seconds) {
  scratch const place;
  std::string const folder = WANE_SOURCE_DIR "/tests/bench/checkpoints/";
  fuzz({{content_of(folder + "mamba2.safetensors").substr(0, 4000),
         content_of(folder + "mamba2.safetensors"),
         safetensors_of({{"layers.0.decay", {2}, {0.5, 0.25}}})},
        {"[", "]", "{", "}", "\"dtype\"", "\"F64\"", ",", ":", "18446744073709551615", "-1"}},
       seconds, [&](std::string const& content) {
         decay_layers(checkpoint({place.write("m.safetensors", content)}), {});
       });
}
void fuzz_npy(double seconds) {
  scratch const place;
  fuzz({{content_of(WANE_SOURCE_DIR "/tests/bench/checkpoints/A_log.npy")},
        {"(", ")", ",", "'descr'", "True", "False", "'<f8'", "9223372036854775807", "-1", "'"}},
       seconds, [&](std::string const& content) {
         decay_layers(checkpoint({place.write("A_log.npy", content)}), {});
       });
}
void fuzz_states(double seconds) {
  recurrent_state<float> state(2, 1, 2, 3);
  std::ostringstream sound;
  save_state(sound, "gla", state);
  fuzz({{sound.str(), sound.str() + sound.str()}, {"gla", "float64", std::string(8, '\xff')}},
       seconds, [&](std::string const& content) {
         std::istringstream from(content);
         load_state(from, "gla", state);
       });
}

TEST(Fuzz, Csv) { fuzz_csv(0); }
TEST(Fuzz, Json) { fuzz_json(0); }
TEST(Fuzz, Safetensors) { fuzz_safetensors(0); }
TEST(Fuzz, Npy) { fuzz_npy(0); }
TEST(Fuzz, States) { fuzz_states(0); }

TEST(Fuzz, CsvForAMinuteSlow) { fuzz_csv(60); }
TEST(Fuzz, JsonForAMinuteSlow) { fuzz_json(60); }
TEST(Fuzz, SafetensorsForAMinuteSlow) { fuzz_safetensors(60); }
TEST(Fuzz, NpyForAMinuteSlow) { fuzz_npy(60); }
TEST(Fuzz, StatesForAMinuteSlow) { fuzz_states(60); }

}  // namespace
}  // namespace wane::bench
