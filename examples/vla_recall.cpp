// Associative recall: n pairs are told once, and each key is asked for at the end. How many values
// come back out of a state of 32 x 32 numbers, as n passes 32, in the memories of wane and out of
// softmax attention, which keeps everything.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "wane/operators/delta_net.hpp"
#include "wane/operators/feature_maps.hpp"
#include "wane/operators/linear_attention.hpp"
#include "wane/operators/softmax_attention.hpp"
#include "wane/operators/vla.hpp"
#include "wane/run/attention/attend.hpp"
#include "wane/run/run.hpp"

namespace {

using wane::index;
using wane::write_rule;

constexpr index width = 32, words = 128, seeds = 60;

// The pairs of all seeds, a sequence each: keys are random, and features of them elu + 1; values
// are words of a dictionary that the seed draws.
struct pairs {
  index count;
  std::vector<float> raw, key, value, dictionary;
  std::vector<index> told;

  explicit pairs(index n) : count(n), raw(numbers()), key(numbers()), value(numbers()) {
    std::mt19937 bits(7);
    std::normal_distribution<float> normal;
    for (float& x : raw) x = normal(bits);
    wane::elu_plus_one<float>(view_of(raw), view_of(key));
    for (index i = 0; i < seeds * words * width; ++i) dictionary.push_back(normal(bits));
    for (index i = 0; i < seeds * n; ++i) {
      told.push_back(static_cast<index>(bits() % words));
      for (index j = 0; j < width; ++j)
        value[static_cast<std::size_t>(i * width + j)] = *word(i / n, told.back(), j);
    }
  }
  std::size_t numbers() const { return static_cast<std::size_t>(seeds * count * width); }
  wane::sequence_view<float> view_of(std::vector<float>& x) const {
    return {x.data(), seeds, count, 1, width};
  }
  wane::sequence_view<float> keys() { return view_of(key); }
  wane::sequence_view<float> values() { return view_of(value); }
  float const* word(index seed, index w, index j) const {
    return &dictionary[static_cast<std::size_t>((seed * words + w) * width + j)];
  }

  // The share of pairs whose value is the word nearest to what was read, [seeds, count, width].
  double recalled(std::vector<float> const& read) const {
    index right = 0;
    for (index i = 0; i < seeds * count; ++i) {
      double least = HUGE_VAL;
      index nearest = -1;
      for (index w = 0; w < words; ++w) {
        double distance = 0;
        for (index j = 0; j < width; ++j) {
          double const off = double(read[static_cast<std::size_t>(i * width + j)]) -
                             double(*word(i / count, w, j));
          distance += off * off;
        }
        if (distance < least) least = distance, nearest = w;
      }
      right += nearest == told[static_cast<std::size_t>(i)];
    }
    return double(right) / double(seeds * count);
  }

  // What every key finds in the state after all pairs; divided by the last column, if that is asked
  // for.
  template <class Op>
  std::vector<float> read(Op const& op, bool divided = false) {
    std::vector<float> y(numbers());
    wane::recurrent_state<float> state(op);
    run(op, view_of(y), {.final = state});
    index const columns = op.shape().columns;
    for (index i = 0; i < seeds * count; ++i) {
      float const* const k = &key[static_cast<std::size_t>(i * width)];
      float const* const s = &state.values()[static_cast<std::size_t>(i / count * width * columns)];
      auto const found = [&](index j) {
        float sum = 0;
        for (index r = 0; r < width; ++r) sum += k[r] * s[r * columns + j];
        return sum;
      };
      float length = 0;  // keys were 1 long when they wrote
      for (index r = 0; r < width; ++r) length += k[r] * k[r];
      float const by = divided ? found(width) : std::sqrt(length);
      for (index j = 0; j < width; ++j) y[static_cast<std::size_t>(i * width + j)] = found(j) / by;
    }
    return y;
  }
};

std::vector<float> of_delta_net(pairs& p, float decay) {
  std::vector<float> const strength(static_cast<std::size_t>(seeds * p.count), 1),
      log_decay(strength.size(), std::log(decay));
  wane::token_view<float const> const gate(log_decay.data(), seeds, p.count, 1);
  return p.read(wane::delta_net({.query = p.keys(),
                                 .key = p.keys(),
                                 .value = p.values(),
                                 .strength = {strength.data(), seeds, p.count, 1}},
                                gate, {.scale = 1, .normalise = true}));
}

template <write_rule Rule>
std::vector<float> of_vla(pairs& p) {
  return p.read(wane::vla<float, Rule>({.query = p.keys(), .key = p.keys(), .value = p.values()}));
}

// The paper's: penalty directions W_u k, W_u random, lambda 0.1, a refresh.
std::vector<float> of_paper(pairs& p) {
  std::mt19937 bits(8);
  std::normal_distribution<float> normal;
  std::vector<float> w(width * width), direction(p.numbers());
  for (float& x : w) x = normal(bits);
  for (index i = 0; i < seeds * p.count; ++i)
    for (index r = 0; r < width; ++r)
      for (index c = 0; c < width; ++c)
        direction[static_cast<std::size_t>(i * width + r)] +=
            w[static_cast<std::size_t>(r * width + c)] *
            p.raw[static_cast<std::size_t>(i * width + c)];
  return p.read(wane::vla<float, write_rule::unit>(
      {.query = p.keys(), .key = p.keys(), .value = p.values(), .direction = p.view_of(direction)},
      wane::vla_options::paper()));
}

std::vector<float> of_softmax(pairs& p) {
  std::vector<float> y(p.numbers());
  attend(wane::softmax_attention<float>(
             {.query = p.view_of(p.raw), .key = p.view_of(p.raw), .value = p.values()},
             {.scale = 1, .causal = false}),
         p.view_of(y));
  return y;
}

struct memory {
  char const* name;
  std::function<std::vector<float>(pairs&)> read;
};

bool draw(std::string const& picture, std::size_t memories) {
  std::signal(SIGPIPE, SIG_IGN);  // of a shell that has not found it
  std::FILE* const gnuplot = popen("gnuplot 2>/dev/null", "w");
  if (!gnuplot) return false;
  std::fprintf(gnuplot,
               "set terminal svg size 800, 500\nset output '%s.svg'\n"
               "set datafile separator ','\nset key outside autotitle columnhead\n"
               "set xlabel 'pairs in a memory of 32 x 32'\nset ylabel 'recalled'\n"
               "set yrange [0:1.05]\nplot for [i=2:%d] '%s.csv' using 1:i with linespoints\n",
               picture.c_str(), int(memories) + 1, picture.c_str());
  return pclose(gnuplot) == 0;
}

}  // namespace

// example-vla_recall [--picture NAME]: writes NAME.csv and, with gnuplot, NAME.svg.
int main(int argc, char** arguments) {
  std::string const picture =
      argc == 3 && std::string(arguments[1]) == "--picture" ? arguments[2] : "";
  if (argc > 1 && picture.empty()) {
    std::fprintf(stderr, "usage: example-vla_recall [--picture NAME]\n");
    return 2;
  }
  memory const memories[] = {
      {"linear",
       [](pairs& p) {
         return p.read(
             wane::linear_attention<float>(
                 {.query = p.keys(), .key = p.keys(), .value = p.values()}, {.keys = {.scale = 1}}),
             true);
       }},
      {"delta", [](pairs& p) { return of_delta_net(p, 1); }},
      {"gated", [](pairs& p) { return of_delta_net(p, 0.98f); }},
      {"paper", of_paper},
      {"unit", of_vla<write_rule::unit>},
      {"projective", of_vla<write_rule::projective>},
      {"rls", of_vla<write_rule::rls>},
      {"softmax", of_softmax}};
  std::ofstream file;
  if (!picture.empty()) file.open(picture + ".csv");
  std::printf("recalled, nearest of %d values, %d seeds; keys elu + 1 of 32 random numbers\n%5s",
              int(words), int(seeds), "pairs");
  file << "pairs";
  for (auto const& [name, read] : memories) std::printf(" %10s", name), file << ',' << name;
  bool right = true;
  for (wane::index const n : {4, 8, 16, 24, 32, 48, 64}) {
    pairs p(n);
    std::printf("\n%5d", int(n)), file << '\n' << n;
    for (auto const& [name, read] : memories) {
      double const share = p.recalled(read(p));
      std::printf(" %9.2f%%", 100 * share), file << ',' << share;
      bool const exact = name == std::string("rls") || name == std::string("projective");
      if (exact && n <= 24) right = right && share >= 0.999;
      if (name == std::string("rls") && n == 48) right = right && share >= 0.97;
    }
  }
  std::printf("\n");
  file << '\n';
  file.close();
  if (!picture.empty() && !draw(picture, std::size(memories)))
    std::fprintf(stderr, "%s.svg is not drawn: gnuplot is missing\n", picture.c_str());
  if (!right) std::printf("rls and projective should recall every pair up to 24\n");
  return right ? 0 : 1;
}
