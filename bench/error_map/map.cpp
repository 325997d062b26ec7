// Measures the cells of the map.
// SPDX-License-Identifier: MIT
#include "error_map/map.hpp"

#include <bit>
#include <cmath>

#include "error_map/inputs.hpp"
#include "shared/fnv.hpp"
#include "shared/larger.hpp"
#include "shared/number_text.hpp"

namespace wane::bench {
namespace {

// What the rounding of an output to its type may take or add: half a unit of its last place, for a
// bfloat16 of 8 bits. A float output is the number that was computed.
double rounding_of(io_type io, float y) {
  return io == io_type::float32 || y == 0 ? 0 : std::ldexp(1., std::ilogb(y) - 8);
}

// Of the outputs of tokens [begin, end): the largest difference, but for the rounding of outputs to
// 16 bits, over the largest right output.
double error_in(io_type io, std::vector<float> const& is, std::vector<double> const& should_be,
                std::size_t begin, std::size_t end) {
  double difference = 0, largest = 0;
  for (std::size_t i = begin; i < end; ++i) {
    difference =
        larger(difference, std::abs(double(is[i]) - should_be[i]) - rounding_of(io, is[i]));
    largest = larger(largest, std::abs(should_be[i]));
  }
  return difference == 0 ? 0 : difference / largest;
}

std::string text_of_decay(map_cell const& of) {
  return of.has_decay ? "log decay " + exact(of.log_decay) : "decays of its own";
}
std::string text_of_cut(index chunk) {
  return chunk == 0 ? "whole" : chunk == 1 ? "step" : "pieces of " + std::to_string(chunk);
}

}  // namespace

std::string text_of(map_cell const& of) {
  return of.name + ", " + name_of(of.io) + ", T " + std::to_string(of.tokens) + ", " +
         text_of_decay(of) + ", " + text_of_cut(of.chunk) + ": error " +
         formatted("%.3g", of.error) + ", bound " + formatted("%.3g", of.bound);
}

std::vector<index> lengths(index most) {
  std::vector<index> found;
  for (index tokens = 1; tokens < most; tokens *= 4) found.push_back(tokens);
  found.push_back(most);
  return found;
}

std::vector<double> log_decays_of(mapped_operator const& of) {
  if (of.takes == takes_decays::none) return {0};
  // Decays of 1, 1 - 1e-9, 1 - 1e-6, 1 - 1e-3, 0.9, 0.1 and 0.
  std::vector<double> found{0, -1e-9, -1e-6, -1e-3, std::log(0.9), std::log(0.1)};
  if (of.takes == takes_decays::all) found.push_back(-std::numeric_limits<double>::infinity());
  return found;
}

std::vector<map_cell> cells_of(mapped_operator const& of, io_type io, double log_decay,
                               index most_tokens, double allowance) {
  std::vector<double> const should_be = of.reference(io, most_tokens, log_decay);
  auto const width = should_be.size() / static_cast<std::size_t>(most_tokens);
  std::vector<index> const all = lengths(most_tokens);
  std::vector<map_cell> cells;
  // Outputs since the length before: so early ones do not hide what comes late.
  auto const add = [&](std::size_t n, index chunk, std::vector<float> const& is) {
    index const begin = n == 0 ? 0 : all[n - 1];
    double const error = error_in(io, is, should_be, static_cast<std::size_t>(begin) * width,
                                  static_cast<std::size_t>(all[n]) * width);
    cells.push_back({of.name, io, all[n], log_decay, of.takes != takes_decays::none, chunk, error,
                     allowance * bound_of(of.growth, all[n], log_decay, io == io_type::bfloat16)});
  };
  for (std::size_t n = 0; n < all.size(); ++n) add(n, 0, of.outputs(io, all[n], log_decay, 0));
  // A shorter run is the beginning of the longest, because pieces divide its length.
  for (index const chunk : {64, 4, 1}) {
    if (chunk > most_tokens) continue;
    auto const is = of.outputs(io, most_tokens, log_decay, chunk);
    for (std::size_t n = 0; n < all.size(); ++n)
      if (all[n] > chunk) add(n, chunk, is);
  }
  return cells;
}

std::uint64_t bits_of(mapped_operator const& of, io_type io, index tokens, double log_decay,
                      index chunk) {
  std::vector<std::uint32_t> bits;
  for (float const y : of.outputs(io, tokens, log_decay, chunk))
    bits.push_back(std::bit_cast<std::uint32_t>(y));
  return fnv_1a(bits);
}

std::vector<mapped_operator> all_operators() {
  std::vector<mapped_operator> all;
  for (auto const& part :
       {channel_operators(), order_operators(), gated_operators(), scanning_operators(),
        erasing_operators(), leading_operators(), solving_operators()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace wane::bench
