// A column of any text is read or refused; what was read is read again from a file of its own.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstring>

#include "fuzz/input.hpp"
#include "shared/number_text.hpp"
#include "spectra/series.hpp"

// The name of a column, a line end, the file.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace wane::bench;
  fuzz::input in(data, size);
  std::string const column = in.until('\n');
  series found;
  if (!fuzz::takes([&] { found = series_in(in.rest(), column, "file"); })) return 0;
  if (found.values.empty()) return 0;
  std::string text;
  for (double const x : found.values) {
    fuzz::must(std::isfinite(x), "a number of a series is not finite");
    text += exact(x) + "\n";
  }
  auto const again = series_in(text, "", "file").values;
  fuzz::must(again.size() == found.values.size() &&
                 std::memcmp(again.data(), found.values.data(), again.size() * sizeof(double)) == 0,
             "a series changes where it is written and read again");
  return 0;
}
