// Expects wane::error whose message holds every given piece of text.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wane/core/error.hpp"

namespace support {

template <class Call>
void expect_error(std::vector<std::string> const& pieces, Call const& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown; expected an error about " << pieces.front();
  } catch (wane::error const& refusal) {
    std::string const message = refusal.what();
    for (std::string const& piece : pieces)
      EXPECT_NE(message.find(piece), std::string::npos) << "no '" << piece << "' in: " << message;
  } catch (std::exception const& other) {
    ADD_FAILURE() << "not a wane::error but: " << other.what();
  }
}

}  // namespace support
