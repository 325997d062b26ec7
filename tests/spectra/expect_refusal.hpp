// Expects wane::error whose message holds every given piece of text.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "wane/core/error.hpp"

template <class Call>
void expect_refusal(Call const& call, std::initializer_list<char const*> pieces) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (wane::error const& refusal) {
    std::string const message = refusal.what();
    for (char const* piece : pieces)
      EXPECT_NE(message.find(piece), std::string::npos) << "no '" << piece << "' in: " << message;
  }
}
