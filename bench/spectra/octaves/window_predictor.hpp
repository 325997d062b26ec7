// One symbol predicted from windows of 1, 2, 4, ... symbols, each prediction refining the last.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spectra/octaves/earlier_places.hpp"
#include "spectra/octaves/law_counts.hpp"
#include "spectra/octaves/mixing.hpp"
#include "spectra/octaves/sequence.hpp"

namespace wane::bench {

// The windows have 2^0, 2^1, ..., 2^last symbols. What lies farther back than the longest of them
// is the law of the text: learn(u) adds the place u to it, enter(t) makes t visible to windows.
//
// Level l, the window of 2^l symbols, mixes the prediction of level l - 1 with what its octave
// adds:
//   law    after the same k symbols, 2^(l-1) < k <= 2^l: counts up to 6, last places of 8, 12, 20;
//   near   what followed the last 1, 2, 3, 4, 6, 8, 12, 20 symbols where they stood before, those
//          symbols and their follower within this window but not within that of l - 1;
//   lag    the symbol at one lag of the octave.
// Where an octave adds nothing the prediction is that of level l - 1, so its gain is exactly 0.
class window_predictor {
 public:
  // lags[l] is the lag of level l, 0 for none.
  window_predictor(sequence const& source, int last, std::vector<std::size_t> lags);

  std::size_t longest_window() const { return std::size_t{1} << (lags_.size() - 1); }

  void learn(std::size_t u);
  void enter(std::size_t t);

  // The probability of the symbol at t from no symbol before it, entry 0, and from the window of
  // level l, entry l + 1; a window longer than the history of t has the probability of the one
  // before. Learns from what it predicted.
  std::vector<double> const& predict(std::size_t t);

 private:
  static constexpr std::array<std::size_t, 6> law_orders{1, 2, 3, 4, 5, 6};
  static constexpr std::array<std::size_t, 8> near_orders{1, 2, 3, 4, 6, 8, 12, 20};
  static constexpr std::size_t far_from = 5;  // the near orders of 8 and more are also law
  static constexpr std::size_t most_places = 64;
  // Inputs of a mixer: the prediction before, two orders of law, an order of places, a lag, near.
  static constexpr std::size_t law_input = 1, far_input = 3, lag_input = 4, near_input = 5,
                               inputs = near_input + near_orders.size();
  using level_mixer = mixer<inputs>;

  static std::size_t level_of(std::size_t extent) {
    return static_cast<std::size_t>(std::bit_width(extent - 1));
  }

  void gather(std::size_t t);
  std::size_t weight_set(std::size_t level, bool law, bool far) const;
  float refine(std::size_t level, std::size_t t, int b, float before);

  struct level_parts {
    std::array<count_map, near_orders.size()> near;
    count_map lag;
    std::vector<bit_counts> lag_counts;
    level_mixer weights{(near_orders.size() + 1) * 2 * 4};
    std::array<followers, near_orders.size()> followers_here{};
    std::uint32_t orders = 0;  // bit o: near_orders[o] has followers here
  };

  sequence const& source_;
  std::vector<std::size_t> lags_;
  std::vector<level_parts> parts_;
  std::vector<bit_counts> plain_;  // of no context, by decision
  std::vector<law_counts> law_;
  std::array<count_map, law_orders.size()> law_maps_;
  std::vector<earlier_places> places_;
  std::array<count_map, near_orders.size()> far_maps_;
  std::array<followers, near_orders.size()> far_{};
  std::array<std::size_t, near_orders.size()> nearest_{};  // level of the latest place, by order
  context_hashes contexts_{};
  std::vector<double> probabilities_;
};

inline window_predictor::window_predictor(sequence const& source, int last,
                                          std::vector<std::size_t> lags)
    : source_(source),
      lags_(std::move(lags)),
      parts_(static_cast<std::size_t>(last) + 1),
      plain_(std::size_t{1} << source.bits),
      probabilities_(static_cast<std::size_t>(last) + 2) {
  for (std::size_t l = 0; l < parts_.size(); ++l) {
    if (lags_[l] > 0) parts_[l].lag_counts.resize(source.alphabet << source.bits);
  }
  std::size_t room = source.alphabet;
  for (std::size_t k = 1; k <= law_orders.size(); ++k) {
    room = std::min(room * source.alphabet, 2 * source.size());
    law_.emplace_back(room);
  }
  for (std::size_t o = 0; o < near_orders.size(); ++o) {
    places_.emplace_back(near_orders[o], source.size(),
                         o < far_from ? longest_window() : source.size());
  }
}

inline void window_predictor::learn(std::size_t u) {
  auto const contexts = contexts_at(source_, u);
  std::uint8_t const symbol = source_.symbols[u];
  for (int b = 0; b < source_.bits; ++b) {
    auto const node = node_of(symbol, b, source_.bits);
    int const bit = (symbol >> (source_.bits - 1 - b)) & 1;
    ++(bit ? plain_[node].ones : plain_[node].zeros);
    for (std::size_t o = 0; o < law_orders.size() && law_orders[o] <= source_.history[u]; ++o) {
      law_[o].add(contexts[law_orders[o]], node, bit);
    }
    for (std::size_t l = 0; l < parts_.size(); ++l) {
      if (lags_[l] == 0 || lags_[l] > source_.history[u]) continue;
      std::size_t const row = source_.symbols[u - lags_[l]];
      auto& counts = parts_[l].lag_counts[(row << source_.bits) + node];
      ++(bit ? counts.ones : counts.zeros);
    }
  }
}

inline void window_predictor::enter(std::size_t t) {
  auto const contexts = contexts_at(source_, t);
  for (auto& of : places_) {
    if (of.length() <= source_.history[t]) of.add(t, contexts[of.length()]);
  }
}

// Sorts what followed before by the level whose window is the first to hold it.
inline void window_predictor::gather(std::size_t t) {
  std::uint8_t const right = source_.symbols[t];
  std::size_t const history = source_.history[t], longest = longest_window();
  for (auto& part : parts_) {
    if (part.orders) part.followers_here = {};
    part.orders = 0;
  }
  far_ = {};
  nearest_.fill(parts_.size());
  for (std::size_t o = 0; o < near_orders.size() && near_orders[o] <= history; ++o) {
    std::size_t const k = near_orders[o];
    places_[o].visit(source_.symbols, t, contexts_[k], most_places, [&](std::size_t p) {
      std::size_t const extent = t - p + k;
      if (extent <= longest && extent <= history) {
        nearest_[o] = std::min(nearest_[o], level_of(extent));
        auto& part = parts_[level_of(extent)];
        part.followers_here[o].add(source_.symbols[p], right, source_.bits);
        part.orders |= 1u << o;
      } else if (o >= far_from && t - p >= longest) {
        far_[o].add(source_.symbols[p], right, source_.bits);
      } else {
        return o >= far_from;
      }
      return true;
    });
  }
}

// By the longest context that its octave adds, whether a nearer octave had it too, and by the law.
inline std::size_t window_predictor::weight_set(std::size_t level, bool law, bool far) const {
  auto const longest = static_cast<std::size_t>(std::bit_width(parts_[level].orders));
  bool const nearer = longest > 0 && nearest_[longest - 1] < level;
  return 4 * (2 * longest + nearer) + 2 * law + far;
}

// The probability that decision b of the symbol at t is a 1, from `before`, that of the level
// below.
inline float window_predictor::refine(std::size_t level, std::size_t t, int b, float before) {
  auto& part = parts_[level];
  if (part.orders == 0 && lags_[level] == 0 && level > level_of(near_orders.back())) return before;
  std::uint8_t const symbol = source_.symbols[t];
  auto const node = node_of(symbol, b, source_.bits);
  int const bit = (symbol >> (source_.bits - 1 - b)) & 1;
  level_mixer::inputs x{};
  bool any = false, law = false, far = false;
  auto const take = [&](std::size_t input, count_map& map, bit_counts const& n) {
    if (n.total() == 0) return false;
    x[input] = stretch(map.of(n));
    map.learn(n, bit);
    return any = true;
  };
  std::size_t next = law_input;
  for (std::size_t o = 0; o < law_orders.size() && level <= level_of(law_orders.back()); ++o) {
    if (level_of(law_orders[o]) != level || law_orders[o] > source_.history[t]) continue;
    law |= take(next++, law_maps_[o], law_[o].of(contexts_[law_orders[o]], node));
  }
  for (std::size_t o = far_from; o < near_orders.size(); ++o) {
    if (level_of(near_orders[o]) == level) far = take(far_input, far_maps_[o], far_[o].at(b, bit));
  }
  if (std::size_t const lag = lags_[level]) {
    std::size_t const row = source_.symbols[t - lag];
    take(lag_input, part.lag, part.lag_counts[(row << source_.bits) + node]);
  }
  for (std::uint32_t left = part.orders; left > 0; left &= left - 1) {
    auto const o = static_cast<std::size_t>(std::countr_zero(left));
    take(near_input + o, part.near[o], part.followers_here[o].at(b, bit));
  }
  if (!any) return before;
  x[0] = stretch(before);
  std::size_t const set = weight_set(level, law, far);
  float const mixed = part.weights.mix(x, set);
  part.weights.learn(x, set, mixed, bit);
  return mixed;
}

inline std::vector<double> const& window_predictor::predict(std::size_t t) {
  contexts_ = contexts_at(source_, t);
  gather(t);
  std::fill(probabilities_.begin(), probabilities_.end(), 1.0);
  std::uint8_t const symbol = source_.symbols[t];
  for (int b = 0; b < source_.bits; ++b) {
    auto const& plain = plain_[node_of(symbol, b, source_.bits)];
    int const bit = (symbol >> (source_.bits - 1 - b)) & 1;
    float p = std::clamp(
        (static_cast<float>(plain.ones) + 0.4f) / (static_cast<float>(plain.total()) + 0.8f),
        surest, 1 - surest);
    probabilities_[0] *= bit ? p : 1 - p;
    for (std::size_t l = 0; l < parts_.size(); ++l) {
      if ((std::size_t{1} << l) <= source_.history[t]) p = refine(l, t, b, p);
      probabilities_[l + 1] *= bit ? p : 1 - p;
    }
  }
  return probabilities_;
}

}  // namespace wane::bench
