// A column of a CSV file: separators, decimal commas, headings and line ends.
// SPDX-License-Identifier: MIT
#include "spectra/series.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace wane::bench {
namespace {

using numbers = std::vector<double>;

numbers column(std::string const& content, std::string const& wanted = "") {
  return series_in(content, wanted, "file").values;
}
// The message of the refusal.
std::string refusal(std::string const& content, std::string const& wanted = "") {
  try {
    column(content, wanted);
  } catch (input_error const& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Series, MayBePartedBySemicolonsTabsOrCommas) {
  for (std::string const by : {";", "\t", ","}) {
    std::string const content = "x" + by + "n\n1.5" + by + "1\n2.5" + by + "2\n";
    EXPECT_EQ(column(content, "x"), (numbers{1.5, 2.5}));
    EXPECT_EQ(column(content, "2"), (numbers{1, 2}));
  }
  EXPECT_EQ(column("\"a; b\",n\n1,2\n", "a; b"), numbers{1});
  EXPECT_EQ(column("load; kW,n\n1,2\n", "n"), numbers{2});
}

TEST(Series, MayHaveDecimalCommasBetweenSemicolons) {
  EXPECT_EQ(column("x;n\n1,29;1\n-3;2\n1,5e3;3\n", "x"), (numbers{1.29, -3, 1500}));
  EXPECT_EQ(column("1,29;1\n1,28;2\n", "1"), (numbers{1.29, 1.28}));
  EXPECT_EQ(column("x;n\n1.29;1,5\n", "x"), numbers{1.29});
  EXPECT_NE(refusal("x;n\n1,29;1\n1.3;1\n", "x").find("line 3: '1.3' has a decimal point"),
            std::string::npos);
  for (std::string const content : {"1.001,29;1", "1,001,290;1", "1.001,29\t1", "1,29\t1"})
    EXPECT_NE(refusal(content, "1").find("is not a finite number; write numbers with a decimal"),
              std::string::npos)
        << content;
}

TEST(Series, MayHaveAHeading) {
  EXPECT_EQ(column("load\n1\n2\n"), (numbers{1, 2}));
  EXPECT_EQ(column("Mon,1\nTue,2\n", "2"), (numbers{1, 2}));
  EXPECT_EQ(column("load,2020\n1,7\n2,8\n", "2020"), (numbers{7, 8}));
  EXPECT_EQ(column("load,2020\n1,7\n2,8\n", "2"), (numbers{7, 8}));
  EXPECT_EQ(column("2nd,load\n1,7\n", "2nd"), numbers{1});
  EXPECT_EQ(column("+1.5e0\n2\n"), (numbers{1.5, 2}));
  for (std::string const first : {"1e-400", "1e400", "5.2\xC2\xA0",
                                  "\xC2\xA0"
                                  "5.2",
                                  "\xE2\x88\x92"
                                  "5.2",
                                  "2nd"})
    EXPECT_NE(refusal(first + "\n1\n").find("line 1: "), std::string::npos) << first;
  EXPECT_NE(refusal("a,b,a\n1,2,3\n", "a").find("names 2 columns"), std::string::npos);
  EXPECT_EQ(column("a,b,a\n1,2,3\n", "3"), numbers{3});
}

TEST(Series, KnowsTheNameOfItsColumn) {
  auto const name = [](std::string const& content, std::string const& wanted) {
    return series_in(content, wanted, "file").name;
  };
  EXPECT_EQ(name("load,n\n1,2\n", "load"), "load");
  EXPECT_EQ(name("load,n\n1,2\n", "2"), "n");
  EXPECT_EQ(name("1,2\n", "2"), "2");
  EXPECT_EQ(name("1\n", ""), "");
}

TEST(Series, MayEndItsLinesInEveryWay) {
  for (std::string const end : {"\n", "\r\n", "\r"})
    EXPECT_EQ(column("x" + end + "1" + end + "2" + end), (numbers{1, 2})) << end;
  EXPECT_EQ(column("\xEF\xBB\xBFx\n1"), numbers{1});
  EXPECT_NE(refusal("1\n\n2\n").find("line 2: ''"), std::string::npos);
  EXPECT_NE(refusal("x\n\"1\n2\"\n").find("line 2 opens a quote"), std::string::npos);
}

}  // namespace
}  // namespace wane::bench
