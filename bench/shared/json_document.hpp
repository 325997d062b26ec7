// A JSON document from outside: not deep, without doubled names, and nothing behind it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shared/input.hpp"

namespace wane::bench {

// Reads a document without keeping it, and says what is wrong with it.
class json_watch : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit json_watch(std::size_t deepest) : deepest_(deepest) {}

  std::string problem;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, string_t const&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return deeper(); }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_object() override { return names_.pop_back(), true; }
  bool end_array() override { return names_.pop_back(), true; }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second) {
      problem = "names " + in_quotes(name.substr(0, 100)) + " twice";
    }
    return problem.empty();
  }
  bool parse_error(std::size_t byte, std::string const&,
                   nlohmann::json::exception const& error) override {
    problem = dynamic_cast<nlohmann::json::out_of_range const*>(&error)
                  ? "has a number that no double can hold"
                  : "is not JSON: it goes wrong at byte " + std::to_string(byte);
    return false;
  }

 private:
  bool deeper() {
    names_.emplace_back();
    if (names_.size() > deepest_) {
      problem = "is nested more than " + std::to_string(deepest_) + " deep";
    }
    return problem.empty();
  }

  std::size_t deepest_;
  std::vector<std::set<std::string>> names_;  // of the objects around
};

// The document that `text` is. Calls refuse("is not JSON"), which throws, or refuse with another
// predicate, where it is none, has more than `deepest` levels, or names a member twice.
template <class Refuse>
nlohmann::json json_document(std::string_view text, std::size_t deepest, Refuse const& refuse) {
  // The parser takes a zero for the end of the text.
  if (text.find('\0') != text.npos) refuse("has a zero byte, which JSON has not");
  json_watch watch(deepest);
  nlohmann::json::sax_parse(text, &watch);
  if (!watch.problem.empty()) refuse(watch.problem);
  return nlohmann::json::parse(text);
}

}  // namespace wane::bench
