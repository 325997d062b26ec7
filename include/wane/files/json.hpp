// JSON from outside as values (RFC 8259): strict, not deep, no name twice; and strings.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/core/numbers/scalar.hpp"
#include "wane/files/quoted.hpp"
#include "wane/files/utf8.hpp"

namespace wane::impl {

struct json_value;
struct json_member;
using json_array = std::vector<json_value>;
using json_object = std::vector<json_member>;

// A number, which is kept only where it is a whole one from 0 to 2^63 - 1.
struct json_number {
  std::optional<index> whole;
};
struct json_null {};

struct json_value {
  std::variant<json_null, bool, json_number, std::string, json_array, json_object> is;

  // Null where the value is of another kind.
  template <class Kind>
  Kind const* as() const {
    return std::get_if<Kind>(&is);
  }
};
struct json_member {
  std::string name;
  json_value value;
};

// The value of the member `name`; null where there is none.
inline json_value const* member_of(json_object const& object, std::string_view name) {
  auto const found = std::ranges::find(object, name, &json_member::name);
  return found == object.end() ? nullptr : &found->value;
}

// What a document may have: a value in n arrays and objects is n deep. Elements of an array are
// limited because two bytes of text become a value of 40.
struct json_limits {
  std::size_t depth, elements;
};

class json_parser {
 public:
  // Messages begin with `where`.
  json_parser(std::string_view text, json_limits most, std::string where)
      : text_(text), most_(most), where_(std::move(where)) {}

  // Throws wane::error where the text is no JSON, passes a limit, or names a member twice.
  json_value document() {
    require(text_.find('\0') == text_.npos, where_, "has a zero byte, which JSON has not");
    json_value all = value(0);
    skip_space();
    require_sound(at_ == text_.size());
    return all;
  }

 private:
  void require_sound(bool condition) const {
    require(condition, where_, "is not JSON: it goes wrong at byte ", at_);
  }
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view word) {
    bool const is_there = text_.substr(at_).starts_with(word);
    if (is_there) at_ += word.size();
    return is_there;
  }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }

  json_value value(std::size_t depth) {
    skip_space();
    if (take("{")) return {object(depth + 1)};
    if (take("[")) return {array(depth + 1)};
    if (take("\"")) return {string()};
    if (take("true")) return {true};
    if (take("false")) return {false};
    if (take("null")) return {json_null{}};
    return {number()};
  }

  // Calls read() for what stands between commas, up to `close`.
  template <class Read>
  void each_until(std::string_view close, std::size_t depth, Read const& read) {
    require(depth <= most_.depth, where_, "is nested more than ", most_.depth, " deep");
    skip_space();
    if (take(close)) return;
    do {
      read();
      skip_space();
    } while (take(","));
    require_sound(take(close));
  }

  json_array array(std::size_t depth) {
    json_array all;
    each_until("]", depth, [&] {
      require(all.size() < most_.elements, where_, "has an array of more than ", most_.elements,
              " elements");
      all.push_back(value(depth));
    });
    return all;
  }

  json_object object(std::size_t depth) {
    json_object all;
    each_until("}", depth, [&] {
      skip_space();
      require_sound(take("\""));
      std::string name = string();
      skip_space();
      require_sound(take(":"));
      all.push_back({std::move(name), value(depth)});
    });
    require_names_differ(all);
    return all;
  }

  void require_names_differ(json_object const& object) const {
    std::vector<std::string_view> names;
    for (auto const& member : object) names.push_back(member.name);
    std::ranges::sort(names);
    auto const twice = std::ranges::adjacent_find(names);
    require(twice == names.end(), where_, "names ",
            twice == names.end() ? "" : in_quotes(std::string(twice->substr(0, 100))), " twice");
  }

  // The rest of a string, up to its closing quotation mark.
  std::string string() {
    std::string all;
    while (!take("\"")) {
      if (take("\\")) {
        escape(all);
        continue;
      }
      std::size_t const length = utf8_length(text_.substr(at_));
      require_sound(length > 0 && static_cast<unsigned char>(next()) >= 0x20);
      all += text_.substr(at_, length);
      at_ += length;
    }
    return all;
  }

  // What follows a backslash.
  void escape(std::string& to) {
    if (take("u")) {
      append_utf8(to, code_point());
      return;
    }
    constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    auto const which = names.find(next());
    require_sound(which != names.npos);
    to += meanings[which];
    ++at_;
  }

  // Beyond 0xffff a code point is written as two halves of 10 bits.
  std::uint32_t code_point() {
    std::uint32_t const first = four_digits();
    if (first < 0xd800 || first >= 0xe000) return first;
    require_sound(first < 0xdc00 && take("\\u"));
    std::uint32_t const second = four_digits();
    require_sound(second >= 0xdc00 && second < 0xe000);
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
  }
  std::uint32_t four_digits() {
    std::uint32_t found = 0;
    auto const digits = text_.substr(at_, 4);
    auto const [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), found, 16);
    require_sound(problem == std::errc() && end - digits.data() == 4);
    at_ += 4;
    return found;
  }

  json_number number() {
    std::size_t const begin = at_;
    bool whole = !take("-");
    if (!take("0")) take_digits();
    if (take(".")) whole = false, take_digits();
    if (take("e") || take("E")) {
      whole = false;
      if (!take("+")) take("-");
      take_digits();
    }
    if (!whole) return {};
    index found = 0;
    auto const problem = std::from_chars(text_.data() + begin, text_.data() + at_, found).ec;
    return problem == std::errc() ? json_number{found} : json_number{};
  }
  void take_digits() {
    std::size_t const end = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
    require_sound(end > at_);
    at_ = end;
  }

  std::string_view text_;
  json_limits most_;
  std::size_t at_ = 0;
  std::string where_;
};

// Text as a string of JSON.
inline std::string json_string(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string all = "\"";
  for (char const each : text) {
    auto const byte = static_cast<unsigned char>(each);
    if (byte < 0x20) {
      all += std::string("\\u00") + digits[byte >> 4] + digits[byte & 15];
    } else {
      if (each == '"' || each == '\\') all += '\\';
      all += each;
    }
  }
  return all + '"';
}

}  // namespace wane::impl
