// draw: examples of a task from random bits.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "recall/tasks/task.hpp"
#include "shared/random.hpp"
#include "wane/spectra/rates/random.hpp"

namespace wane::recall::impl {

inline int below(std::int64_t n, bench::random_bits& bits) {
  return static_cast<int>(bench::below(bits, static_cast<std::uint64_t>(n)));
}
// first, first + 1, ..., in a random order.
inline std::vector<int> shuffled(int count, int first, bench::random_bits& bits) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), first);
  bench::shuffle(std::span(all), bits);
  return all;
}

// A sequence in the making: separators, and no questions.
struct sequence {
  std::span<int> tokens, answers;

  void ask(index at, int answer) { answers[static_cast<std::size_t>(at)] = answer; }
  int& operator[](index at) { return tokens[static_cast<std::size_t>(at)]; }
};

inline void draw_pairs(task const& of, sequence to, bench::random_bits& bits) {
  auto const key = shuffled(of.keys, of.first_key, bits), order = shuffled(of.pairs, 0, bits);
  std::vector<int> value;
  for (int p = 0; p < of.pairs; ++p) {
    value.push_back(of.first_key == 0 ? of.keys + below(of.separator() - of.keys, bits)
                                      : below(of.separator(), bits));
    to[2 * p] = key[static_cast<std::size_t>(p)], to[2 * p + 1] = value.back();
  }
  for (int p = 0; p < of.pairs; ++p) {
    auto const asked = static_cast<std::size_t>(order[static_cast<std::size_t>(p)]);
    index const at = of.time - of.pairs + p;
    to[at] = key[asked], to.ask(at, value[asked]);
  }
}

inline void draw_copy(task const& of, sequence to, bench::random_bits& bits) {
  index const length = (of.time - 1) / 2;
  for (index t = 0; t < length; ++t) to[t] = below(of.separator(), bits);
  for (index t = 0; t < length; ++t) {  // the separator asks for the first symbol
    to.ask(length + t, to[t]);
    if (length + 1 + t < of.time) to[length + 1 + t] = to[t];
  }
}

inline void fill(task const& of, sequence to, bench::random_bits& bits) {
  int const first = of.keys + task::labels;
  for (int& token : to.tokens) token = first + below(of.separator() - first, bits);
}

// Places are pairs of tokens. A lag is measured from the label to the question.
inline void draw_zipf(task const& of, sequence to, bench::random_bits& bits) {
  fill(of, to, bits);
  index const places = of.time / 2;
  std::vector<bool> taken(static_cast<std::size_t>(places));
  auto const key = shuffled(of.keys, 0, bits);
  // The integral of lag^-exponent from 1, and its inverse.
  double const power = 1 - of.exponent;
  auto const weight = [=](double lag) {
    return power == 0 ? std::log(lag) : (std::pow(lag, power) - 1) / power;
  };
  double const least = weight(static_cast<double>(std::max<index>(of.least_lag, 1))),
               most = weight(static_cast<double>(std::min(of.most_lag, of.time - 2)));
  for (int p = 0; p < of.pairs; ++p)
    for (;;) {
      double const u = least + spectra::unit_uniform(bits) * (most - least);
      double const lag = power == 0 ? std::exp(u) : std::pow(1 + u * power, 1 / power);
      auto const apart = static_cast<index>(std::max(1., std::round((lag + 1) / 2)));
      if (apart >= places) continue;
      index const from = below(places - apart, bits), question = from + apart;
      auto const free = [&](index place) { return !taken[static_cast<std::size_t>(place)]; };
      if (!of.asks_at(2 * apart - 1) || !free(from) || !free(question)) continue;
      taken[static_cast<std::size_t>(from)] = taken[static_cast<std::size_t>(question)] = true;
      int const label = of.keys + below(task::labels, bits);
      to[2 * from] = to[2 * question] = key[static_cast<std::size_t>(p)];
      to[2 * from + 1] = label;
      to.ask(2 * question, label);
      break;
    }
}

inline void draw_labels(task const& of, sequence to, bench::random_bits& bits) {
  fill(of, to, bits);
  auto const key = shuffled(of.keys, 0, bits);
  auto places = shuffled(static_cast<int>(of.time / 2), 0, bits);
  places.resize(static_cast<std::size_t>(of.mentions));
  std::sort(places.begin(), places.end());
  struct first_mention {
    index at = -1;
    int label = 0;
  };
  std::vector<first_mention> first(static_cast<std::size_t>(of.pairs));
  for (index const place : places) {
    auto const which = static_cast<std::size_t>(below(of.pairs, bits));
    to[2 * place] = key[which];
    if (auto& f = first[which]; f.at < 0) {
      f = {2 * place + 1, of.keys + below(task::labels, bits)};
      to[f.at] = f.label;
    } else if (of.asks_at(2 * place - f.at)) {
      to.ask(2 * place, f.label);
    }
  }
}

// Permutations of 0, 1, 2, numbered; the product applies the newest last.
inline void draw_products(task const& of, sequence to, bench::random_bits& bits) {
  static constexpr std::array<std::array<int, 3>, 6> permutations{
      {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}}};
  bool const parity = of.name == "parity";
  int product = 0;
  for (index t = 0; t < of.time; ++t) {
    auto const newest = static_cast<std::size_t>(to[t] = below(parity ? 2 : 6, bits));
    if (parity) {
      product ^= to[t];
    } else {
      auto const &now = permutations[static_cast<std::size_t>(product)],
                 &next = permutations[newest];
      std::array<int, 3> const both{next[static_cast<std::size_t>(now[0])],
                                    next[static_cast<std::size_t>(now[1])],
                                    next[static_cast<std::size_t>(now[2])]};
      product = static_cast<int>(std::find(permutations.begin(), permutations.end(), both) -
                                 permutations.begin());
    }
    to.ask(t, product);
  }
}

inline void draw_text(task const& of, sequence to, bench::random_bits& bits) {
  auto const& prose = *of.prose;
  auto const begin = static_cast<std::size_t>(below(std::ssize(prose) - of.time, bits));
  for (index t = 0; t < of.time; ++t) {
    to[t] = prose[begin + static_cast<std::size_t>(t)];
    if (of.asks_at(t)) to.ask(t, prose[begin + static_cast<std::size_t>(t) + 1]);
  }
}

}  // namespace wane::recall::impl

namespace wane::recall {

inline examples draw(task const& of, index batch, bench::random_bits& bits) {
  auto const count = static_cast<std::size_t>(batch * of.time);
  examples all{batch, of.time, std::vector<int>(count, of.separator()),
               std::vector<int>(count, -1)};
  auto const draw_one = of.name == "copy"     ? impl::draw_copy
                        : of.name == "zipf"   ? impl::draw_zipf
                        : of.name == "labels" ? impl::draw_labels
                        : of.name == "text"   ? impl::draw_text
                        : of.name == "mqar"   ? impl::draw_pairs
                                              : impl::draw_products;
  for (index b = 0; b < batch; ++b) {
    auto const own = [&](std::vector<int>& of_all) {
      return std::span(of_all).subspan(static_cast<std::size_t>(b * of.time),
                                       static_cast<std::size_t>(of.time));
    };
    draw_one(of, {own(all.tokens), own(all.answers)}, bits);
  }
  return all;
}

}  // namespace wane::recall
