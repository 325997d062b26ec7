// agree and together: what all ranks say before a call, and how one that fails ends it for all.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>

#include "wane/core/error.hpp"
#include "wane/ranks/rank_group.hpp"

namespace wane::impl {

// The x of all ranks, by rank.
template <rank_group Ranks, class T>
std::vector<T> gathered(Ranks const& ranks, T const& x) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<std::size_t>(ranks.size()), x);
  ranks.all_gather(std::as_bytes(std::span(&x, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

// Whether something holds on one rank at least; all ranks learn it.
template <rank_group Ranks>
bool on_any_rank(Ranks const& ranks, bool here) {
  auto const all = gathered(ranks, static_cast<int>(here));
  return std::find(all.begin(), all.end(), 1) != all.end();
}

// How a rank came out of its work.
struct rank_outcome {
  enum : int { done, failed, stopped } how = done;  // stopped: another rank had failed
  char why[244] = {};
};

// What a rank caught: its own exception, or the news that another rank failed.
class caught_error {
 public:
  // To be called in a catch clause.
  static caught_error now() {
    caught_error e;
    e.error_ = std::current_exception();
    try {
      throw;
    } catch (rank_failure const& other) {
      e.set(rank_outcome::stopped, other.what());
    } catch (std::exception const& own) {
      e.set(rank_outcome::failed, own.what());
    } catch (...) {
      e.set(rank_outcome::failed, "an exception that is no std::exception");
    }
    return e;
  }
  rank_outcome const& outcome() const { return outcome_; }
  explicit operator bool() const { return outcome_.how != rank_outcome::done; }
  [[noreturn]] void rethrow() const { std::rethrow_exception(error_); }

 private:
  void set(decltype(rank_outcome::done) how, char const* why) {
    outcome_.how = how;
    std::copy_n(why, std::min(std::strlen(why), sizeof outcome_.why - 1), outcome_.why);
  }
  std::exception_ptr error_;
  rank_outcome outcome_;
};

// Waits for all ranks. If one has failed, it throws its own exception and all others rank_failure.
template <rank_group Ranks>
void together(Ranks const& ranks, caught_error const& own) {
  auto const outcomes = gathered(ranks, own.outcome());
  if (own && own.outcome().how == rank_outcome::failed) own.rethrow();
  for (int r = 0; r < ranks.size(); ++r)
    if (auto const& of = outcomes[static_cast<std::size_t>(r)]; of.how == rank_outcome::failed)
      throw rank_failure(r, of.why);
  // None has failed by itself, so an engine has.
  if (own) own.rethrow();
  for (int r = 0; r < ranks.size(); ++r)
    if (auto const& of = outcomes[static_cast<std::size_t>(r)]; of.how != rank_outcome::done)
      throw rank_failure(r, of.why);
}

// Carries out work on this rank and waits for all; see above.
template <rank_group Ranks, class Work>
void together(Ranks const& ranks, Work const& work) {
  caught_error own;
  try {
    work();
  } catch (...) {
    own = caught_error::now();
  }
  together(ranks, own);
}

}  // namespace wane::impl
