// two_sided_stream: run_two_sided for tokens that come one after the other, with delayed outputs.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/two_sided/run.hpp"

namespace wane {

//   two_sided_stream stream(op, op.future());  // a `laplace` with a window that ends
//   stream.push(values, output);               // output holds stream.ready(T) tokens
//   stream.finish(last);                       // last holds stream.waiting() tokens
//
// Needs banks whose inputs leave. D is the farthest reach of a head, ceil(W) for a window of width
// W: an input D tokens ahead has no weight. Outputs come in blocks of D, each of which needs D - 1
// tokens more; so a token is answered after D - 1 to 2 D - 2 further tokens. Each token is taken
// through the past once and through the future at most twice. The stream holds 2 D - 1 inputs and
// as many outputs. All sequences of the batch advance together.
template <pole_bank Past, pole_bank Future = Past>
class two_sided_stream {
 public:
  static_assert(leaving_inputs<Past> && leaving_inputs<Future>,
                "wane::two_sided_stream: inputs must leave the banks, as they do a window that "
                "ends (rectangular, Hann); without one an answer needs all that comes");
  using input = input_of<Past>;
  using number = output_type<Past>;

  // past and future as for run_two_sided. Their values give batch, heads and channels and are not
  // read (they may have no tokens). All else that the banks refer to must outlive the stream.
  // threads: as in run_options. Throws wane::error where a parameter is wrong.
  two_sided_stream(Past const& past, Future const& future, int threads = 0)
      : past_(past),
        future_(future),
        shape_(past.shape()),
        reach_(farthest(past, future)),
        threads_(threads),
        inputs_(numbers(2 * reach_ - 1)),
        ahead_(numbers(2 * reach_ - 1)),
        state_(past) {
    impl::check_sides(past, future);
    impl::checked_shape(past), impl::checked_shape(future);
  }

  // The most further tokens that an answer waits for.
  index delay() const { return 2 * reach_ - 2; }
  // Tokens taken and not yet answered.
  index waiting() const { return waiting_; }
  // How many answers pushing so many further tokens gives.
  index ready(index tokens) const { return (waiting_ + tokens - reach_ + 1) / reach_ * reach_; }

  // Takes values [B, T, H, V]; output [B, ready(T), H, V], with ready asked before, receives the
  // oldest answers. Throws wane::error, before anything is taken, when a shape does not fit.
  template <class Out>
  void push(sequence_view<input const> values, sequence_view<Out> output) {
    index const tokens = values.extent[1];
    check("values", values, shape_of(tokens));
    check("output", output, shape_of(ready(tokens)));
    index given = 0;
    for (index taken = 0; taken < tokens;) {
      index const count = std::min(tokens - taken, 2 * reach_ - 1 - waiting_);
      copy(values.tokens(taken, taken + count), inputs().tokens(waiting_, waiting_ + count));
      taken += count, waiting_ += count;
      if (waiting_ < 2 * reach_ - 1) break;
      answer(reach_, output.tokens(given, given + reach_));
      given += reach_;
      copy(inputs().tokens(reach_, waiting_), inputs().tokens(0, waiting_ - reach_));
      waiting_ -= reach_;
    }
  }

  // Ends the sequences: output [B, waiting(), H, V] receives the last answers. The next token
  // begins new sequences. Throws wane::error, before anything is written, when the shape does not
  // fit.
  template <class Out>
  void finish(sequence_view<Out> output) {
    check("output", output, shape_of(waiting_));
    answer(waiting_, output);
    waiting_ = 0;
    state_ = recurrent_state<accumulate_type<Past>>(past_);
  }

 private:
  struct other_values {
    sequence_view<input const> values;
    sequence_view<input const> by_column(sequence_view<input const> const&) const { return values; }
    template <class View>
    View whole(View const& x) const {
      return x;
    }
  };

  static index farthest(Past const& past, Future const& future) {
    index reach = 1;
    for (index h = 0; h < recurrence_shape(past.shape()).heads; ++h)
      reach = std::max({reach, past.reach(h), future.reach(h)});
    return reach;
  }
  std::size_t numbers(index tokens) const {
    return static_cast<std::size_t>(shape_.batch * tokens * shape_.heads * shape_.columns);
  }
  recurrence_shape shape_of(index tokens) const {
    return {shape_.batch, tokens, shape_.heads, 1, shape_.columns};
  }
  template <class T>
  sequence_view<T> held(std::vector<T>& of) const {
    return {of.data(), shape_.batch, 2 * reach_ - 1, shape_.heads, shape_.columns};
  }
  sequence_view<input> inputs() { return held(inputs_); }

  // Calls body(place, column) for every number of a view of so many tokens.
  template <class Body>
  void for_each(index tokens, Body const& body) const {
    for (index b = 0; b < shape_.batch; ++b)
      for (index t = 0; t < tokens; ++t)
        for (index h = 0; h < shape_.heads; ++h)
          for (index j = 0; j < shape_.columns; ++j) body(place<>{b, t, h}, j);
  }
  void copy(sequence_view<input const> from, sequence_view<input> to) const {
    for_each(from.extent[1],
             [&](place<> at, index j) { *to.element(at, j) = *from.element(at, j); });
  }

  // Answers the first `count` waiting tokens; all later ones that wait are their future.
  template <class Out>
  void answer(index count, sequence_view<Out> to) {
    sequence_view<input const> const values = inputs();
    auto const ahead = held(ahead_);
    run(future_.with_tensors(other_values{values.tokens(0, waiting_)}), ahead.tokens(0, waiting_),
        run_options<accumulate_type<Future>>{.direction = direction::reverse, .threads = threads_});
    run(past_.with_tensors(other_values{values.tokens(0, count)}), to,
        run_options<accumulate_type<Past>>{
            .initial = std::as_const(state_), .final = state_, .threads = threads_});
    index const sets = impl::weight_sets(future_, shape_.batch);
    std::vector<number> own;
    for (index n = 0; n < sets; ++n)
      for (index h = 0; h < shape_.heads; ++h)
        for (index j = 0; j < shape_.columns; ++j)
          own.push_back(static_cast<number>(impl::own_weight(future_, n, h, j)));
    for_each(count, [&](place<> at, index j) {
      index const row = (future_.weighs_sequences() ? at.batch * shape_.heads : 0) + at.head;
      number const weight = own[static_cast<std::size_t>(row * shape_.columns + j)];
      to.write(at, j,
               convert<number>(to.read(at, j)) +
                   (ahead.read(at, j) - weight * convert<number>(values.read(at, j))));
    });
  }

  Past const past_;
  Future const future_;
  recurrence_shape const shape_;
  index const reach_;
  int const threads_;
  std::vector<input> inputs_;
  std::vector<number> ahead_;
  recurrent_state<accumulate_type<Past>> state_;
  index waiting_ = 0;
};

}  // namespace wane
