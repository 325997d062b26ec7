// state_chain: states that go from rank to rank, part by part, while each rank works on its tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/ranks/sharding.hpp"
#include "wane/ranks/state_message.hpp"

namespace wane::impl {

// The states of the sequences of a link, seen as states [N, H, rows, columns] of all N sequences of
// the rank; only those of the link may be read. They lie in `given` memory, or in their own.
template <class State>
struct linked_states {
  view<State, 4> values;
  aligned_vector<State> own;

  linked_states(shard_link const& link, index sequences, recurrence_shape const& shape,
                view<State, 4> const& given)
      : values(given) {
    if (given.data) return;
    index const matrix = shape.rows * shape.columns, size = shape.heads * matrix;
    own.resize(static_cast<std::size_t>(link.sequences * size));
    values = {own.data(),
              {sequences, shape.heads, shape.rows, shape.columns},
              {link.sequences == 1 ? 0 : size, matrix, shape.columns, 1}};
  }
};

// One rank of a chain. States arrive from the rank of `from` and leave to that of `to`.
template <class State, rank_group Ranks>
class state_chain {
 public:
  // Memory of the caller for states that arrive and leave may be given.
  state_chain(Ranks const& ranks, shard_links const& links, shard_parts const& parts,
              recurrence_shape const& shape, index sequences, view<State, 4> const& arrive_in,
              view<State, 4> const& leave_from)
      : ranks_(ranks),
        links_(links),
        sequences_(sequences),
        one_(links.from.present() && links.to.present() && links.from.first == links.to.first),
        arrived(links.from, sequences, shape, arrive_in),
        left(links.to, sequences, shape,
             leave_from.data || arrive_in.data || !one_ ? leave_from : arrived.values) {
    auto const list = [&](shard_link const& link, std::vector<part>& to) {
      if (!link.present()) return;
      parts.for_each(link, [&](state_box const& box) {
        to.push_back({box, {box, shape.rows, std::ssize(to)}});
        room_ = std::max(room_, to.back().message.bytes());
      });
    };
    list(links.from, arriving_), list(links.to, leaving_);
    // What a rank that fails needs is there before it fails.
    if (!arriving_.empty()) incoming_.resize(room_);
    if (!leaving_.empty()) of_failure_ = leaving_[0].message.of_failure(ranks.rank(), room_);
  }

  // Calls pass(), which carries; when it throws, the other ranks of the chain do not wait.
  template <class Pass>
  void guard(Pass const& pass) {
    try {
      pass();
    } catch (...) {
      give_up();
      throw;
    }
  }

  // Sends the parts for which early(box) has found the states, before any part is worked on. It has
  // put them into `from`.
  template <class Early>
  void send_early(linked_states<State> const& from, Early&& early) {
    std::vector<part*> found;
    for (part& p : leaving_)
      if (early(p.box)) found.push_back(&p);
    for (part* p : found) send(*p, from, std::ssize(found));
  }

  // Calls work(box, arrives, leaves) for parts of all states, for all parts at once where all of
  // them are there early: heads that lie side by side are faster together. What another rank waits
  // for comes first, and what waits for another rank comes last, in the order in which it comes.
  // The states of a part that arrives lie in `arrived`; those of a part that leaves, work puts into
  // `left`.
  template <class Work>
  void carry(Work const& work) {
    if (!one_ && !leaving_.empty() && !first_left(leaving_))
      work(all_of(links_.to), false, true);
    else if (!one_)
      for (part& p : leaving_) work(p.box, false, true), send(p, left);
    index begin = 0, end = sequences_;
    auto const leave_out = [&](shard_link const& link) {
      if (!link.present()) return;
      (link.first == begin ? begin : end) += link.first == begin ? link.sequences : -link.sequences;
    };
    leave_out(links_.from);
    if (!one_) leave_out(links_.to);
    if (begin < end)
      work(state_box{.first_sequence = begin, .sequences = end - begin}, false, false);
    for (std::size_t n = 0; n < arriving_.size(); ++n) {
      std::size_t const i = receive();
      if (n == 0 && early_ == std::ssize(arriving_)) {
        while (++n < arriving_.size()) (void)receive();
        work(all_of(links_.from), true, one_);
        if (one_)
          for (part& p : leaving_) send(p, left);
        return;
      }
      work(arriving_[i].box, true, one_);
      if (one_) send(leaving_[i], left);
    }
  }
  // The same where a part holds all sequences of the rank.
  template <class Work>
  void carry_all_sequences(Work const& work) {
    bool const arrives = !arriving_.empty(), leaves = !leaving_.empty();
    std::size_t const parts = std::max<std::size_t>(1, std::max(arriving_.size(), leaving_.size()));
    for (std::size_t n = 0; n < parts; ++n) {
      std::size_t const i = arrives ? receive() : n;
      state_box box = arrives ? arriving_[i].box : leaves ? leaving_[i].box : state_box();
      box.first_sequence = 0, box.sequences = sequences_;
      work(box, arrives, leaves);
      if (leaves) send(leaving_[i], left);
    }
  }

 private:
  struct part {
    state_box box;
    state_message<State> message;
    bool done = false;  // sent, or received
  };
  static state_box all_of(shard_link const& link) {
    return {.first_sequence = link.first, .sequences = link.sequences};
  }
  static part* first_left(std::vector<part>& of) {
    for (part& p : of)
      if (!p.done) return &p;
    return nullptr;
  }

  // After an exception: tells the next rank, and takes what the rank before still sends. Allocates
  // nothing.
  void give_up() {
    if (first_left(leaving_)) ranks_.send(links_.to.rank, std::move(of_failure_));
    while (part* p = failed_before_ ? nullptr : first_left(arriving_)) {
      p->done = true;
      ranks_.receive(links_.from.rank, std::span(incoming_));
      failed_before_ = header_of(incoming_).failed > 0;
    }
  }
  // Returns the number of the part that came.
  std::size_t receive() {
    ranks_.receive(links_.from.rank, std::span(incoming_));
    state_message_header const header = header_of(incoming_);
    if (header.failed > 0) {
      failed_before_ = true;
      throw rank_failure(static_cast<int>(header.failed) - 1, "it sent no state");
    }
    auto const i = static_cast<std::size_t>(header.part);
    bool const known =
        i < arriving_.size() && !arriving_[i].done && arriving_[i].message.is(incoming_);
    (known ? &arriving_[i] : first_left(arriving_))->done = true;
    require(known, "rank ", links_.from.rank,
            " sent a message that is no part of a state of this call; all ranks must make the same "
            "calls, with the same version of wane");
    arriving_[i].message.into(incoming_, arrived.values);
    early_ = header.early;
    return i;
  }
  void send(part& p, linked_states<State> const& from, index early = 0) {
    if (p.done) return;
    ranks_.send(links_.to.rank, p.message.of(from.values, room_, early));
    p.done = true;
  }

  Ranks const& ranks_;
  shard_links links_;
  index sequences_;
  bool one_;  // the sequences that arrive are those that leave
  std::vector<part> arriving_, leaving_;
  std::size_t room_ = 0;  // the bytes of every message
  std::vector<std::byte> incoming_, of_failure_;
  bool failed_before_ = false;
  index early_ = 0;  // parts that the rank before found early

 public:
  linked_states<State> arrived, left;
};

}  // namespace wane::impl
