// expect_to_hold: what the law kit found, as expectations.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wane/testing/laws.hpp"

namespace support {

// `of` says of what, before the name of a law that is broken.
inline void expect_to_hold(std::vector<wane::testing::law_result> const& results,
                           std::string const& of = "") {
  for (wane::testing::law_result const& r : results)
    EXPECT_TRUE(r.holds()) << of << r.law << ": error " << r.error << ", bound " << r.bound;
}

}  // namespace support
