// The laws that every recurrence keeps, checked on any operator.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "wane/testing/law_problem.hpp"

namespace wane::testing {

// The outcome of one law; `error` is relative to the norm of the expected values.
struct law_result {
  std::string law;
  double error, bound;
  bool holds() const { return error <= bound; }
};

}  // namespace wane::testing

namespace wane::testing::impl {

// The laws of one problem, T the type of its states and Y of its outputs.
template <class T, class Y>
class laws {
 public:
  using outcome = result<T, Y>;

  laws(law_problem<T, Y> const& p, double bound, unsigned seed)
      : problem_(p),
        bound_(bound),
        time_(p.time()),
        shape_(p.shape()),
        outputs_(p.output_shape()),
        initial_(empty_states(shape_.batch)) {
    std::mt19937_64 bits(seed);
    p.begin(initial_, bits);
    for (index& position : initial_.positions()) position = 1000;
  }

  std::vector<law_result> check() const {
    std::vector<law_result> results{step_is_run(),
                                    order_does_not_matter(),
                                    split_is_whole(),
                                    size_does_not_matter(),
                                    threads_change_no_bit(),
                                    reverse_splits(),
                                    nothing_changes_nothing(),
                                    positions_count()};
    if (shape_.batch == 1) results.push_back(packed_is_separate());
    if (problem_.takes_lengths()) results.push_back(padded_is_separate());
    if (problem_.has_effects()) {
      results.push_back(effect_is_run());
      results.push_back(effects_compose());
    }
    return results;
  }

  // Token by token through `step` equals one run.
  law_result step_is_run() const {
    outcome stepped(outputs_, initial_);
    for (index t = 0; t < time_; ++t)
      problem_.step(t, t + 1, stepped.view().tokens(t, t + 1), stepped.state);
    return {"step = run", difference(stepped, whole()), bound_};
  }

  // The runner that run() chooses equals the plain order.
  law_result order_does_not_matter() const {
    outcome ordered(outputs_, initial_);
    problem_.run_in_order(ordered.view(), options_for(ordered));
    return {"any runner = in order", difference(whole(), ordered), bound_};
  }

  // A sequence cut anywhere, the state carried over, equals the sequence run whole.
  law_result split_is_whole() const {
    double worst = 0;
    for (index cut : {index{1}, time_ / 3, time_ / 2, time_ - 1})
      if (0 < cut && cut < time_)
        worst = worse(worst, difference(in_pieces({0, cut, time_}), whole()));
    return {"split = whole", worst, bound_};
  }

  // The same holds for many pieces of any size.
  law_result size_does_not_matter() const {
    double worst = 0;
    for (index size : {1, 2, 3, 7, 64, 65}) {
      std::vector<index> cuts;
      for (index t = 0; t < time_; t += size) cuts.push_back(t);
      cuts.push_back(time_);
      worst = worse(worst, difference(in_pieces(cuts), whole()));
    }
    return {"the size of pieces does not matter", worst, bound_};
  }

  // Sequences packed end to end (one of them empty) equal each run alone from an empty state.
  // Packed sequences have a batch of 1.
  law_result packed_is_separate() const {
    std::vector<index> const starts{0, time_ / 5, time_ / 5, time_ / 2, time_};
    outcome packed(outputs_, empty_states(4)), separate = packed;
    run_options<T> options;
    options.packed = {starts};
    options.final = packed.state;
    problem_.run(0, time_, packed.view(), options);
    auto const size = separate.state.values().size() / 4;
    for (std::size_t n = 0; n < 4; ++n) {
      recurrent_state<T> own = empty_states(1);
      run_options<T> alone;
      alone.final = own;
      problem_.run(starts[n], starts[n + 1], separate.view().tokens(starts[n], starts[n + 1]),
                   alone);
      std::copy_n(own.values().data(), size, separate.state.values().data() + n * size);
    }
    return {"packed = separate", difference(packed, separate), bound_};
  }

  // A padded batch equals the runs of its sequences alone, in both directions of time, and the
  // outputs of padding are not written.
  law_result padded_is_separate() const {
    std::vector<index> const lengths = padded_lengths(shape_);
    double worst = 0;
    for (direction way : {direction::forward, direction::reverse}) {
      outcome padded(outputs_, initial_), separate = padded;
      auto options = options_for(padded);
      options.direction = way, options.lengths = lengths;
      problem_.run(0, time_, padded.view(), options);
      bool right = true;
      for (std::size_t b = 0; b < lengths.size(); ++b) {
        right = right && padded.state.positions()[b] == 1000 + lengths[b];
        recurrence_shape shape = outputs_;
        shape.time = lengths[b];
        outcome alone(shape, initial_);
        auto of_alone = options_for(alone);
        of_alone.direction = way;
        problem_.run(0, lengths[b], alone.view(), of_alone);
        auto const copy = [&, b](auto const& from, auto& to) {
          std::size_t const size = from.size() / lengths.size(), row = to.size() / lengths.size();
          std::copy_n(from.data() + b * size, size, to.data() + b * row);
        };
        copy(alone.output, separate.output), copy(alone.state.values(), separate.state.values());
      }
      right = right && padded.take_padding(lengths) && separate.take_padding(lengths);
      worst = worse(worst, right ? difference(padded, separate) : 1.);
    }
    return {"padded = separate", worst, bound_};
  }

  // Every number of threads gives the same bits.
  law_result threads_change_no_bit() const {
    wane::impl::all_threads const used;
    double different = 0;
    for (int threads : {1, 2, 3, 5}) {
      outcome other(outputs_, initial_);
      auto options = options_for(other);
      options.threads = threads;
      problem_.run(0, time_, other.view(), options);
      different += !other.same_bits(whole());
    }
    return {"threads change no bit", different, 0};
  }

  // In reverse, too, split = whole; the later piece comes first.
  law_result reverse_splits() const {
    outcome together(outputs_, initial_), split(outputs_, initial_);
    auto options = options_for(together);
    options.direction = direction::reverse;
    problem_.run(0, time_, together.view(), options);
    index const cut = time_ / 2;
    options = options_for(split);
    options.direction = direction::reverse;
    problem_.run(cut, time_, split.view().tokens(cut, time_), options);
    options.initial = split.state;
    problem_.run(0, cut, split.view().tokens(0, cut), options);
    return {"reverse: split = whole", difference(split, together), bound_};
  }

  // A run over no tokens leaves the state the same to the bit.
  law_result nothing_changes_nothing() const {
    outcome none(outputs_, empty_states(shape_.batch));
    problem_.run(0, 0, none.view().tokens(0, 0), options_for(none));
    return {"no token, no change", none.state.values() == initial_.values() ? 0. : 1., 0};
  }

  // The position in the state is the number of tokens seen.
  law_result positions_count() const {
    double wrong = 0;
    auto const after = whole();
    for (index position : after.state.positions()) wrong += position != 1000 + time_;
    return {"positions count tokens", wrong, 0};
  }

  // The effect of all tokens, applied to the initial state, gives the final state of a run.
  law_result effect_is_run() const {
    outcome applied = whole();
    problem_.apply_effects(initial_, applied.state.values());
    return {"effect = run", difference(applied, whole()), bound_};
  }

  // Effects of pieces compose to the effect of the whole, in any grouping, with the identity.
  law_result effects_compose() const {
    index const a = time_ / 3, b = time_ / 2;
    auto const first = seen_effects(0, a), second = seen_effects(a, b),
               third = seen_effects(b, time_);
    auto const wanted = seen_effects(0, time_);
    distance apart;
    auto const compare = [&](effect<T> const& is, effect<T> const& should_be) {
      apart.see<T>({is.decay, is.drive}, {should_be.decay, should_be.drive});
    };
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      compare(then(then(first[i], second[i]), third[i]), wanted[i]);
      compare(then(first[i], then(second[i], third[i])), wanted[i]);
      compare(then(effect<T>{}, wanted[i]), wanted[i]);
      compare(then(wanted[i], effect<T>{}), wanted[i]);
    }
    // The decays are differences of states, and so are rounded twice.
    return {"effects compose", apart.relative(), 2 * bound_};
  }

 private:
  recurrent_state<T> empty_states(index sequences) const {
    return {sequences, shape_.heads, shape_.rows, shape_.columns};
  }

  run_options<T> options_for(outcome& to) const {
    run_options<T> options;
    options.initial = initial_;
    options.final = to.state;
    return options;
  }

  outcome in_pieces(std::vector<index> const& cuts) const {
    outcome to(outputs_, initial_);
    auto options = options_for(to);
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      problem_.run(cuts[i], cuts[i + 1], to.view().tokens(cuts[i], cuts[i + 1]), options);
      options.initial = to.state_to_read();
    }
    return to;
  }
  outcome whole() const { return in_pieces({0, time_}); }

  // drive: the final state from zeros; decay: the final state from ones less drive.
  std::vector<effect<T>> seen_effects(index begin, index end) const {
    auto const from = [&](T start) {
      recurrent_state<T> state = empty_states(shape_.batch);
      for (T& s : state.values()) s = start;
      for (index& position : state.positions()) position = begin;
      recurrence_shape part = outputs_;
      part.time = end - begin;
      outcome to(part, state);
      run_options<T> options;
      options.initial = state;
      options.final = to.state;
      problem_.run(begin, end, to.view(), options);
      return to.state.values();
    };
    auto const ones = from(T(1)), zeros = from(T(0));
    std::vector<effect<T>> found(ones.size());
    for (std::size_t i = 0; i < found.size(); ++i) found[i] = {ones[i] - zeros[i], zeros[i]};
    return found;
  }

  law_problem<T, Y> const& problem_;
  double bound_;
  index time_;
  recurrence_shape shape_, outputs_;
  recurrent_state<T> initial_;
};

}  // namespace wane::testing::impl

namespace wane::testing {

// Runs a problem as the laws need; states have its accumulating type. `bound` is the agreement
// asked for: 1e-6 in float and 1e-12 in double for decays that fade.
template <problem P, class Runner = cpu_runner>
class law_kit {
 public:
  law_kit(P const& p, double bound, unsigned seed, Runner runner = {})
      : problem_(p, runner), bound_(bound), seed_(seed) {}

  std::vector<law_result> check() const {
    using Op = operator_of<P>;
    return impl::laws<accumulate_type<Op>, output_type<Op>>(problem_, bound_, seed_).check();
  }

 private:
  impl::law_problem_of<P, Runner> problem_;
  double bound_;
  unsigned seed_;
};

//   check_laws(problem, 1e-6)  // the result of each law; states are random numbers from `seed`
template <problem P, class Runner = cpu_runner>
std::vector<law_result> check_laws(P const& p, double bound, unsigned seed = 1,
                                   Runner runner = {}) {
  return law_kit<P, Runner>(p, bound, seed, runner).check();
}

}  // namespace wane::testing
