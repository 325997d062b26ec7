// Messages that carry a part of a state, or the news that a rank has failed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "wane/core/state/walk.hpp"
#include "wane/ranks/agreement.hpp"

namespace wane::impl {

// A message is this header and the numbers of the part in row-major order, all in the bytes of the
// machine. The numbers of a rank that failed have no meaning.
struct state_message_header {
  char magic[8] = {'w', 'a', 'n', 'e', 'p', 'a', 'r', 't'};
  index number_bytes = 0, extent[4] = {};
  index part = 0;    // its number
  index failed = 0;  // 1 + the rank that failed, or 0
  index early = 0;   // how many parts were found from the last tokens; they come first
};

inline state_message_header header_of(std::span<std::byte const> message) {
  state_message_header header;
  std::memcpy(&header, message.data(), sizeof header);
  return header;
}

// The message of one part. `room`: the bytes of the largest message of the call, which all have.
template <class State>
class state_message {
 public:
  static_assert(std::is_trivially_copyable_v<State>,
                "wane: states cross ranks as bytes; this type of number cannot be copied so");

  state_message(state_box const& box, index rows, index part) : box_(box), rows_(rows) {
    header_.number_bytes = sizeof(State), header_.part = part;
    index const extent[] = {box.sequences, box.heads, rows, box.columns};
    std::copy_n(extent, 4, header_.extent);
  }

  std::size_t bytes() const {
    return sizeof header_ +
           static_cast<std::size_t>(box_.sequences * box_.heads * rows_ * box_.columns) *
               sizeof(State);
  }

  std::vector<std::byte> of(view<State, 4> const& state, std::size_t room, index early) const {
    std::vector<std::byte> message(room);
    state_message_header header = header_;
    header.early = early;
    std::memcpy(message.data(), &header, sizeof header);
    std::byte* to = message.data() + sizeof header;
    for_each_number(state, [&](State const& number) {
      std::memcpy(to, &number, sizeof number);
      to += sizeof number;
    });
    return message;
  }
  std::vector<std::byte> of_failure(int rank, std::size_t room) const {
    std::vector<std::byte> message(room);
    state_message_header header = header_;
    header.failed = 1 + rank;
    std::memcpy(message.data(), &header, sizeof header);
    return message;
  }

  // Whether a message is that of this part.
  bool is(std::span<std::byte const> message) const {
    state_message_header of = header_of(message);
    of.early = 0;
    return std::memcmp(&of, &header_, sizeof of) == 0;
  }
  void into(std::span<std::byte const> message, view<State, 4> const& state) const {
    std::byte const* from = message.data() + sizeof header_;
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
  state_message_header header_;
};

}  // namespace wane::impl
