// The laws of sharded_run and sharded_adjoint: ranks find what one process finds.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/testing/laws.hpp"
#include "wane/testing/sharded_problem.hpp"

namespace wane::testing::impl {

// How a call lies on ranks.
struct sharded_way {
  direction way = direction::forward;
  std::vector<index> starts = {};   // of packed sequences
  std::vector<index> lengths = {};  // of a padded batch
  index parts = 0;
  int threads = 1;
  bool keeps_starts = false;  // sharded_run hands the states at the cuts to sharded_adjoint
  wane::exchange exchange = wane::exchange::chosen;
};

template <class T, class Y, class Input>
class sharded_laws {
 public:
  sharded_laws(sharded_problem<T, Y, Input> const& p, double bound, unsigned seed)
      : problem_(p), bound_(bound), shape_(p.shape()), outputs_(p.output_shape()), bits_(seed) {
    auto const numbers = outputs_.batch * outputs_.time * outputs_.heads * outputs_.columns;
    output_gradient_ = random_numbers<Y>(static_cast<std::size_t>(numbers), bits_);
  }

  std::vector<law_result> check() {
    std::vector<law_result> results;
    auto const law = [&](std::string const& name, sharded_way const& way) {
      results.push_back({"sharded: " + name, worst_error(way), bound_});
    };
    results.push_back({"sharded: the same bits as in pieces", different_from_pieces(), 0});
    results.push_back({"sharded: parts and threads change no bit", parts_change_bits(), 0});
    auto const laws_of = [&](std::string const& ranks, exchange by) {
      law(ranks + " = whole", {.exchange = by});
      law(ranks + " = whole, starts handed on", {.keeps_starts = true, .exchange = by});
      law("reverse: " + ranks + " = whole", {.way = direction::reverse, .exchange = by});
      if (shape_.batch == 1) {
        index const t = shape_.time;
        std::vector<index> const starts{0, t / 9, t / 9, t / 2, t / 2 + 1, t};
        law("packed: " + ranks + " = whole", {.starts = starts, .exchange = by});
        law("packed, reverse: " + ranks + " = whole",
            {.way = direction::reverse, .starts = starts, .exchange = by});
      }
      law("padded: " + ranks + " = whole", {.lengths = padded_lengths(shape_), .exchange = by});
    };
    laws_of("ranks", exchange::states);
    if (problem_.has_effects()) laws_of("ranks by effects", exchange::effects);
    law("ranks by what is chosen = whole", {});
    return results;
  }

 private:
  // What the calls of one way give. `gradients` are those by all inputs.
  struct outcome {
    result<T, Y> forward;
    std::vector<Input> gradients;
    recurrent_state<T> initial_gradient;
  };
  // The tokens and sequences of a rank.
  struct piece {
    index begin, end, first, sequences;
    packed_shard packed;
  };

  index sequences(sharded_way const& way) const {
    return way.starts.empty() ? shape_.batch : static_cast<index>(way.starts.size()) - 1;
  }
  recurrent_state<T> states(index count) const {
    return {count, shape_.heads, shape_.rows, shape_.columns};
  }
  recurrent_state<T> initial_states(sharded_way const& way) const {
    std::mt19937_64 bits(1);
    recurrent_state<T> s = states(sequences(way));
    problem_.begin(s, bits);
    for (index& position : s.positions()) position = 1000;
    return s;
  }
  recurrent_state<T> final_gradients(sharded_way const& way) const {
    std::mt19937_64 bits(2);
    recurrent_state<T> s = states(sequences(way));
    s.values() = random_numbers<T>(s.values().size(), bits);
    return s;
  }
  // Copies `count` sequences.
  void copy(recurrent_state<T> const& from, index first, recurrent_state<T>& to, index into,
            index count) const {
    index const size = shape_.heads * shape_.rows * shape_.columns;
    std::copy_n(from.values().begin() + first * size, count * size,
                to.values().begin() + into * size);
    std::copy_n(from.positions().begin() + first, count, to.positions().begin() + into);
  }

  // The tokens of a rank, with random cuts; some ranks may be without tokens.
  std::vector<piece> pieces_for(int ranks, sharded_way const& way) {
    std::vector<index> cuts{0, shape_.time};
    for (int r = 1; r < ranks; ++r)
      cuts.push_back(std::uniform_int_distribution<index>(0, shape_.time)(bits_));
    std::sort(cuts.begin(), cuts.end());
    std::vector<piece> pieces;
    for (std::size_t r = 0; r + 1 < cuts.size(); ++r) {
      piece of{cuts[r], cuts[r + 1], 0, shape_.batch, {}};
      if (!way.starts.empty()) {
        of.packed = shard_of(way.starts, of.begin, of.end);
        of.first = of.packed.first;
        of.sequences = static_cast<index>(of.packed.starts.size()) - 1;
      }
      pieces.push_back(of);
    }
    return pieces;
  }

  sequence_view<Y> dy(index begin, index end) const {
    sequence_view<Y> const all(const_cast<Y*>(output_gradient_.data()), outputs_.batch,
                               outputs_.time, outputs_.heads, outputs_.columns);
    return all.tokens(begin, end);
  }
  outcome nothing(sharded_way const& way) const {
    outcome to{{outputs_, states(sequences(way))}, {}, states(sequences(way))};
    if (!way.lengths.empty()) std::fill(to.forward.output.begin(), to.forward.output.end(), Y(0));
    return to;
  }

  outcome whole(sharded_way const& way) const {
    outcome to = nothing(way);
    recurrent_state<T> const initial = initial_states(way), by_final = final_gradients(way);
    problem_.run(0, shape_.time, to.forward.view(),
                 {.initial = initial,
                  .final = to.forward.state,
                  .packed = packed(way.starts),
                  .lengths = way.lengths,
                  .direction = way.way,
                  .threads = way.threads});
    if (problem_.has_adjoint())
      problem_.adjoint(dy(0, shape_.time),
                       {.initial = initial,
                        .final_gradient = by_final,
                        .initial_gradient = to.initial_gradient,
                        .packed = packed(way.starts),
                        .lengths = way.lengths,
                        .direction = way.way,
                        .threads = way.threads},
                       to.gradients);
    return to;
  }

  // The calls of one rank. Initial states and final gradients that it must not read are NaN.
  outcome of_rank(thread_rank const& ranks, piece const& own, sharded_way const& way,
                  sequence_view<Y> const& output) const {
    bool const last = ranks.rank() + 1 == ranks.size(), first = ranks.rank() == 0;
    bool const forward = way.way == direction::forward;
    outcome to{{{}, states(own.sequences)}, {}, states(own.sequences)};
    recurrent_state<T> initial = states(own.sequences), by_final = initial, starts = initial;
    copy(initial_states(way), own.first, initial, 0, own.sequences);
    copy(final_gradients(way), own.first, by_final, 0, own.sequences);
    auto const spoil = [&](recurrent_state<T>& s) {
      std::fill(s.values().begin(), s.values().end(), T(NAN));
    };
    if (way.starts.empty() && !(forward ? first : last)) spoil(initial);
    if (way.starts.empty() && !(forward ? last : first)) spoil(by_final);
    std::vector<index> lengths;
    for (index n : way.lengths)
      lengths.push_back(std::clamp<index>(n - own.begin, 0, own.end - own.begin));
    sharding<T> shard{
        .continues = own.packed.continues, .parts = way.parts, .exchange = way.exchange};
    if (way.keeps_starts) shard.start = starts;
    problem_.sharded_run(ranks, own.begin, own.end, output,
                         {.initial = initial,
                          .final = to.forward.state,
                          .packed = packed(own.packed.starts),
                          .lengths = lengths,
                          .direction = way.way,
                          .threads = way.threads},
                         shard);
    if (problem_.has_adjoint())
      problem_.sharded_adjoint(ranks, own.begin, own.end, dy(own.begin, own.end),
                               {.initial = initial,
                                .final_gradient = by_final,
                                .initial_gradient = to.initial_gradient,
                                .packed = packed(own.packed.starts),
                                .lengths = lengths,
                                .direction = way.way,
                                .threads = way.threads},
                               shard, to.gradients);
    return to;
  }

  outcome sharded(std::vector<piece> const& pieces, sharded_way const& way) const {
    outcome all = nothing(way);
    std::vector<std::optional<outcome>> of(pieces.size());
    on_ranks(static_cast<int>(pieces.size()), [&](thread_rank const& ranks) {
      auto const r = static_cast<std::size_t>(ranks.rank());
      of[r] =
          of_rank(ranks, pieces[r], way, all.forward.view().tokens(pieces[r].begin, pieces[r].end));
    });
    auto const take = [&](std::size_t r, bool ends) {
      piece const& own = pieces[r];
      if (ends)
        copy(of[r]->forward.state, 0, all.forward.state, own.first, own.sequences);
      else
        copy(of[r]->initial_gradient, 0, all.initial_gradient, own.first, own.sequences);
    };
    // The last rank of a sequence has its final state, the first its initial gradient.
    bool const forward = way.way == direction::forward;
    for (std::size_t r = 0; r < pieces.size(); ++r) {
      take(r, forward), take(pieces.size() - 1 - r, !forward);
      auto const& g = of[r]->gradients;
      if (all.gradients.empty()) all.gradients.resize(g.size());
      for (std::size_t i = 0; i < g.size(); ++i) all.gradients[i] += g[i];
    }
    return all;
  }

  double worst_error(sharded_way const& way) {
    outcome const expected = whole(way);
    double worst = 0;
    for (int ranks : {1, 2, 3, 4, 7}) {
      outcome const is = sharded(pieces_for(ranks, way), way);
      distance gradients;
      gradients.see(is.gradients, expected.gradients);
      distance initial;
      if (problem_.has_adjoint())
        initial.see<T>(is.initial_gradient.values(), expected.initial_gradient.values());
      for (double const error :
           {difference(is.forward, expected.forward), gradients.relative(), initial.relative()})
        worst = worse(worst, error);
      if (is.forward.state.positions() != expected.forward.state.positions()) worst = 1;
    }
    return worst;
  }

  // How many numbers of ranks give other bits than runs of the pieces in turn.
  double different_from_pieces() {
    double different = 0;
    sharded_way const chain{.exchange = exchange::states};
    for (int ranks : {1, 2, 3, 4, 7}) {
      auto const pieces = pieces_for(ranks, {});
      outcome const is = sharded(pieces, chain);
      outcome in_turn = nothing({});
      in_turn.forward.state = initial_states({});
      for (piece const& own : pieces)
        problem_.run(own.begin, own.end, in_turn.forward.view().tokens(own.begin, own.end),
                     {.initial = in_turn.forward.state_to_read(),
                      .final = in_turn.forward.state,
                      .threads = 1});
      different += !is.forward.same_bits(in_turn.forward);
    }
    return different;
  }

  double parts_change_bits() {
    wane::impl::all_threads const used;
    auto const pieces = pieces_for(3, {});
    double different = 0;
    auto const compare = [&](exchange by) {
      outcome const one = sharded(pieces, {.parts = 1, .exchange = by});
      for (auto const& way :
           {sharded_way{.parts = 2, .exchange = by}, sharded_way{.parts = 1000, .exchange = by},
            sharded_way{.threads = 3, .exchange = by}}) {
        outcome const is = sharded(pieces, way);
        different += !is.forward.same_bits(one.forward) || is.gradients != one.gradients;
      }
    };
    compare(exchange::states);
    if (problem_.has_effects()) compare(exchange::effects);
    return different;
  }

  static packed_sequences packed(std::vector<index> const& starts) {
    return starts.empty() ? packed_sequences{} : packed_sequences{starts};
  }

  sharded_problem<T, Y, Input> const& problem_;
  double bound_;
  recurrence_shape shape_, outputs_;
  std::mt19937_64 bits_;
  std::vector<Y> output_gradient_;
};

}  // namespace wane::testing::impl

namespace wane::testing {

//   check_sharded_laws(problem, 1e-6)  // the result of each law, on 1, 2, 3, 4 and 7 ranks
//
// Ranks are threads, cuts are random. Where the problem is differentiable piece by piece, with
// gradients(begin, end), sharded_adjoint is checked too.
template <problem P>
std::vector<law_result> check_sharded_laws(P const& p, double bound, unsigned seed = 1) {
  using kind = impl::sharded_problem_of<P>;
  kind const of(p);
  return impl::sharded_laws<typename kind::T, typename kind::Y, typename kind::Input>(of, bound,
                                                                                      seed)
      .check();
}

}  // namespace wane::testing
