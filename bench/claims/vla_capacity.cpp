// VLA (arXiv 2605.11196), Figures 2c, 5, 6 and 8: how many pairs a memory holds, without training.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "claims/claim.hpp"
#include "claims/vla_algorithm.hpp"
#include "claims/vla_memory.hpp"

namespace wane::bench {
namespace {

constexpr index width = 32, vocabulary = 128;

// The tokens after the pairs: none, one padding word repeated, or any words but the keys.
enum class filler { padding, words };

// vla with u = k and each write rule, lambda 0.1 for the paper's, 1e-6 for the others; Algorithm 1,
// W_u drawn; equation (8) with W_u = I; delta_net of strength 1; sums of k v^T.
enum class memory { unit, projective, rls, printed, raw_key, delta, linear };

// Keys are features of random words, values random; a read is decoded as the nearest value of 128.
class recall_task {
 public:
  recall_task(index count, index after, filler with, std::uint64_t seed) : pairs_(count) {
    std::mt19937_64 bits(seed);
    values_ = normal_numbers(vocabulary, width, bits);
    matrix const raw = normal_numbers(vocabulary, width, bits);
    matrix const to_direction = normal_numbers(width, width, bits);
    for (index t = 0; t < count + after; ++t) {
      auto const any = [&](index below) {
        return static_cast<index>(bits() % std::uint64_t(below));
      };
      word_.push_back(t < count                 ? t
                      : with == filler::padding ? vocabulary - 1
                                                : count + any(vocabulary - count));
      told_.push_back(t >= count && with == filler::padding ? vocabulary - 1 : any(vocabulary));
    }
    matrix const all = features_of(raw).rowwise().normalized();
    key_ = all(word_, Eigen::all), value_ = values_(told_, Eigen::all);
    raw_ = raw(word_, Eigen::all), direction_ = raw_ * to_direction;
  }
  double accuracy(memory how) const {
    matrix const read = key_.topRows(pairs_) * held(how);
    int right = 0;
    for (index i = 0; i < pairs_; ++i) {
      Eigen::Index nearest = 0;
      (values_.rowwise() - read.row(i)).rowwise().squaredNorm().minCoeff(&nearest);
      right += nearest == told_[static_cast<std::size_t>(i)];
    }
    return right / static_cast<double>(pairs_);
  }

 private:
  matrix held(memory how) const {
    using enum write_rule;
    switch (how) {
      case memory::unit:
        return held_by_vla<unit>(key_, value_, 0.1).state;
      case memory::projective:
        return held_by_vla<projective>(key_, value_, 1e-6).state;
      case memory::rls:
        return held_by_vla<rls>(key_, value_, 1e-6).state;
      case memory::printed:
        return after_all(as_printed(width), key_, direction_, value_).state.transpose();
      case memory::raw_key:
        return after_all({}, key_, raw_, value_).state.transpose();
      case memory::delta:
        return held_by_delta_net(key_, value_).state;
      case memory::linear:
        return key_.transpose() * value_;
    }
    return {};
  }

  index pairs_;
  std::vector<index> word_, told_;
  matrix values_, raw_, key_, value_, direction_;
};

double accuracy(memory how, index pairs, index after = 0, filler with = filler::padding) {
  std::uint64_t const draws = after ? 10 : 20;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= draws; ++seed)
    sum += recall_task(pairs, after, with, seed).accuracy(how);
  return sum / static_cast<double>(draws);
}

template <class Accuracy>
std::string listed(std::initializer_list<index> numbers, Accuracy const& accuracy_at) {
  std::string line;
  for (index const n : numbers) {
    char one[16];
    std::snprintf(one, sizeof one, "%s%.2f", line.empty() ? "" : ", ", accuracy_at(n));
    line += one;
  }
  return line;
}
std::string over_pairs(memory how) {
  return listed({8, 16, 24, 32, 48, 64, 96}, [&](index n) { return accuracy(how, n); });
}
std::string over_tokens(memory how, filler with) {
  return listed({64, 128, 256, 512}, [&](index t) { return accuracy(how, 8, t, with); });
}

finding within_capacity() {
  double const found = accuracy(memory::printed, 24), ours = accuracy(memory::rls, 24);
  return {found, found > 0.99, ours > 0.99,
          "d = 32, no training, nearest of 128 values, W_u drawn; n = 8, 16, 24, 32, 48, 64, 96: " +
              over_pairs(memory::printed) + "; W_u = I: " + over_pairs(memory::raw_key) +
              "; u = k, unit: " + over_pairs(memory::unit) + "; projective: " +
              over_pairs(memory::projective) + "; rls: " + over_pairs(memory::rls)};
}
finding delta_rule_within_capacity() {
  double const found = accuracy(memory::delta, 24);
  return {found, found < 0.1, false,
          "no training, delta_net of strength 1; n = 8, 16, 24, 32, 48, 64, 96: " +
              over_pairs(memory::delta) + "; linear attention: " + over_pairs(memory::linear)};
}
finding beyond_capacity() {
  double const found = accuracy(memory::rls, 48);
  return {found, found < 0.1, false,
          "no training, rls, u = k, lambda 1e-6; unit, u = k: " +
              listed(
                  {48}, [](index n) { return accuracy(memory::unit, n); }) +
              "; recall is no longer exact, but near enough to tell 128 values apart"};
}
finding after_padding() {
  double const found = accuracy(memory::printed, 8, 512), ours = accuracy(memory::rls, 8, 512);
  return {found, found > 0.99, ours > 0.99,
          "no training, then one padding word 64, 128, 256, 512 times: Algorithm 1 " +
              over_tokens(memory::printed, filler::padding) + "; u = k, unit " +
              over_tokens(memory::unit, filler::padding) + ", rls " +
              over_tokens(memory::rls, filler::padding) + "; delta_net " +
              over_tokens(memory::delta, filler::padding)};
}
finding after_words() {
  double const found = accuracy(memory::rls, 8, 512, filler::words);
  return {found, found > 0.99, false,
          "no training, then 64, 128, 256, 512 other words, each with a value: rls " +
              over_tokens(memory::rls, filler::words) + ", unit " +
              over_tokens(memory::unit, filler::words) +
              "; they are more than d = 32, and nothing tells which to keep"};
}

}  // namespace

std::vector<claim> vla_capacity_claims() {
  return {{"vla-fig2c", "VLA, Figures 2c, 5, 8", "accuracy at 24 pairs, at least", 0.99,
           within_capacity},
          {"vla-fig2c-delta", "VLA, Figures 2c, 5", "accuracy of DeltaNet at 24 pairs, at most",
           0.1, delta_rule_within_capacity},
          {"vla-table11", "VLA, Table 11", "accuracy of any at 48 pairs for d = 32, at most", 0.1,
           beyond_capacity},
          {"vla-fig6", "VLA, Figures 2d, 6", "accuracy at 8 pairs, T = 512, at least", 0.99,
           after_padding},
          {"vla-6.5", "VLA, section 6.5", "the same where the tokens between are words, at least",
           0.99, after_words}};
}

}  // namespace wane::bench
