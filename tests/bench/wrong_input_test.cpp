// Wrong input to wane-spectra: status 2, one line on stderr with the remedy, no table.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "bench/process.hpp"

namespace wane::bench {
namespace {

struct wrong {
  std::vector<std::string> arguments;
  std::string said;  // part of the message
};

void expect_refused(std::vector<wrong> const& cases) {
  for (auto const& one : cases) {
    auto const result = run(WANE_SPECTRA, one.arguments);
    std::string all;
    for (auto const& argument : one.arguments) all += argument + ' ';
    EXPECT_EQ(result.status, 2) << all;
    EXPECT_EQ(result.error_lines(), 1) << all << '\n' << result.err;
    EXPECT_EQ(result.out, "") << all;
    EXPECT_TRUE(result.err.starts_with("wane-spectra: ")) << all << '\n' << result.err;
    EXPECT_NE(result.err.find(one.said), std::string::npos) << all << '\n' << result.err;
  }
}

std::string numbers(int count, std::string const& at_50 = "50") {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    text += i == 50 ? at_50 + "\n" : std::to_string((i * 7919) % 101) + "\n";
  }
  return text;
}

TEST(WrongInput, OnTheCommandLine) {
  std::string const power = "power:0.5";
  expect_refused({
      {{}, "nothing to fit"},
      {{"--kernel", power, "--text", "x"}, "more than one thing to fit"},
      {{"--kernel"}, "--kernel"},
      {{"--kernel", "power"}, "power:BETA"},
      {{"--kernel", "power:"}, "BETA must be"},
      {{"--kernel", "power:-1"}, "BETA must be"},
      {{"--kernel", "power:nan"}, "BETA must be"},
      {{"--kernel", "power:0.5x"}, "BETA must be"},
      {{"--kernel", "gl:0"}, "ALPHA must be"},
      {{"--kernel", "gl:1.5"}, "at most 1"},
      {{"--kernel", "gauss:1"}, "gl:ALPHA"},
      {{"--kernel", power, "--horizon", "1"}, "from 2 to"},
      {{"--kernel", power, "--horizon", "ten"}, "'ten' is not a whole number"},
      {{"--kernel", power, "--horizon", "2.5"}, "not a whole number"},
      {{"--kernel", power, "--horizon", "1e300"}, "not a whole number"},
      {{"--kernel", power, "--channels", ""}, "'' is not a whole number from 1"},
      {{"--kernel", power, "--channels", "8,,16"}, "'' is not a whole number from 1"},
      {{"--kernel", power, "--channels", "0"}, "from 1 to 256"},
      {{"--kernel", power, "--channels", "-3"}, "from 1 to 256"},
      {{"--kernel", power, "--channels", "8,16,8"}, "twice"},
      {{"--kernel", power, "--spectra", "geometric,hippo"}, "'hippo' is unknown; choose from"},
      {{"--kernel", power, "--spectra", "all (alone)"}, "is unknown; choose from"},
      {{"--kernel", power, "--accuracy", "0"}, "--accuracy '0'"},
      {{"--kernel", power, "--accuracy", "1e-14"}, "at least 1e-13"},
      {{"--kernel", power, "--spectra", "geometric,geometric"}, "twice"},
      {{"--kernel", power, "--spectra", ""}, "choose from"},
      {{"--kernel", power, "--at", "1"}, "from 2 to"},
      {{"--kernel", power, "--at", "9", "--spectra", "linear"}, "needs the spectrum post or"},
      {{"--kernel", power, "--metric", "both"}, "choose from absolute, relative"},
      {{"--kernel", power, "--seed", "-1"}, "--seed"},
      {{"--kernel", power, "--seed", "9007199254740993"}, "is not a whole number from 0"},
      {{"--kernel", power, "--threads", "0"}, "--threads"},
      {{"--kernel", power, "--fit-from", "3"}, "needs data"},
      {{"--kernel", power, "--column", "3"}, "needs --series"},
      {{"--kernel", power, "--colour", "red"}, "--colour"},
      {{"--kernel", power, "stray\nwords"}, "stray"},
      {{"--kernel", power, "--json", "/nowhere/f.json"}, "cannot be written"},
      {{"--kernel", power, "--plot", "/tmp"}, "is a directory"},
      {{"--kernel", power, "--csv", ""}, "--csv needs the name of a file"},
      {{"--kernel", power, "--csv", "same", "--json", "same"}, "both name"},
  });
  EXPECT_FALSE(std::filesystem::exists("same"));
}

TEST(WrongInput, InATextFile) {
  scratch const place;
  std::string const prose = place.write("prose", std::string(5000, 'a') + std::string(5000, 'b'));
  std::string random;
  for (unsigned i = 0, x = 1; i < 5000; ++i, x = x * 1664525u + 1013904223u) {
    random += static_cast<char>('a' + (x >> 24) % 3);
  }
  expect_refused({
      {{"--text", place.file("absent")}, "cannot be read"},
      {{"--text", place.file("")}, "is a directory"},
      {{"--text", place.write("empty", "")}, "has 0 bytes"},
      {{"--text", place.write("one", "x")}, "has 1 bytes"},
      {{"--text", place.write("short", "some words")}, "at least 256"},
      {{"--text", place.write("constant", std::string(1000, 'x'))}, "one byte repeated"},
      {{"--text", place.write("noise", random)}, "rises above its noise at"},
      {{"--text", prose, "--horizon", "10000"}, "give at most half, 5000"},
      {{"--text", prose, "--fit-from", "2000"}, "beyond the horizon"},
      {{"--text", prose, "--json", prose}, "is a file to be read"},
      {{"--text", place.write("new\nline", "x")}, place.file("new?line") + "'"},
  });
}

TEST(WrongInput, ForOctaves) {
  scratch const place;
  std::string const prose = place.write("prose", std::string(5000, 'a') + std::string(5000, 'b'));
  std::vector<std::string> short_ones{"--octaves", "--text", prose};
  for (int i = 0; i < 20'000; ++i) short_ones.push_back(place.file("x"));
  place.write("x", "x");
  expect_refused({
      {short_ones, "the longest last"},
      {{"--octaves"}, "nothing to fit"},
      {{"--octaves", "--kernel", "power:1"}, "--octaves needs --text FILE"},
      {{"--octaves", "--text", place.file("absent")}, "cannot be read"},
      {{"--octaves", "--text", place.write("few", std::string(3000, 'a') + "b")}, "at least 4096"},
      {{"--octaves", "--text", prose, "--horizon", "2501"}, "give at most 2500"},
      {{"--octaves", "--text", prose, "--horizon", "1"}, "from 2 to"},
      {{"--octaves", "--text", prose, "--spectra", "post"}, "means nothing with --octaves"},
      {{"--octaves", "--text", prose, "--fit-from", "3"}, "means nothing with --octaves"},
      {{"--octaves", "--text", prose, "--seed", "3"}, "means nothing with --octaves"},
      {{"--octaves", "--text", prose, "--layer", "3"}, "needs --checkpoint"},
      {{"--octaves", "--text", prose, "--json", prose}, "is a file to be read"},
  });
}

TEST(WrongInput, InASeries) {
  scratch const place;
  auto const series = [&](std::string const& content) {
    return std::vector<std::string>{"--series", place.write("s.csv", content)};
  };
  auto const refused = [&](std::string const& content, std::string const& said,
                           std::vector<std::string> const& more = {}) {
    auto arguments = series(content);
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_refused({{arguments, said}});
  };
  refused("", "is empty");
  refused("\n\n", "is empty");
  refused("value\n", "has 0 numbers");
  refused(numbers(20), "at least 64");
  refused(numbers(100, "nan"), "line 50: 'nan'");
  refused(numbers(100, "inf"), "line 50");
  refused(numbers(100, ""), "line 50: ''");
  refused(numbers(100, "12a"), "line 50: '12a'");
  refused("value\n" + numbers(100, "oops"), "line 51: 'oops'");
  refused(numbers(100, "1,2"), "line 50: '1,2' is not a finite number; write numbers with a");
  refused("1,2\n" + numbers(100), "line 2 has 1 columns where line 1 has 2", {"--column", "1"});
  refused("a,b\n1,2\n", "choose one with --column");
  refused("a,b\n1,2\n", "--column 'c' is not in", {"--column", "c"});
  refused("a,b\n1,2\n", "give a number from 1 to 2", {"--column", "3"});
  refused("1e200\n" + numbers(100), "rescale");
  // A first line that is a number to a reader is one, or is refused.
  for (char const* const first : {"1e-400", "1e400", "5.2\xC2\xA0",
                                  "\xE2\x88\x92"
                                  "5.2"})
    refused(first + ("\n" + numbers(100)), "line ");
  refused("a,a\n" + numbers(100, "1,2"), "names 2 columns", {"--column", "a"});
  refused("\"a\n" + numbers(100), "line 1 opens a quote");
  refused("a\tb\n1,29\t1\n", "line 2: '1,29'", {"--column", "a"});
  refused("a\tb\n1.001,29\t1\n", "line 2: '1.001,29'", {"--column", "a"});
  refused("a;b\n1.001,29;1\n", "line 2: '1.001,29'", {"--column", "a"});
  refused("a;b\n1,29;1\n1.3;1\n", "decimal point where others have a comma", {"--column", "a"});
  std::string constant;
  for (int i = 0; i < 100; ++i) constant += "4.2\n";
  refused(constant, "is constant");
  refused(numbers(100), "give at most half, 50", {"--horizon", "51"});
}

TEST(WrongInput, InACheckpoint) {
  scratch const place;
  std::string const decays = place.write("decay.csv", "0.5\n0.9\n");
  expect_refused({
      {{"--checkpoint", place.file("none.safetensors")}, "cannot be read"},
      {{"--checkpoint", place.write("x.safetensors", "12345678")}, "no sound safetensors file"},
      {{"--checkpoint", place.write("x.npy", "12345678")}, "no .npy file"},
      {{"--checkpoint", place.write("x.bin", "12345678")}, "no known ending"},
      {{"--checkpoint", place.write("names.csv", "a,b\n1,2\n")}, "no tensor of decays"},
      {{"--checkpoint", place.write("over.csv", "decay\n1.5\n")}, "is no decay"},
      {{"--checkpoint", decays, "--kernel", "power:1"}, "more than one thing"},
      {{"--checkpoint", decays, "--spectra", "post"}, "means nothing with --checkpoint"},
      {{"--checkpoint", decays, "--pattern", "decay"}, "REGEX=READING"},
      {{"--checkpoint", decays, "--pattern", "decay=wrong"}, "choose from rate"},
      {{"--checkpoint", decays, "--pattern", "(=rate"}, "no regular expression"},
      {{"--checkpoint", decays, "--pattern", "decay=rate", "--head-size", "3"}, "not a multiple"},
      {{"--checkpoint", decays, "--head-size", "0"}, "whole number from 1"},
      {{"--checkpoint", decays, "--coherence", "1"}, "between 0 and 1"},
      {{"--checkpoint", decays, "--json", decays}, "is a file to be read"},
      {{"--checkpoint", decays, "--plot", place.file("decay")}, "is a file to be read"},
      {{"--checkpoint", decays, "--json", place.file("x"), "--csv", place.file("./x")},
       "both name"},
      {{"--checkpoint", decays, "--pattern", std::string(1001, 'x') + "=rate"}, "1000 bytes"},
      {{"--checkpoint", place.write("odd\xc2\x9b.csv", "decay\n7\n")}, "is no decay"},
      {{"--kernel", "power:1", "--coherence", "0.5"}, "needs --checkpoint"},
  });
}

TEST(WrongInput, InLaplaceNodes) {
  scratch const place;
  auto const refused = [&](std::string const& content, std::string const& said) {
    expect_refused({{{"--laplace", place.write("n.json", content)}, said}});
  };
  refused("", "is not JSON");
  refused("{\"sigma\": [0.1,}", "is not JSON: it goes wrong at byte 16");
  refused("{\"sigma\": [1e999], \"omega\": [0]}", "no double can hold");
  refused(std::string(90'000, '[') + std::string(90'000, ']'), "nested more than 3 deep");
  refused(R"({"sigma": [0.1], "omega": [0], "sigma": [0.2]})", "names 'sigma' twice");
  refused(std::string(R"({"sigma": [0.1], "omega": [0]})") + '\0' + "{", "zero byte");
  refused(R"({"sigma": [0.1], "omega": [0]} {})", "is not JSON: it goes wrong at byte 32");
  refused("[]", "has no layer");
  refused("[1]", "layer 0: a layer must be an object");
  refused("7", "a layer must be an object");
  refused("{}", "sigma must be an array of numbers");
  refused(R"({"sigma": [0.1], "omega": 0})", "omega must be an array of numbers");
  refused(R"({"sigma": [null], "omega": [0]})", "sigma must be an array of numbers");
  refused(R"({"sigma": [], "omega": []})", "sigma is empty");
  refused(R"({"sigma": [0.1, 0.2], "omega": [0]})", "omega has 1 entries");
  refused(R"({"sigma": [0.1, 0], "omega": [0, 0]})", "sigma[1] is 0; it must be finite and above");
  refused(R"({"sigma": [1e-300], "omega": [0]})", "sigma[0] is 1e-300");
  refused(R"({"sigma": [0.1], "omega": [4]})", "it aliases");
  refused(R"({"sigma": [0.1], "omega": [0], "step": 0})", "step is 0; it must be positive");
  refused(R"({"sigma": [0.1], "omega": [0], "step": "1"})", "step must be a number");
  refused(R"({"sigma": [0.1], "omega": [0], "window": "ham"})", "'ham' is unknown; choose from");
  refused(R"({"sigma": [0.1], "omega": [0], "window": 3})", "window must be a name");
  refused(R"({"sigma": [0.1], "omega": [0], "window": "hann"})", "needs a width");
  refused(R"({"sigma": [0.1], "omega": [0], "width": 3})", "width needs a window");
  refused(R"({"sigma": [0.1], "omega": [0], "window": "hann", "width": -1})", "width is -1");
  refused(R"({"sigma": [0.1], "omega": [0], "window": "hann", "width": 1e16})", "at most 1e+15");
  refused(R"({"sigma": [0.1], "omega": [0], "mask": [0.1, 0.2]})", "mask has 2 entries");
  refused(R"({"sigma": [0.1], "omega": [0], "mask": [1.5]})", "mask[0] is 1.5");
  refused(R"({"sigma": [0.1], "omega": [0], "widht": 3})", "entry 'widht' is unknown; choose from");
  refused(R"({"sigma": [0.1], "omega": [0], "name": 3})", "name must be a string");
  refused(R"([{"sigma": [0.1], "omega": [0]}])", "layer 0: name is missing");
  std::string const good = place.write("good.json", R"({"sigma": [0.1], "omega": [0]})");
  expect_refused({
      {{"--laplace", place.file("absent")}, "cannot be read"},
      {{"--laplace", ""}, "cannot be read"},
      {{"--laplace", good, "--kernel", "power:1"}, "more than one thing"},
      {{"--laplace", good, "--horizon", "9"}, "--horizon means nothing with --laplace"},
      {{"--laplace", good, "--coherence", "0.5"}, "needs --checkpoint"},
      {{"--laplace", good, "--json", good}, "is a file to be read"},
  });
}

}  // namespace
}  // namespace wane::bench
