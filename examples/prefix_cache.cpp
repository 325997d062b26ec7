// The algebra of effects as a cache: segments are summarised once, and their states follow.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>
#include <wane/wane.hpp>

using wane::log_effect;

constexpr wane::index segments = 64, length = 128, tokens = segments * length;

struct memory {
  std::vector<float> log_decay, drive;

  // The tokens begin <= t < end.
  wane::linear_recurrence<wane::decay_as::log, float> op(wane::index begin, wane::index end) const {
    return wane::linear_recurrence<wane::decay_as::log, float>(
        {.decay = {log_decay.data() + begin, 1, end - begin, 1, 1},
         .drive = {drive.data() + begin, 1, end - begin, 1, 1}});
  }
  // The effect of segment n on any state: S -> e^log_decay S + drive.
  log_effect<float> effect_of(wane::index n) const {
    log_effect<float> found;
    wane::effects(op(n * length, (n + 1) * length), {&found, 1, 1, 1, 1});
    return found;
  }
  // The state after all tokens, from `start`, by a run.
  float after_all(float start) const {
    std::vector<float> h(tokens);
    wane::run_options<float> options;
    options.initial.values = {&start, 1, 1, 1, 1};
    wane::run(op(0, tokens), {h.data(), 1, tokens, 1, 1}, options);
    return h.back();
  }
};

// A tree of pairs: node 1 is the effect of all segments, node `segments` + n of segment n alone.
struct effect_tree {
  std::vector<log_effect<float>> node = std::vector<log_effect<float>>(2 * segments);

  void set(std::size_t segment, log_effect<float> const& effect) {
    std::size_t n = segments + segment;
    node[n] = effect;
    while (n > 1) {
      n /= 2;
      node[n] = then(node[2 * n], node[2 * n + 1]);
    }
  }
  log_effect<float> const& all() const { return node[1]; }
};

bool agree(char const* what, float cached, float run) {
  std::printf("%-44s %.6f, by a run %.6f\n", what, static_cast<double>(cached),
              static_cast<double>(run));
  // A rounding a token: eps / 2 sqrt(8192).
  return std::abs(cached - run) <= 5.4e-6f * (1 + std::abs(run));
}

int main() {
  std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  memory text;
  for (wane::index t = 0; t < tokens; ++t) {
    text.log_decay.push_back(-1e-4f * std::abs(normal(bits)));
    text.drive.push_back(0.1f * normal(bits));
  }
  effect_tree tree;
  for (wane::index n = 0; n < segments; ++n)
    tree.set(static_cast<std::size_t>(n), text.effect_of(n));

  // One cached prefix serves every start.
  bool right = true;
  for (float start : {0.f, 5.f})
    right &= agree(start == 0 ? "from an empty state" : "from another state",
                   apply(tree.all(), start), text.after_all(start));

  // One segment is edited: its effect is found again, six of the tree are composed again.
  constexpr wane::index edited = 17;
  for (auto t = static_cast<std::size_t>(edited * length); t < (edited + 1) * length; ++t)
    text.drive[t] = 0.5f;
  tree.set(edited, text.effect_of(edited));
  right &= agree("segment 17 of 64 edited", apply(tree.all(), 5.f), text.after_all(5.f));

  // A reset within a segment cuts off everything before it.
  text.log_decay[40 * length] = -HUGE_VALF;
  tree.set(40, text.effect_of(40));
  right &= agree("segment 40 resets", apply(tree.all(), NAN), text.after_all(5.f));
  return right ? 0 : 1;
}
