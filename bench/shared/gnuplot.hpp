// A drawing handed to gnuplot, with no shell and no file name in the script.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include "shared/input.hpp"

namespace wane::bench {

// A gnuplot string constant that shows `text` as it is: single quotes doubled, nothing that ends
// the line. Enhanced text must be off where it is used.
inline std::string gnuplot_string(std::string const& text) {
  std::string result = "'";
  for (char const c : printable(text)) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

inline std::string data_block(std::string const& name, std::string const& lines) {
  return "$" + name + " << END_OF_DATA\n" + lines + "END_OF_DATA\n";
}

// Runs `program` with the script as its standard input and the file as its standard output.
// False when there is no such program; throws when it fails.
inline bool draw(std::string const& script, std::string const& file,
                 std::string const& program = "gnuplot") {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const input(std::tmpfile(), std::fclose);
  if (!input || std::fwrite(script.data(), 1, script.size(), input.get()) != script.size() ||
      std::fflush(input.get()) != 0 || lseek(fileno(input.get()), 0, SEEK_SET) != 0) {
    throw std::runtime_error("no temporary file for gnuplot could be written");
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, fileno(input.get()), STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, file.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = program;
  char* arguments[] = {name.data(), nullptr};
  pid_t child = 0;
  bool const existed = std::filesystem::exists(file);
  int const problem = posix_spawnp(&child, program.c_str(), &files, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  std::error_code none;
  if (problem == ENOENT) {
    if (!existed) std::filesystem::remove(file, none);
    return false;
  }
  int status = problem;
  if (problem == 0) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (status != 0) {
    std::filesystem::remove(file, none);
    throw std::runtime_error(program + " failed to draw " + in_quotes(file));
  }
  return true;
}

}  // namespace wane::bench
