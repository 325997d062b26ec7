// halo: the last tokens before those of a rank, for short convolutions and token shifts.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/checks.hpp"
#include "wane/ranks/agreement.hpp"

namespace wane::impl {

// What ranks say of a halo before they exchange one.
struct halo_report {
  index batch, count, heads, channels, bytes, tokens;
};

template <rank_group Ranks, class T>
std::vector<halo_report> agree_on_halo(Ranks const& ranks, index tokens,
                                       sequence_view<T> const& before) {
  auto const& e = before.extent;
  auto const all = gathered(ranks, halo_report{e[0], e[1], e[2], e[3], sizeof(T), tokens});
  for (std::size_t r = 1; r < all.size(); ++r) {
    auto const same = [&](char const* what, index is, index first) {
      require(is == first, "rank ", r, " has a halo with ", what, " ", is, ", rank 0 has ", first,
              "; they must be the same");
    };
    same("batch", all[r].batch, all[0].batch), same("tokens", all[r].count, all[0].count);
    same("heads", all[r].heads, all[0].heads), same("channels", all[r].channels, all[0].channels);
    same("numbers of bytes", all[r].bytes, all[0].bytes);
  }
  return all;
}

template <class T>
void check_halo(sequence_view<T const> const& own, sequence_view<T> const& before) {
  static_assert(std::is_trivially_copyable_v<T>);
  char const* const names[] = {"batch", "time", "heads", "channels"};
  for (int i : {0, 2, 3}) check_extent("before", names[i], before.extent[i], own.extent[i]);
  require(before.data || before.extent[1] == 0, "before has no data; it must point to its numbers");
  require(own.data || own.extent[1] == 0, "own has no data; it must point to its numbers");
}

// Visits the numbers of tokens [first, last) of x, token by token.
template <class T, class Visit>
void for_each_number(sequence_view<T> const& x, index first, index last, Visit const& visit) {
  for (index t = first; t < last; ++t)
    for (index b = 0; b < x.extent[0]; ++b)
      for (index h = 0; h < x.extent[2]; ++h)
        for (index c = 0; c < x.extent[3]; ++c) visit(x(b, t, h, c));
}

}  // namespace wane::impl

namespace wane {

//   std::vector<float> last(3 * C);
//   index const seen = halo(ranks, {x.data(), 1, T, 1, C}, {last.data(), 1, 3, 1, C});
//
// Fills before, [B, n, H, C], with the n tokens before the first token of this rank, in their
// order, from as many ranks as it takes. Returns how many there are; where the sequence has fewer,
// the first ones are zeros. own: the tokens of this rank, [B, T, H, C]; T may be less than n, or 0.
// For a forward sequence that is not packed; where packed sequences begin is for the caller to see.
// All ranks call it. Throws wane::error where shapes do not fit or differ, rank_failure where
// another rank has thrown.
template <rank_group Ranks, class T>
index halo(Ranks const& ranks, std::type_identity_t<sequence_view<T const>> own,
           sequence_view<T> before) {
  impl::together(ranks, [&] { impl::check_halo<T>(own, before); });
  auto const all = impl::agree_on_halo(ranks, own.extent[1], before);
  index const n = before.extent[1], tokens = own.extent[1];
  auto const bytes =
      static_cast<std::size_t>(n * own.extent[0] * own.extent[2] * own.extent[3]) * sizeof(T);
  auto const take = [&] {
    std::vector<std::byte> message(bytes);
    if (ranks.rank() > 0) ranks.receive(ranks.rank() - 1, std::span(message));
    std::byte const* from = message.data();
    impl::for_each_number(before, 0, n, [&](T& x) {
      std::memcpy(&x, from, sizeof x);
      from += sizeof x;
    });
  };
  auto const give = [&] {
    if (ranks.rank() + 1 == ranks.size()) return;
    std::vector<std::byte> message(bytes);
    std::byte* to = message.data();
    auto const put = [&](T const& x) {
      std::memcpy(to, &x, sizeof x);
      to += sizeof x;
    };
    if (tokens < n) impl::for_each_number(before, tokens, n, put);
    impl::for_each_number(own, std::max<index>(0, tokens - n), tokens, put);
    ranks.send(ranks.rank() + 1, std::move(message));
  };
  // A rank that has n tokens need not wait for those before.
  if (tokens >= n)
    give(), take();
  else
    take(), give();
  index seen = 0;
  for (int r = 0; r < ranks.rank(); ++r) seen += all[static_cast<std::size_t>(r)].tokens;
  return std::min(seen, n);
}

//   halo_adjoint(ranks, by_before, {dx.data(), 1, T, 1, C});
//
// The adjoint of halo: adds the gradients by the tokens before each rank, by_before [B, n, H, C],
// to those of the ranks that hold these tokens, own [B, T, H, C]. Throws as halo does.
template <rank_group Ranks, class T>
void halo_adjoint(Ranks const& ranks, std::type_identity_t<sequence_view<T const>> by_before,
                  sequence_view<T> own) {
  impl::together(ranks, [&] { impl::check_halo<T>(by_before, own); });
  (void)impl::agree_on_halo(ranks, own.extent[1], by_before);
  index const n = by_before.extent[1], tokens = own.extent[1];
  std::vector<T> passed, arrived;
  auto const count = static_cast<std::size_t>(n * own.extent[0] * own.extent[2] * own.extent[3]);
  passed.reserve(count);
  impl::for_each_number(by_before, 0, n, [&](T const& g) { passed.push_back(g); });
  auto const bytes_of = [](std::vector<T>& x) { return std::as_writable_bytes(std::span(x)); };
  if (ranks.rank() + 1 < ranks.size()) {
    arrived.resize(count);
    ranks.receive(ranks.rank() + 1, bytes_of(arrived));
    // They are those of the last n of all tokens up to the end of this rank.
    std::size_t const each = n > 0 ? count / static_cast<std::size_t>(n) : 0;
    auto const behind = static_cast<std::size_t>(std::max<index>(0, n - tokens)) * each;
    std::size_t const shift = count - behind;
    for (std::size_t i = 0; i < behind; ++i) passed[i + shift] += arrived[i];
    T const* from = arrived.data() + behind;
    impl::for_each_number(own, std::max<index>(0, tokens - n), tokens, [&](T& g) { g += *from++; });
  }
  if (ranks.rank() > 0) {
    auto const bytes = bytes_of(passed);
    ranks.send(ranks.rank() - 1, std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
}

}  // namespace wane
