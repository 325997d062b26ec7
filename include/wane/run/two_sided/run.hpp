// run_two_sided: sums over the tokens before and after each token, by two banks of poles.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/run.hpp"
#include "wane/run/shared/positions.hpp"
#include "wane/run/two_sided/sides.hpp"

namespace wane::impl {

// Adds the past to some columns of an output that holds the future, and takes lag 0 of the future
// out.
template <pole_bank Past, pole_bank Future, class Out>
class past_adder {
 public:
  using V = accumulate_type<Past>;
  using T = real_type<V>;

  past_adder(Past const& past, Future const& future, sequence_view<Out> const& output,
             index sequence, index head, index first, index last)
      : past_(past, output, sequence, head, first, last),
        values_(past.values()),
        output_(output),
        first_(first),
        columns_(last - first) {
    for (index j = first; j < last; ++j)
      own_.push_back(static_cast<T>(own_weight(future, sequence, head, j)));
  }

  template <class Access>
  void operator()(walk const& w, Access const& access) const {
    aligned_numbers<T> const ahead(std::min(tokens, w.count) * columns_);
    past_.load(access);
    for (index k = 0; k < w.count; k += tokens) {
      walk const block = w.part(k, tokens);
      for_each(block, [&](auto const& at, index j, index n) {
        T const own = own_[static_cast<std::size_t>(j)] * convert<T>(values_.read(at, first_ + j));
        ahead.data()[n] = convert<T>(output_.read(at, first_ + j)) - own;
      });
      past_.advance(block);
      for_each(block, [&](auto const& at, index j, index n) {
        output_.write(at, first_ + j, convert<T>(output_.read(at, first_ + j)) + ahead.data()[n]);
      });
    }
    past_.save(access);
  }

 private:
  // Tokens of a block. A state is corrected at its end, no more often than a plain run does.
  static constexpr index tokens = pole_tokens * chunks_between_corrections;

  template <class Body>
  void for_each(walk const& block, Body const& body) const {
    for (index t = 0; t < block.count; ++t)
      for (index j = 0; j < columns_; ++j) body(block.token(t), j, t * columns_ + j);
  }

  pole_runner<Past, Out> const past_;
  sequence_view<std::add_const_t<input_of<Past>>> const values_;
  sequence_view<Out> const output_;
  index const first_, columns_;
  std::vector<T> own_;
};

}  // namespace wane::impl

namespace wane {

//   run_two_sided(op, op.future(), output);  // of a `laplace`
//
// y_nj = Re sum_i (c_ij sum_{l>=0} p_i^l x_{n-l,j} + c'_ij sum_{l>0} p'_i^l x_{n+l,j})
//
// (STLT, arXiv 2506.15714, section 3, bilateral.) Two banks of poles over the same values; where
// inputs leave a bank, its sum ends at the window. output: [B, T, H, columns], real; it does not
// overlap the inputs. Options are those of `run` for the past, whose states they hold; the future
// of a sequence ends with it. In reverse, past and future change places.
// The future is written first, then the past is added in blocks: a thread holds at most 64 x 512
// numbers. An output narrower than the sums is rounded for either side, and for their sum.
// Throws wane::error, before anything is written, when a shape does not fit.
template <pole_bank Past, pole_bank Future, class Out, class State = accumulate_type<Past>>
void run_two_sided(Past const& past, Future const& future, sequence_view<Out> output,
                   run_options<State> const& options = {}) {
  static_assert(!is_complex<Out> && !std::is_const_v<Out>,
                "wane::run_two_sided: outputs are real, and written");
  impl::check_sides(past, future);
  impl::check_box(past.shape(), options, {false, false, false});
  run_options<accumulate_type<Future>> const ahead{.packed = options.packed,
                                                   .lengths = options.lengths,
                                                   .direction = impl::opposite(options.direction),
                                                   .threads = options.threads};
  impl::check_run(past, output, options), impl::check_run(future, output, ahead);
  impl::run_by_table(future, output, ahead);
  recurrence_shape const shape = past.shape();
  impl::for_each_piece(past, options, std::min(impl::columns_of_piece(past), impl::pole_columns),
                       impl::threads_to_use(options.threads),
                       [&](impl::walk const& w, index first, index last, auto const& state) {
                         impl::past_adder(past, future, output, w.sequence, w.head, first, last)(
                             w, state);
                       });
  impl::count_tokens(shape, options);
}

}  // namespace wane
