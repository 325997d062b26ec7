// A server of many sequences: prompts, tokens, refused drafts, files; and what it should have said.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/streamed_memory.hpp"
#include "wane/core/state/snapshots.hpp"
#include "wane/core/state/state_file.hpp"
#include "wane/run/run.hpp"

namespace support {

// Sequences lie in groups; the tokens of a group are stepped in one call.
struct service {
  index sequences, tokens, group = 4;

  index prompt_of(index n) const { return 1 + (n * 7 + 3) % std::min<index>(tokens, 41); }
};

// One answer: a hash of the outputs of a token.
struct answer {
  index sequence, time;
  std::uint64_t outputs;
};

inline std::uint64_t hash_of(std::span<float const> outputs) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (float const x : outputs) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3u;
  }
  return hash;
}

inline std::filesystem::path state_path(std::filesystem::path const& folder, index n) {
  return folder / (std::to_string(n) + ".state");
}

// One sequence without interruption: its prompt in one run, then all its tokens in one step.
template <class Memory>
struct uninterrupted {
  std::vector<std::uint64_t> outputs;
  wane::recurrent_state<float> state;

  uninterrupted(service const& s, index n) : state(first_op()) {
    take(n, 0, s.prompt_of(n), true), take(n, s.prompt_of(n), s.tokens, false);
  }

 private:
  static auto first_op() {
    streamed_inputs x(Memory::inputs());
    x.resize(1);
    return wane::recurrent_state<float>(Memory::make(x, 1, 1));
  }
  void take(index n, index begin, index end, bool at_once) {
    streamed_inputs x(Memory::inputs());
    index const count = end - begin, each = Memory::heads * Memory::columns;
    x.resize(count);
    for (index t = 0; t < count; ++t) x.put(t, {n, begin + t});
    std::vector<float> y(static_cast<std::size_t>(count * each), NAN);
    auto const op = Memory::make(x, 1, count);
    wane::sequence_view<float> const output(y.data(), 1, count, Memory::heads, Memory::columns);
    if (at_once)
      wane::run(op, output, wane::run_options<float>{.final = state, .threads = 1});
    else
      wane::step(op, output, state);
    for (index t = 0; t < count; ++t)
      outputs.push_back(hash_of(std::span<float const>(y).subspan(
          static_cast<std::size_t>(t * each), static_cast<std::size_t>(each))));
  }
};

// Works until every sequence has all its tokens, whatever it finds in its folder: states that were
// saved, and parts of states that were not.
template <class Memory>
class streaming_server {
 public:
  streaming_server(service const& s, std::filesystem::path const& folder, std::uint64_t seed)
      : of_(s), folder_(folder), random_(seed), inputs_(Memory::inputs()), pool_(whole_pool()) {
    for (index n = 0; n < of_.sequences; ++n) {
      if (std::filesystem::exists(state_path(folder_, n)))
        wane::load_state(state_path(folder_, n), Memory::name, slot(n));
      rings_.emplace_back(4, slot(n));
      rings_.back().push(slot(n));
    }
    journal_ = ::open((folder_ / "journal").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    auto const whole = std::filesystem::file_size(folder_ / "journal") / sizeof(answer);
    std::filesystem::resize_file(folder_ / "journal", whole * sizeof(answer));
  }
  streaming_server(streaming_server const&) = delete;
  streaming_server& operator=(streaming_server const&) = delete;
  ~streaming_server() { ::close(journal_); }

  // All that is left; then every state is saved.
  void work() {
    serve_times(std::numeric_limits<int>::max());
    for (index n = 0; n < of_.sequences; ++n) save(n);
  }
  // So many turns of sequences at most.
  void serve_times(int turns) {
    for (index left; turns-- > 0 && (left = unfinished()) > 0;) {
      index n = static_cast<index>(random_() % static_cast<std::uint64_t>(left));
      for (index m = 0; m < of_.sequences; ++m)
        if (seen(m) < of_.tokens && n-- == 0) {
          serve(m);
          break;
        }
    }
  }

 private:
  wane::recurrent_state<float> whole_pool() {
    inputs_.resize(1);
    return wane::recurrent_state<float>(Memory::make(inputs_, 1, 1), of_.sequences);
  }
  index& seen(index n) { return pool_.positions()[static_cast<std::size_t>(n)]; }
  index unfinished() {
    return static_cast<index>(
        std::ranges::count_if(pool_.positions(), [&](index t) { return t < of_.tokens; }));
  }
  // The states of `count` sequences from n on, in the memory of the pool.
  wane::state_view<float> slot(index n, index count = 1) {
    wane::state_view<float> part = pool_;
    part.values.data += n * part.values.stride[0], part.values.extent[0] = count;
    part.positions += n;
    return part;
  }

  void serve(index n) {
    if (seen(n) == 0) return take_prompts(n);
    switch (random_() % 8) {
      case 0:
        return save(n);
      case 1:
        return leave_and_return(n);
      case 2:
        return speculate(n);
      case 3:
        return take_token_of_group(n - n % of_.group);
      default:
        return take_token(n);
    }
  }

  // The prompts of up to four sequences from n on that have none yet, in one packed run.
  void take_prompts(index n) {
    std::vector<index> who, starts{0};
    for (index m = n; m < of_.sequences && who.size() < 1 + random_() % 4; ++m)
      if (seen(m) == 0) who.push_back(m), starts.push_back(starts.back() + of_.prompt_of(m));
    inputs_.resize(starts.back());
    for (std::size_t i = 0; i < who.size(); ++i)
      for (index t = starts[i]; t < starts[i + 1]; ++t) inputs_.put(t, {who[i], t - starts[i]});
    auto const op = Memory::make(inputs_, 1, starts.back());
    wane::recurrent_state<float> first(op, static_cast<index>(who.size()));
    wane::run_options<float> options;
    options.final = first, options.packed = {starts}, options.threads = 1;
    wane::run(op, outputs(1, starts.back()), options);
    for (std::size_t i = 0; i < who.size(); ++i) {
      wane::state_view<float> const to = slot(who[i]), all = first;
      index const numbers = to.values.stride[0];
      std::copy_n(all.values.data + static_cast<index>(i) * numbers, numbers, to.values.data);
      *to.positions = all.positions[i];
      rings_[static_cast<std::size_t>(who[i])].push(to);
      for (index t = starts[i]; t < starts[i + 1]; ++t) write(who[i], t - starts[i], t);
    }
  }

  void take_token(index n) {
    inputs_.resize(1), inputs_.put(0, {n, seen(n)});
    wane::step(Memory::make(inputs_, 1, 1), outputs(1, 1), slot(n));
    rings_[static_cast<std::size_t>(n)].push(slot(n));
    write(n, seen(n) - 1, 0);
  }

  // One token for some sequences of a group, while the others wait; their inputs stay NaN.
  void take_token_of_group(index first) {
    index const count = std::min(of_.group, of_.sequences - first);
    std::vector<index> takes;
    inputs_.resize(count);
    for (index i = 0; i < count; ++i) {
      bool const can = seen(first + i) > 0 && seen(first + i) < of_.tokens;
      takes.push_back(can && random_() % 2);
      if (takes.back()) inputs_.put(i, {first + i, seen(first + i)});
    }
    wane::step(Memory::make(inputs_, count, 1), outputs(count, 1), slot(first, count),
               {.lengths = takes});
    for (index i = 0; i < count; ++i) {
      if (!takes[static_cast<std::size_t>(i)]) continue;
      rings_[static_cast<std::size_t>(first + i)].push(slot(first + i));
      write(first + i, seen(first + i) - 1, i);
    }
  }

  // Three tokens are guessed; the first is right half of the time, the others are not.
  void speculate(index n) {
    bool const right = random_() % 2 != 0 && seen(n) < of_.tokens;
    auto& ring = rings_[static_cast<std::size_t>(n)];
    std::uint64_t said = 0;
    for (int guess = 0; guess < 3; ++guess) {
      inputs_.resize(1), inputs_.put(0, {n, seen(n), guess > 0 || !right});
      wane::step(Memory::make(inputs_, 1, 1), outputs(1, 1), slot(n));
      ring.push(slot(n));
      if (guess == 0) said = hash_of(y_);
    }
    ring.rollback(right ? 2 : 3, slot(n));
    if (right) write(answer{n, seen(n) - 1, said});
  }

  void save(index n) { wane::save_state(state_path(folder_, n), Memory::name, slot(n)); }

  // The slot is another's in between.
  void leave_and_return(index n) {
    save(n);
    auto const part = slot(n);
    std::fill_n(part.values.data, part.values.stride[0], NAN);
    *part.positions = -1;
    wane::load_state(state_path(folder_, n), Memory::name, part);
    rings_[static_cast<std::size_t>(n)].forget(0);
    rings_[static_cast<std::size_t>(n)].push(part);
  }

  wane::sequence_view<float> outputs(index batch, index time) {
    y_.assign(static_cast<std::size_t>(batch * time * Memory::heads * Memory::columns), NAN);
    return {y_.data(), batch, time, Memory::heads, Memory::columns};
  }
  void write(index n, index time, index place) {
    auto const each = static_cast<std::size_t>(Memory::heads * Memory::columns);
    write(answer{
        n, time,
        hash_of(std::span<float const>(y_).subspan(static_cast<std::size_t>(place) * each, each))});
  }
  void write(answer const& a) {
    if (::write(journal_, &a, sizeof a) != sizeof a) throw std::runtime_error("no journal");
  }

  service of_;
  std::filesystem::path folder_;
  std::mt19937_64 random_;
  streamed_inputs inputs_;
  std::vector<float> y_;
  wane::recurrent_state<float> pool_;
  std::vector<wane::snapshots<float>> rings_;
  int journal_ = -1;
};

}  // namespace support
