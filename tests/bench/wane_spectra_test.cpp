// wane-spectra as a process: figures, files that agree, the same answer twice, help.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "bench/process.hpp"
#include "bench/renewal.hpp"
#include "wane/core/config.hpp"

namespace wane::bench {
namespace {

using nlohmann::json;

outcome spectra(std::vector<std::string> const& arguments) { return run(WANE_SPECTRA, arguments); }

std::vector<std::vector<std::string>> csv_lines(std::string const& content) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream text(content);
  for (std::string line; std::getline(text, line);) {
    std::vector<std::string> cells;
    std::istringstream rest(line);
    for (std::string cell; std::getline(rest, cell, ',');) cells.push_back(cell);
    lines.push_back(cells);
  }
  return lines;
}

// The lines of the comparison, on the whole horizon and then those of --at, split at blanks.
std::vector<std::vector<std::string>> table_lines(std::string const& output) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream text(output.substr(output.find("\nspectrum") + 1));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("rows with") || line.starts_with("For lags")) break;
    if (line.empty() || line.starts_with("fitted on") || line.starts_with("spectrum ")) continue;
    std::istringstream words(line);
    lines.emplace_back(std::istream_iterator<std::string>(words),
                       std::istream_iterator<std::string>());
  }
  return lines;
}

// The figures of the power law that the spectra were first judged by, in the sup norm. The searched
// ones may be better.
TEST(WaneSpectra, MeetsTheFiguresOfThePowerLaw) {
  scratch const place;
  auto const result = spectra({"--kernel", "power:0.5", "--horizon", "100000", "--channels", "16",
                               "--json", place.file("f.json")});
  ASSERT_EQ(result.status, 0) << result.err;
  std::map<std::string, double> error;
  auto const document = json::parse(content_of(place.file("f.json")));
  for (auto const& row : document["rows"]) {
    if (row["last_lag"] == 100'000) error[row["spectrum"]] = row["max_absolute_error"];
  }
  EXPECT_NEAR(error.at("geometric"), 2.5e-3, 0.1e-3);
  EXPECT_LE(error.at("geometric-wide"), 4e-5);
  EXPECT_LE(error.at("geometric-best"), 1.6e-5);
  EXPECT_NEAR(error.at("linear-best"), 2.3e-2, 0.1e-2);
  EXPECT_NEAR(error.at("linear"), 0.28, 0.015);
}

TEST(WaneSpectra, WritesTheNumbersOfItsTable) {
  scratch const place;
  std::string const text = place.write("a text.txt", renewal{}.text(30'000, 4, 1));
  auto const result =
      spectra({"--text", text, "--channels", "4,8", "--spectra", "geometric,retnet,post", "--at",
               "5,9", "--json", place.file("f.json"), "--csv", place.file("f.csv")});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  auto const document = json::parse(content_of(place.file("f.json")));
  auto const table = table_lines(result.out);
  auto const csv = csv_lines(content_of(place.file("f.csv")));
  ASSERT_EQ(table.size(), document["rows"].size());
  ASSERT_EQ(csv.size(), table.size() + 1);
  std::vector<std::string> const columns{"max_absolute_error", "max_relative_error", "coherence",
                                         "effective_channels", "longest_half_life"};
  for (std::size_t i = 0; i < table.size(); ++i) {
    auto const& row = document["rows"][i];
    ASSERT_EQ(csv[i + 1].size(), csv[0].size());
    EXPECT_EQ(table[i][0], row["spectrum"]);
    EXPECT_EQ(table[i][1], std::to_string(row["channels"].get<int>()));
    EXPECT_EQ(table[i][2], std::to_string(row["last_lag"].get<int>()));
    for (std::size_t j = 0; j < columns.size(); ++j) {
      double const exact = row[columns[j]];
      EXPECT_TRUE(std::isfinite(exact)) << columns[j];
      EXPECT_EQ(csv[0][j + 3], columns[j]);
      EXPECT_EQ(std::stod(csv[i + 1][j + 3]), exact) << columns[j];
      // three digits, four decimals of a coherence, one of a number of channels
      double const rounding = j < 2    ? 0.0051 * exact
                              : j == 2 ? 5.1e-5
                              : j == 3 ? 0.051
                                       : 0.001 * exact;
      EXPECT_NEAR(std::stod(table[i][j + 3]), exact, rounding) << columns[j];
    }
    std::istringstream rates(csv[i + 1][9]);
    std::vector<double> const read{std::istream_iterator<double>(rates),
                                   std::istream_iterator<double>()};
    EXPECT_EQ(csv[0][9], "rates");
    EXPECT_EQ(read, row["rates"].get<std::vector<double>>());
    EXPECT_EQ(row["rates"].size(), row["channels"]);
    EXPECT_EQ(row["weights"].size(), row["channels"]);
  }
  auto const& law = document["measured"]["power_law"];
  EXPECT_LT(law["low"], law["exponent"]);
  EXPECT_LT(law["exponent"], law["high"]);
  for (auto const& lag : document["measured"]["lags"]) {
    for (auto const& [name, value] : lag.items()) EXPECT_FALSE(value.is_null()) << name;
  }
}

TEST(WaneSpectra, SaysTheSameTwiceAndWithAnyNumberOfThreads) {
  scratch const place;
  std::string const text = place.write("a.txt", renewal{}.text(30'000, 4, 2));
  auto const with = [&](std::string const& threads, std::string const& seed) {
    std::string const file = place.file(threads + seed);
    auto const result = spectra({"--text", text, "--channels", "4,6", "--threads", threads,
                                 "--seed", seed, "--json", file});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out + content_of(file);
  };
  std::string const once = with("1", "7");
  EXPECT_EQ(once, with("1", "7"));
  EXPECT_EQ(once, with("3", "7"));
  EXPECT_NE(once, with("1", "8"));
}

TEST(WaneSpectra, MeasuresASeries) {
  scratch const place;
  std::string csv = "when,load\n";
  auto const values = renewal{}.series(50'000, 3);
  for (std::size_t i = 0; i < values.size(); ++i) {
    csv += std::to_string(i) + "," + std::to_string(values[i]) + "\r\n";
  }
  std::string const file = place.write("s.csv", csv);
  auto const result = spectra({"--series", file, "--column", "load", "--channels", "8", "--json",
                               place.file("f.json"), "--fit-to", "law"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const document = json::parse(content_of(place.file("f.json")));
  EXPECT_EQ(document["measured"]["size"], 50'000);
  EXPECT_EQ(document["horizon"], 5000);
  EXPECT_NEAR(document["measured"]["power_law"]["exponent"], 0.7, 0.25);
  EXPECT_EQ(document["measured"]["column"], "load");
  EXPECT_NE(result.out.find("autocorrelation of '" + file + "', column 'load', lags 1 to"),
            std::string::npos);
}

TEST(WaneSpectra, FindsTheFewestExponentialsOfAnAccuracy) {
  scratch const place;
  auto const result =
      spectra({"--kernel", "gl:0.5", "--horizon", "1e6", "--metric", "relative", "--channels", "8",
               "--spectra", "soe", "--accuracy", "1e-3", "--json", place.file("f.json")});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("minimax"), std::string::npos);
  auto const document = json::parse(content_of(place.file("f.json")));
  EXPECT_EQ(document["accuracy"], 1e-3);
  std::map<std::string, int> terms;
  for (auto const& sum : document["sums"]) {
    EXPECT_LE(sum["certified_relative_error"], 1e-3);
    EXPECT_EQ(sum["rates"].size(), sum["terms"]);
    terms[sum["construction"]] = sum["terms"];
  }
  EXPECT_LE(terms["closed-form"], 15);
  EXPECT_LE(terms["minimax"], 12);
  // Eight free rates: 1.4e-2, as in the tests of the sums.
  EXPECT_NEAR(document["rows"][0]["max_relative_error"], 1.4e-2, 1e-3);
}

// Of the lags above the noise alone; noise is out of reach.
TEST(WaneSpectra, FindsTheFewestExponentialsOfData) {
  scratch const place;
  std::string csv;
  for (double const x : renewal{}.series(50'000, 3)) csv += std::to_string(x) + "\n";
  std::string const file = place.write("s.csv", csv);
  std::vector<std::string> arguments{
      "--series", file, "--channels", "8", "--json", place.file("f.json"), "--accuracy", "0.2"};
  auto const result = spectra(arguments);
  ASSERT_EQ(result.status, 0) << result.err;
  auto const document = json::parse(content_of(place.file("f.json")));
  ASSERT_EQ(document["sums"].size(), 1u);
  auto const& sum = document["sums"][0];
  EXPECT_EQ(sum["construction"], "samples");
  EXPECT_LE(sum["certified_absolute_error"], 0.2);
  std::int64_t used = 0;
  for (auto const& lag : document["measured"]["lags"]) used += lag["used"] ? 1 : 0;
  EXPECT_EQ(sum["lags_evaluated"], used);
  EXPECT_TRUE(sum["samples_only"]);
  arguments.back() = "1e-9";
  auto const refused = spectra(arguments);
  EXPECT_EQ(refused.status, 0);
  EXPECT_NE(refused.out.find("samples: accuracy"), std::string::npos) << refused.out;
  auto const again = json::parse(content_of(place.file("f.json")));
  EXPECT_NE(std::string(again["sums"][0]["refusal"]).find("out of reach"), std::string::npos);
}

// An AR(1) under noise: a power law through it has an exponent, and describes nothing.
TEST(WaneSpectra, SaysWhichFormDescribesTheDataAndWhichRatesToTake) {
  scratch const place;
  std::string csv;
  auto const noise = white_noise(20'000, 2);
  auto const fading = first_order_series(noise.size(), 0.95, 1);
  for (std::size_t i = 0; i < noise.size(); ++i)
    csv += std::to_string(fading[i] + 0.7 * noise[i]) + "\n";
  auto const result = spectra({"--series", place.write("s.csv", csv), "--channels", "2,8",
                               "--spectra", "geometric,retnet", "--rates", "--json",
                               place.file("f.json"), "--plot", place.file("p.svg")});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const has = [&](std::string const& words) {
    return result.out.find(words) != std::string::npos;
  };
  EXPECT_TRUE(has("One exponential describes these lags; a power law does not.")) << result.out;
  EXPECT_TRUE(has("the fewest rates are this one, with positive weights")) << result.out;
  EXPECT_TRUE(has("rates per step\ngeometric, 2 channels")) << result.out;
  auto const document = json::parse(content_of(place.file("f.json")));
  auto const& forms = document["measured"]["forms"];
  EXPECT_EQ(forms[0]["describes"], false);
  EXPECT_EQ(forms[1]["describes"], true);
  double const rate = -std::log(0.95);
  EXPECT_NEAR(forms[1]["rates"][0], rate, 0.1 * rate);
  ASSERT_EQ(document["fewest"]["rates"].size(), 1u);
  EXPECT_NEAR(document["fewest"]["rates"][0], rate, 0.2 * rate);
  for (auto const& row : document["rows"]) {  // what cancels is not advised
    if (row["spectrum"] == document["advised"]["spectrum"] &&
        row["channels"] == document["advised"]["channels"]) {
      EXPECT_LE(row["sum_of_weights"], 100);
    }
  }
  if (result.err.empty()) {
    EXPECT_NE(content_of(place.file("p.svg")).find("no rank below"), std::string::npos);
  }
}

// Of a kernel in closed form: the fewest channels within 1 %.
TEST(WaneSpectra, AdvisesRatesForAKernel) {
  scratch const place;
  auto const result = spectra({"--kernel", "power:0.5", "--horizon", "10000", "--spectra",
                               "geometric,geometric-best", "--json", place.file("f.json")});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const document = json::parse(content_of(place.file("f.json")));
  EXPECT_EQ(document["advised"]["spectrum"], "geometric-best");
  EXPECT_EQ(document["advised"]["channels"], 8);
  EXPECT_NE(result.out.find("For lags 1 to 10000 take these 8 rates, of geometric-best"),
            std::string::npos)
      << result.out;
}

TEST(WaneSpectra, DrawsAPictureWhoseTextIsItsOwn) {
  scratch const place;
  std::string const text =
      place.write("it's \"$(touch x)\" `y` %s {_a}^b.txt", renewal{}.text(30'000, 4, 4));
  std::string const picture = place.file("pic 'of' \"it\".svg");
  auto const result =
      spectra({"--text", text, "--channels", "4,8", "--plot", picture, "--csv", place.file("c")});
  ASSERT_EQ(result.status, 0) << result.err;
  if (!result.err.empty()) GTEST_SKIP() << "no picture: " << result.err;
  std::string const svg = content_of(picture);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_NE(svg.find("$(touch x)"), std::string::npos);
  EXPECT_NE(svg.find("{_a}^b.txt"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists("x"));
}

// Every row passes through every lag: no error is left to draw.
TEST(WaneSpectra, DrawsAPictureOfAsManyLagsAsChannels) {
  scratch const place;
  for (std::string const horizon : {"2", "8"}) {
    std::string const picture = place.file("p" + horizon + ".svg");
    auto const result = spectra({"--kernel", "power:0.5", "--horizon", horizon, "--plot", picture});
    ASSERT_EQ(result.status, 0) << result.err;
    if (!result.err.empty()) GTEST_SKIP() << "no picture: " << result.err;
    EXPECT_NE(content_of(picture).find("no error to show"), std::string::npos);
  }
}

TEST(WaneSpectra, SaysSoWhereThereIsNoGnuplot) {
  scratch const place;
  std::string const picture = place.file("p.svg");
  auto const result = run(WANE_SPECTRA,
                          {"--kernel", "power:1", "--horizon", "100", "--channels", "2",
                           "--spectra", "geometric", "--plot", picture},
                          {"PATH=/nonexistent"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.error_lines(), 1) << result.err;
  EXPECT_FALSE(std::filesystem::exists(picture));
  EXPECT_EQ(csv_lines(content_of(picture + ".csv")).size(), 2u);
}

TEST(WaneSpectra, TeachesInItsHelp) {
  auto const help = spectra({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.err, "");
  for (char const* const word : {"--kernel", "power:0.5", "geometric-wide", "coherence",
                                 "confidence", "--series", "Exit status"}) {
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
  }
  std::istringstream lines(help.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

#if defined(NDEBUG) && !defined(WANE_ADDRESS_SANITIZER) && !defined(__SANITIZE_THREAD__)
constexpr bool optimised = true;
#else
constexpr bool optimised = false;
#endif

// Processor time of the programs run so far, which other work on the machine does not change.
double seconds_of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// Four megabytes of English: a law within the time a person waits.
TEST(WaneSpectra, ReadsTheKingJamesBible) {
  std::string const text = WANE_SOURCE_DIR "/../shared/data/kjv.txt";
  if (!std::filesystem::exists(text)) GTEST_SKIP() << "no " << text;
  scratch const place;
  double const before = seconds_of_children();
  auto const result = spectra({"--text", text, "--json", place.file("f.json")});
  double const time = seconds_of_children() - before;
  ASSERT_EQ(result.status, 0) << result.err;
  auto const measured = json::parse(content_of(place.file("f.json")))["measured"];
  EXPECT_EQ(measured["size"], 4'137'850);
  EXPECT_NEAR(measured["lags"][0]["estimate"], 0.7626, 1e-3);  // nats between neighbouring bytes
  EXPECT_GT(measured["power_law"]["low"], 0.5);
  EXPECT_LT(measured["power_law"]["high"], 2.5);
  EXPECT_GE(measured["power_law"]["lags_used"], 30);
  if (optimised) {
    EXPECT_LT(time, 40) << "20 s on two cores";
  }
}

// Its first 300000 bytes: most of the information is in the first eight symbols, and from 16
// symbols on every octave holds some 0.02 bits (0.01 in the whole text).
TEST(WaneSpectra, MeasuresTheOctavesOfTheKingJamesBible) {
  std::string const whole = WANE_SOURCE_DIR "/../shared/data/kjv.txt";
  if (!std::filesystem::exists(whole)) GTEST_SKIP() << "no " << whole;
  scratch const place;
  std::string const text = place.write("kjv", content_of(whole).substr(0, 300'000));
  auto const result = spectra({"--octaves", "--text", text, "--json", place.file("f.json"), "--csv",
                               place.file("f.csv"), "--plot", place.file("f.svg")});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const found = json::parse(content_of(place.file("f.json")))["predictive_information"];
  auto const csv = csv_lines(content_of(place.file("f.csv")));
  ASSERT_EQ(csv.size(), found["octaves"].size() + 2);
  double near = 0, far = 0;
  for (std::size_t i = 0; i < found["octaves"].size(); ++i) {
    auto const& octave = found["octaves"][i];
    double const j = octave["information"];
    EXPECT_EQ(octave["window"], 2 << i);
    EXPECT_EQ(std::stod(csv[i + 2][4]), j);
    (octave["sigma"] < 8 ? near : far) += j;
  }
  EXPECT_GT(near, 1.4);
  EXPECT_GT(far, 0.1);
  EXPECT_LT(far, 0.4);
  auto const& conditions = found["conditions"];
  EXPECT_GT(conditions["equipartition"]["slack"], 0.9);
  EXPECT_FALSE(conditions["equipartition"]["says_something"]);
  EXPECT_FALSE(conditions["hierarchical_stationarity"]["holds"]);
  EXPECT_NE(result.out.find("3.5, equipartition: J0"), std::string::npos) << result.out;
}

TEST(WaneSpectra, SaysTheSameOfOctavesTwice) {
  scratch const place;
  std::string const text = place.write("a.txt", renewal{}.text(20'000, 4, 2));
  auto const once = spectra({"--text", text, "--octaves", "--threads", "1", "--horizon", "100"});
  auto const again = spectra({"--text", text, "--octaves", "--threads", "3", "--horizon", "100"});
  ASSERT_EQ(once.status, 0) << once.err;
  EXPECT_EQ(once.out, again.out);
  EXPECT_NE(once.out.find("\n32-64 "), std::string::npos) << once.out;
  EXPECT_EQ(once.out.find("\n64-128 "), std::string::npos) << once.out;
}

}  // namespace
}  // namespace wane::bench
