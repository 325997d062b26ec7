// Messages that carry a part of a state, or the news that a rank has failed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "wane/core/state/walk.hpp"
#include "wane/ranks/agreement.hpp"

namespace wane::impl {

// A message is this header, the positions of its sequences, and its numbers in row-major order,
// all in the bytes of the machine. Those of a rank that failed have no meaning.
struct state_message_header {
  char magic[8] = {'w', 'a', 'n', 'e', 'p', 'a', 'r', 't'};
  index number_bytes = 0, extent[4] = {}, first[4] = {};
  index failed = 0;
  index early = 0;  // how many parts were found from the last tokens; they come first
};

template <class State>
class state_message {
 public:
  static_assert(std::is_trivially_copyable_v<State>,
                "wane: states cross ranks as bytes; this type of number cannot be copied so");

  // room: the bytes of the largest message of the call.
  state_message(state_box const& box, index rows, std::size_t room = 0)
      : box_(box), rows_(rows), room_(room) {
    header_.number_bytes = sizeof(State);
    index const extent[] = {box.sequences, box.heads, rows, box.columns};
    index const first[] = {box.first_sequence, box.first_head, 0, box.first_column};
    std::copy_n(extent, 4, header_.extent);
    // Sequences have numbers of their own on each rank.
    std::copy_n(first + 1, 3, header_.first + 1);
  }

  std::size_t bytes() const {
    auto const numbers = static_cast<std::size_t>(box_.heads * rows_ * box_.columns);
    return sizeof header_ +
           static_cast<std::size_t>(box_.sequences) * (sizeof(index) + numbers * sizeof(State));
  }

  // The bytes of the message, with those that are not used.
  std::size_t size() const { return std::max(bytes(), room_); }

  // The message of this part of a state. positions: those of all sequences of this rank.
  std::vector<std::byte> of(view<State, 4> const& state, std::vector<index> const& positions,
                            index early = 0) const {
    std::vector<std::byte> message(size());
    state_message_header header = header_;
    header.early = early;
    std::memcpy(message.data(), &header, sizeof header);
    std::byte* to = message.data() + sizeof header_;
    for (index n = 0; n < box_.sequences; ++n, to += sizeof(index))
      std::memcpy(to, &positions[static_cast<std::size_t>(box_.first_sequence + n)], sizeof(index));
    for_each_number(state, [&](State const& number) {
      std::memcpy(to, &number, sizeof number);
      to += sizeof number;
    });
    return message;
  }
  std::vector<std::byte> of_failure(int rank) const {
    state_message_header failed = header_;
    failed.failed = 1 + rank;
    std::vector<std::byte> message(size());
    std::memcpy(message.data(), &failed, sizeof failed);
    return message;
  }

  static state_message_header header(std::vector<std::byte> const& message) {
    state_message_header of;
    std::memcpy(&of, message.data(), sizeof of);
    return of;
  }
  // The rank that failed, as a message says, or -1.
  static int failed(std::vector<std::byte> const& message) {
    return static_cast<int>(header(message).failed) - 1;
  }
  // Whether a message is that of this part.
  bool is(std::vector<std::byte> const& message) const {
    state_message_header of = header(message);
    of.early = 0;
    return std::memcmp(&of, &header_, sizeof of) == 0;
  }
  // Throws wane::error for a message of something else.
  void into(std::vector<std::byte> const& message, view<State, 4> const& state,
            std::vector<index>& positions, int sender) const {
    require(is(message), "rank ", sender,
            " sent a message that is no part of a state of this call; all ranks must make the same "
            "calls, with the same version of wane");
    std::byte const* from = message.data() + sizeof header_;
    for (index n = 0; n < box_.sequences; ++n, from += sizeof(index))
      std::memcpy(&positions[static_cast<std::size_t>(box_.first_sequence + n)], from,
                  sizeof(index));
    for_each_number(state, [&](State& number) {
      std::memcpy(&number, from, sizeof number);
      from += sizeof number;
    });
  }

 private:
  template <class Visit>
  void for_each_number(view<State, 4> const& state, Visit const& visit) const {
    for (index n = 0; n < box_.sequences; ++n)
      for (index h = 0; h < box_.heads; ++h)
        for (index i = 0; i < rows_; ++i)
          for (index j = 0; j < box_.columns; ++j)
            visit(state(box_.first_sequence + n, box_.first_head + h, i, box_.first_column + j));
  }

  state_box box_;
  index rows_;
  std::size_t room_;
  state_message_header header_;
};

}  // namespace wane::impl
