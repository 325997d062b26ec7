// exclusive_scan: what lies on the ranks before each rank, joined in a tree.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "wane/core/error.hpp"
#include "wane/core/recurrence/effect.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/ranks/agreement.hpp"

namespace wane::impl {

// Some numbers as a message. Its last byte tells whether the sender, or one before it, has failed.
template <class T>
std::vector<std::byte> scan_message(std::size_t count) {
  return std::vector<std::byte>(count * sizeof(T) + 1);
}
template <class T>
void put(std::vector<T> const& numbers, bool failed, std::vector<std::byte>& message) {
  if (!numbers.empty()) std::memcpy(message.data(), numbers.data(), message.size() - 1);
  message.back() = static_cast<std::byte>(failed);
}
// Returns whether the sender has failed.
template <class T>
bool take(std::vector<std::byte> const& message, std::vector<T>& numbers) {
  if (!numbers.empty()) std::memcpy(numbers.data(), message.data(), message.size() - 1);
  return message.back() != std::byte{0};
}

}  // namespace wane::impl

namespace wane {

//   auto const before = exclusive_scan(ranks, own, [](auto first, auto second) { ... });
//
// What lies on the ranks before this one: the `own` of rank 0, then that of rank 1, and so on.
// Empty on the first rank. join(first, second), std::span<T const> and std::span<T>, replaces
// `second` by what `first` and then `second` are together; it must be associative. All ranks have
// the same number of elements. direction::reverse: what lies on the ranks after this one, from the
// last on.
//
// It takes log2 P rounds, in each of which a rank sends and receives one message. What is joined
// with what depends on the number of ranks alone, so the bits are the same each time. Throws
// wane::error where numbers of elements differ; when join throws on one rank, the others throw
// rank_failure.
template <rank_group Ranks, class T, class Join>
std::vector<T> exclusive_scan(Ranks const& ranks, std::vector<T> const& own, Join const& join,
                              direction way = direction::forward) {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "wane::exclusive_scan: elements cross ranks as bytes; this type cannot be copied so");
  auto const counts = impl::gathered(ranks, static_cast<index>(own.size()));
  for (std::size_t r = 1; r < counts.size(); ++r)
    require(counts[r] == counts[0], "rank ", r, " has ", counts[r], " elements, rank 0 has ",
            counts[0], "; they must be the same");

  // Ranks are counted in the order of the scan. Element n + 1 comes to rank n + 1 first; after the
  // round with reach d, a rank holds the elements of 2 d ranks before it.
  int const size = ranks.size();
  auto const rank_of = [&](int n) { return way == direction::forward ? n : size - 1 - n; };
  int const at = rank_of(ranks.rank());
  std::vector<T> before, first;
  std::vector<std::vector<std::byte>> messages;
  std::vector<std::byte> incoming;
  impl::together(ranks, [&] {
    before = first = own;
    for (int d = 1; d < 4 * size; d *= 2) messages.push_back(impl::scan_message<T>(own.size()));
    incoming = impl::scan_message<T>(own.size());
  });
  bool failed = false;
  impl::caught_error error;
  // After an exception a rank goes on with messages that say so.
  auto const guarded = [&](auto const& work) {
    try {
      work();
      return true;
    } catch (...) {
      if (!error) error = impl::caught_error::now();
      failed = true;
      return false;
    }
  };
  auto const send_once = [&](int to, std::vector<T> const& numbers) {
    impl::put(numbers, failed, messages.back());
    std::vector<std::byte> message = std::move(messages.back());
    messages.pop_back();
    ranks.send(rank_of(to), std::move(message));
  };
  auto const send = [&](int to, std::vector<T> const& numbers) {
    if (guarded([&] { send_once(to, numbers); })) return;
    if (!messages.empty()) (void)guarded([&] { send_once(to, numbers); });
  };
  auto const receive = [&](int from, std::vector<T>& numbers) {
    (void)guarded([&] {
      ranks.receive(rank_of(from), std::span(incoming));
      failed |= impl::take(incoming, numbers);
    });
  };
  if (at + 1 < size) send(at + 1, own);
  if (at > 0) receive(at - 1, before);
  for (int d = 1; at > 0 && d < size - 1; d *= 2) {
    if (at + d < size) send(at + d, before);
    if (at - d < 1) continue;
    receive(at - d, first);
    if (!failed) (void)guarded([&] { join(std::span<T const>(first), std::span<T>(before)); });
  }
  impl::together(ranks, error);
  if (at == 0) before.clear();
  return before;
}

// The same for effects, which `then` joins one by one.
template <rank_group Ranks, class Effect>
requires requires(Effect const& e) {
  { then(e, e) } -> std::same_as<Effect>;
}
std::vector<Effect> exclusive_scan(Ranks const& ranks, std::vector<Effect> const& own,
                                   direction way = direction::forward) {
  auto const join = [](std::span<Effect const> first, std::span<Effect> second) {
    for (std::size_t i = 0; i < first.size(); ++i) second[i] = then(first[i], second[i]);
  };
  return exclusive_scan(ranks, own, join, way);
}

}  // namespace wane
