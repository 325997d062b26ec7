// JSON is what nlohmann-json takes for it, with the same values, but for what wane refuses beyond.
// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "fuzz/input.hpp"
#include "wane/files/json.hpp"

namespace {

using namespace wane::impl;
using other = nlohmann::json;

constexpr json_limits most{.depth = 6, .elements = 12};

// Whether a document passes a limit of wane's, or names a member twice. nlohmann-json keeps the
// last of two members, so names are counted while it reads.
class beyond : public nlohmann::json_sax<other> {
 public:
  bool found = false;

  bool null() override { return element(); }
  bool boolean(bool) override { return element(); }
  bool number_integer(number_integer_t) override { return element(); }
  bool number_unsigned(number_unsigned_t) override { return element(); }
  bool number_float(number_float_t, string_t const&) override { return element(); }
  bool string(string_t&) override { return element(); }
  bool binary(binary_t&) override { return element(); }
  bool start_object(std::size_t) override { return begin(false); }
  bool start_array(std::size_t) override { return begin(true); }
  bool end_object() override { return levels_.pop_back(), true; }
  bool end_array() override { return levels_.pop_back(), true; }
  bool key(string_t& name) override {
    auto& names = levels_.back().names;
    found |= std::ranges::find(names, name) != names.end();
    names.push_back(name);
    return true;
  }
  bool parse_error(std::size_t, std::string const&, other::exception const&) override {
    return false;
  }

 private:
  struct level {
    bool array;
    std::size_t elements = 0;
    std::vector<std::string> names = {};
  };
  bool element() {
    if (!levels_.empty() && levels_.back().array)
      found |= ++levels_.back().elements > most.elements;
    return true;
  }
  bool begin(bool array) {
    element();
    levels_.push_back({array});
    found |= levels_.size() > most.depth;
    return true;
  }
  std::vector<level> levels_;
};

bool same(json_value const& ours, other const& theirs) {
  if (ours.as<json_null>()) return theirs.is_null();
  if (auto const* x = ours.as<bool>()) return theirs.is_boolean() && theirs.get<bool>() == *x;
  if (auto const* x = ours.as<std::string>())
    return theirs.is_string() && theirs.get<std::string>() == *x;
  if (auto const* x = ours.as<json_number>()) {
    bool const whole = theirs.is_number_unsigned() && theirs.get<std::uint64_t>() <= INT64_MAX;
    if (!theirs.is_number() || x->whole.has_value() != whole) return false;
    return !whole || theirs.get<std::int64_t>() == *x->whole;
  }
  if (auto const* x = ours.as<json_array>()) {
    if (!theirs.is_array() || theirs.size() != x->size()) return false;
    for (std::size_t i = 0; i < x->size(); ++i)
      if (!same((*x)[i], theirs[i])) return false;
    return true;
  }
  auto const& members = *ours.as<json_object>();
  if (!theirs.is_object() || theirs.size() != members.size()) return false;
  for (auto const& [name, value] : members)
    if (!theirs.contains(name) || !same(value, theirs[name])) return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text(reinterpret_cast<char const*>(data), size);
  json_value ours;
  bool const taken = fuzz::takes([&] { ours = json_parser(text, most, "file ").document(); });
  // nlohmann-json skips a mark of the byte order, and takes a zero for the end.
  if (text.starts_with("\xef\xbb\xbf") || text.find('\0') != text.npos) {
    fuzz::must(!taken, "a zero byte or a mark of the byte order is JSON");
    return 0;
  }
  // It throws for a number too large for a double, which is JSON, so nothing is compared.
  other theirs;
  bool valid = true;
  try {
    theirs = other::parse(text);
  } catch (other::out_of_range const&) {
    return 0;
  } catch (other::parse_error const&) {
    valid = false;
  }
  fuzz::must(valid || !taken, "what is no JSON is taken");
  if (!valid) return 0;
  beyond limits;
  other::sax_parse(text, &limits);
  fuzz::must(taken == !limits.found, limits.found ? "a limit is passed" : "JSON is refused");
  if (!taken) return 0;
  fuzz::must(same(ours, theirs), "a value is another");
  if (auto const* x = ours.as<std::string>())
    fuzz::must(*json_parser(json_string(*x), most, "").document().as<std::string>() == *x,
               "a string changes where it is written and read again");
  return 0;
}
