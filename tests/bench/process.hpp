// Runs a program and gathers its exit status, stdout and stderr.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace wane::bench {

// A directory of its own, removed at the end.
class scratch {
 public:
  scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "wane-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  scratch(scratch const&) = delete;
  scratch& operator=(scratch const&) = delete;
  ~scratch() { std::filesystem::remove_all(path_); }

  std::string file(std::string const& name) const { return (path_ / name).string(); }

  std::string write(std::string const& name, std::string const& content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct outcome {
  int status = -1;  // exit status; 128 + signal if killed
  std::string out, err;

  std::ptrdiff_t error_lines() const { return std::count(err.begin(), err.end(), '\n'); }
};

// `environment`: all NAME=value of the child; empty: the parent's own.
inline outcome run(std::string const& program, std::vector<std::string> arguments,
                   std::vector<std::string> environment = {}) {
  scratch const place;
  std::string const out = place.file("out"), err = place.file("err");
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv, envp;
  for (auto& argument : arguments) argv.push_back(argument.data());
  for (auto& variable : environment) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t child = 0;
  int const problem = posix_spawn(&child, program.c_str(), &files, nullptr, argv.data(),
                                  environment.empty() ? environ : envp.data());
  posix_spawn_file_actions_destroy(&files);
  if (problem != 0) throw std::runtime_error("cannot run " + program);
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(out),
          content_of(err)};
}

}  // namespace wane::bench
