// on_ranks: ranks as threads of one process, for tests and examples of what runs over ranks.
// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "wane/ranks/rank_group.hpp"

namespace wane::testing::impl {

// What the threads share. A rank that ends while another waits for it ends that one too.
class rank_exchange {
 public:
  explicit rank_exchange(int size) : size_(size), ended_(static_cast<std::size_t>(size)) {}

  int size() const { return size_; }

  void send(int from, int to, std::vector<std::byte> message) {
    std::lock_guard const lock(mutex_);
    messages_[{from, to}].push_back(std::move(message));
    changed_.notify_all();
  }
  void receive(int from, int to, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    auto& waiting = messages_[{from, to}];
    changed_.wait(lock, [&] { return !waiting.empty() || has_ended(from); });
    if (waiting.empty()) throw wane::rank_failure(from, "it has ended");
    if (waiting.front().size() != bytes.size())
      throw std::logic_error("a message has " + std::to_string(waiting.front().size()) +
                             " bytes, its receiver takes " + std::to_string(bytes.size()));
    std::copy(waiting.front().begin(), waiting.front().end(), bytes.begin());
    waiting.pop_front();
  }
  void all_gather(int rank, std::span<std::byte const> mine, std::span<std::byte> all) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return taken_ == 0 || any_ended() >= 0; });
    if (taken_ != 0) throw wane::rank_failure(any_ended(), "it has ended");
    if (gathered_.empty()) gathered_.resize(mine.size() * static_cast<std::size_t>(size_));
    if (gathered_.size() != all.size() ||
        all.size() != mine.size() * static_cast<std::size_t>(size_))
      throw std::logic_error("all_gather of other sizes on other ranks");
    std::copy(mine.begin(), mine.end(),
              gathered_.begin() + static_cast<std::ptrdiff_t>(mine.size()) * rank);
    if (++given_ == size_) taken_ = size_, given_ = 0;
    changed_.notify_all();
    changed_.wait(lock, [&] { return taken_ > 0 || any_ended() >= 0; });
    if (taken_ == 0) throw wane::rank_failure(any_ended(), "it has ended");
    std::copy(gathered_.begin(), gathered_.end(), all.begin());
    if (--taken_ == 0) gathered_.clear();
    changed_.notify_all();
  }
  void end(int rank) {
    std::lock_guard const lock(mutex_);
    ended_[static_cast<std::size_t>(rank)] = true;
    changed_.notify_all();
  }

 private:
  bool has_ended(int rank) const { return ended_[static_cast<std::size_t>(rank)]; }
  int any_ended() const {
    for (int r = 0; r < size_; ++r)
      if (has_ended(r)) return r;
    return -1;
  }

  int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages_;
  std::vector<std::byte> gathered_;
  int given_ = 0, taken_ = 0;
  std::vector<bool> ended_;
};

}  // namespace wane::testing::impl

namespace wane::testing {

// One rank of on_ranks.
class thread_rank {
 public:
  thread_rank(impl::rank_exchange& exchange, int rank) : exchange_(exchange), rank_(rank) {}
  int rank() const { return rank_; }
  int size() const { return exchange_.size(); }
  void send(int to, std::vector<std::byte> message) const {
    exchange_.send(rank_, to, std::move(message));
  }
  void receive(int from, std::span<std::byte> bytes) const {
    exchange_.receive(from, rank_, bytes);
  }
  void all_gather(std::span<std::byte const> mine, std::span<std::byte> all) const {
    exchange_.all_gather(rank_, mine, all);
  }

 private:
  impl::rank_exchange& exchange_;
  int rank_;
};

//   on_ranks(4, [&](thread_rank const& ranks) { sharded_run(ranks, piece(ranks.rank()), output);
//   });
//
// Calls body(rank) on `size` threads at the same time, and returns what each threw, by rank; null
// where it threw nothing. A rank whose thread cannot be started has thrown that.
template <class Body>
std::vector<std::exception_ptr> outcomes_on_ranks(int size, Body const& body) {
  impl::rank_exchange exchange(size);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(size));
  std::vector<std::thread> threads(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) {
    auto& outcome = thrown[static_cast<std::size_t>(r)];
    auto const rank = [&, r] {
      try {
        body(thread_rank(exchange, r));
      } catch (...) {
        outcome = std::current_exception();
      }
      exchange.end(r);
    };
    try {
      threads[static_cast<std::size_t>(r)] = std::thread(rank);
    } catch (...) {  // the others must not wait for a rank that has no thread
      outcome = std::current_exception();
      exchange.end(r);
    }
  }
  for (std::thread& t : threads)
    if (t.joinable()) t.join();
  return thrown;
}
// The same, and throws what the first rank that threw has thrown.
template <class Body>
void on_ranks(int size, Body const& body) {
  for (std::exception_ptr const& e : outcomes_on_ranks(size, body))
    if (e) std::rethrow_exception(e);
}

}  // namespace wane::testing
