// From the command line of a program to its exit status.
// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "shared/input.hpp"

namespace wane::bench {

// False if help was requested and has been printed. Throws input_error.
inline bool parse(CLI::App& app, int argc, char const* const* argv) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (CLI::CallForHelp const& help) {
    app.exit(help);
    return false;
  } catch (CLI::ParseError const& problem) {
    throw input_error(problem.what());
  }
}

// What `body` returns; 2 for an input_error, 1 for other trouble, each with one line on stderr.
template <class Body>
int exit_status(char const* program, Body const& body) {
  auto const fail = [&](std::exception const& problem, int status) {
    std::fprintf(stderr, "%s: %s\n", program, printable(problem.what()).c_str());
    return status;
  };
  try {
    return body();
  } catch (input_error const& problem) {
    return fail(problem, 2);
  } catch (std::exception const& problem) {
    return fail(problem, 1);
  }
}

}  // namespace wane::bench
