// Calls of run and step on an operator of an input: whole, in pieces, token by token, and wrong.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "fuzz/loop.hpp"
#include "wane/run/run.hpp"

namespace fuzz {

// A case is an operator over tensors of an input:
//   size                    its sizes; rows and columns are those of the state
//   op(begin, end)          the operator over these tokens
//   at(b, t, h, position)   the terms of a token, from the formula; positions count from 1
//   inputs                  pointers to the extents of its tensors, any of which can be made wrong
//   state_columns()         where a state has more columns than outputs: only its shape is known
//   loop(rows, columns)     where its loop is another than `memory`
template <class Case>
class calls {
  using state_numbers = tensor<float, 4>;
  using outputs = tensor<float, 4>;
  static constexpr bool knows_states = !requires(Case const& of) { of.state_columns(); };

  static auto loop_of(Case const& of, std::size_t rows, std::size_t columns) {
    if constexpr (requires { of.loop(rows, columns); })
      return of.loop(rows, columns);
    else
      return memory{rows, columns};
  }
  using loop = decltype(loop_of(std::declval<Case const&>(), 1, 1));

 public:
  calls(Case& of, input& in) : of_(of), in_(in), size_(of.size) {
    int const how = in.byte();
    threads_ = 1 + how % 2;
    if (how & 4) direction_ = wane::direction::reverse;
    if ((how & 24) == 8) pack();
    if ((how & 24) == 16)
      for (index b = 0; b < size_.batch; ++b) lengths_.push_back(in.byte() % (size_.time + 1));
    sequences_ = starts_.empty() ? size_.batch : std::ssize(starts_) - 1;
    if ((how & 32) && knows_states) {
      initial_ = state(false);
      initial_->fill(in, range::reals);
    }
    for (index n = 0; n < sequences_; ++n) positions_.push_back(initial_ ? in.byte() : 0);
    find_answer();
  }

  void check() {
    int const wrong = in_.below(32);
    if (wrong < 10) return refuse(wrong);
    outputs const y = output(), again({}, y);
    auto const end = state(true);
    state_numbers const end_again({}, *end);
    auto positions = positions_, positions_again = positions_;
    wane::run(of_.op(0, size_.time), y.values, options(end.get(), positions.data(), threads_));
    compare(y, *end, positions, "a run");
    // Any number of threads gives the same bits.
    wane::run(of_.op(0, size_.time), again.values,
              options(&end_again, positions_again.data(), threads_ == 1 ? 2 : 1));
    must(same_bits(y, again) && same_bits(*end, end_again), "the number of threads changes bits");
    if (!starts_.empty() || !lengths_.empty() || direction_ != wane::direction::forward) return;
    pieces();
  }

 private:
  void pack() {
    if (size_.batch != 1) return;
    starts_.push_back(0);
    for (int count = 1 + in_.below(3); count > 0; --count)
      starts_.push_back(starts_.back() + in_.byte() % (size_.time - starts_.back() + 1));
    starts_.push_back(size_.time);
  }
  std::unique_ptr<state_numbers> state(bool is_output) {
    return std::make_unique<state_numbers>(
        in_, std::array<index, 4>{sequences_, size_.heads, size_.rows, state_columns()}, is_output);
  }
  index state_columns() const {
    if constexpr (knows_states)
      return size_.columns;
    else
      return of_.state_columns();
  }
  outputs output() {
    return outputs(in_, {size_.batch, size_.time, size_.heads, size_.columns}, true);
  }
  // Positions of the initial state are those of `positions`, which receive those after the run.
  wane::run_options<float> options(state_numbers const* end, index* positions, int threads) const {
    wane::run_options<float> all;
    if (initial_) all.initial = {initial_->values, positions_.data()};
    if (end) all.final = {end->values, positions};
    all.packed = {starts_}, all.lengths = lengths_;
    all.direction = direction_, all.threads = threads;
    return all;
  }

  struct part {
    index row, begin, end;
  };
  part tokens_of(index n) const {
    auto const i = static_cast<std::size_t>(n);
    if (!starts_.empty()) return {0, starts_[i], starts_[i + 1]};
    return {n, 0, lengths_.empty() ? size_.time : lengths_[i]};
  }

  void find_answer() {
    auto const rows = static_cast<std::size_t>(size_.rows),
               columns = static_cast<std::size_t>(size_.columns);
    y_.resize(static_cast<std::size_t>(size_.batch * size_.time * size_.heads) * columns,
              outputs::unwritten);
    y_error_.resize(y_.size(), 0);
    for (index n = 0; n < sequences_; ++n) {
      auto const [b, begin, end] = tokens_of(n);
      for (index h = 0; h < size_.heads; ++h) {
        loop one = loop_of(of_, rows, columns);
        if constexpr (knows_states)
          if (initial_)
            for (std::size_t i = 0; i < rows; ++i)
              for (std::size_t j = 0; j < columns; ++j) {
                one.at(i, j) = static_cast<double>(initial_->values(n, h, index(i), index(j)));
                double const size = std::abs(one.at(i, j));
                one.error[j] += size < memory::largest ? memory::least
                                                       : std::numeric_limits<double>::quiet_NaN();
              }
        for (index k = 0; k < end - begin; ++k) {
          index const t = direction_ == wane::direction::forward ? begin + k : end - 1 - k;
          one.take(of_.at(b, t, h, positions_[static_cast<std::size_t>(n)] + k + 1));
          std::copy(one.y.begin(), one.y.end(), y_.begin() + place_of(b, t, h, 0));
          std::copy(one.y_error.begin(), one.y_error.end(),
                    y_error_.begin() + place_of(b, t, h, 0));
        }
        answers_.push_back(std::move(one));
      }
    }
  }
  std::ptrdiff_t place_of(index b, index t, index h, index j) const {
    return ((b * size_.time + t) * size_.heads + h) * size_.columns + j;
  }
  template <class Body>
  void for_each_output(Body const& body) const {
    for (index b = 0; b < size_.batch; ++b)
      for (index t = 0; t < size_.time; ++t)
        for (index h = 0; h < size_.heads; ++h)
          for (index j = 0; j < size_.columns; ++j) body(b, t, h, j);
  }

  void compare(outputs const& y, state_numbers const& end, std::vector<index> const& positions,
               char const* what) {
    for_each_output([&](index b, index t, index h, index j) {
      auto const at = static_cast<std::size_t>(place_of(b, t, h, j));
      double const is = static_cast<double>(y.values(b, t, h, j));
      must(near(is, y_[at], y_error_[at]), what, b, t, h, j, is, y_[at], y_error_[at]);
    });
    must(y.gaps_unwritten() && end.gaps_unwritten(), "a gap is written");
    for (index n = 0; n < sequences_; ++n) {
      auto const [b, begin, stop] = tokens_of(n);
      must(positions[static_cast<std::size_t>(n)] ==
               positions_[static_cast<std::size_t>(n)] + stop - begin,
           "positions", n, positions[static_cast<std::size_t>(n)]);
      if constexpr (knows_states)
        for (index h = 0; h < size_.heads; ++h) {
          memory& answer = answers_[static_cast<std::size_t>(n * size_.heads + h)];
          for (index i = 0; i < size_.rows; ++i)
            for (index j = 0; j < size_.columns; ++j) {
              double const is = static_cast<double>(end.values(n, h, i, j)),
                           must_be =
                               answer.at(static_cast<std::size_t>(i), static_cast<std::size_t>(j)),
                           error = answer.error[static_cast<std::size_t>(j)];
              must(near(is, must_be, error), "a state", n, h, i, j, is, must_be, error);
            }
        }
    }
  }

  static bool same_bits(tensor<float, 4> const& x, tensor<float, 4> const& y) {
    return std::equal(x.memory.begin(), x.memory.end(), y.memory.begin(),
                      [](float a, float b) { return a == b || (a != a && b != b); });
  }

  // From piece to piece and then token by token, the state in one place.
  void pieces() {
    for (bool const by_token : {false, true}) {
      outputs const y = output();
      auto const s = state(true);
      auto positions = positions_;
      for (index n = 0; n < sequences_; ++n)
        for (index h = 0; h < size_.heads; ++h)
          for (index i = 0; i < size_.rows; ++i)
            for (index j = 0; j < state_columns(); ++j)
              s->values(n, h, i, j) = initial_ ? initial_->values(n, h, i, j) : 0;
      wane::state_view<float> const carried{s->values, positions.data()};
      for (index begin = 0; begin < size_.time;) {
        index const end = by_token ? begin + 1 : begin + 1 + in_.byte() % (size_.time - begin);
        auto const op = of_.op(begin, end);
        if (by_token)
          wane::step(op, y.tokens(begin, end), carried, {.threads = threads_});
        else
          wane::run(
              op, y.tokens(begin, end),
              wane::run_options<float>{.initial = carried, .final = carried, .threads = threads_});
        begin = end;
      }
      compare(y, *s, positions, by_token ? "steps" : "pieces");
    }
  }

  // A call with one wrong argument throws wane::error and writes nothing.
  void refuse(int wrong) {
    outputs const y = output();
    auto const end = state(true);
    auto positions = positions_;
    auto view = y.values;
    auto all = options(end.get(), positions.data(), threads_);
    index const by = in_.flag() ? 1 : -1;
    int const which = in_.below(4);
    std::vector<index> starts = starts_, lengths = lengths_;
    if (starts.empty() && wrong == 2) starts = {0, size_.time};
    switch (wrong) {
      case 0:
        view.extent[which] += by;
        break;
      case 1:
        all.final.values.extent[which] += by;
        break;
      case 2:
        if (which == 3)
          starts.back() = size_.time - 1;
        else
          starts[static_cast<std::size_t>(which) % starts.size()] =
              which % 2 ? size_.time + 1 + in_.byte() : -1 - in_.byte();
        all.packed = {starts};
        break;
      case 3:
        lengths.assign(static_cast<std::size_t>(size_.batch), 0);
        lengths.back() = by > 0 ? size_.time + 1 : -1;
        all.lengths = lengths;
        break;
      case 4:
        lengths.assign(static_cast<std::size_t>(size_.batch + 1), 0);
        all.lengths = lengths;
        break;
      case 5:
        all.threads = -1 - in_.byte();
        break;
      case 6:
        view.data = nullptr;
        if (size_.time == 0) return;  // without outputs none are missing
        break;
      case 7:
        if (!initial_) return;
        all.initial.values.extent[which] += by;
        break;
      default: {
        auto const& extents = of_.inputs[static_cast<std::size_t>(in_.byte()) % of_.inputs.size()];
        extents.first[which % extents.second] += by;
      }
    }
    bool const taken = takes([&] { wane::run(of_.op(0, size_.time), view, all); });
    must(!taken, "a wrong argument is taken", wrong, which, by);
    must(y.all_unwritten() && end->all_unwritten() && positions == positions_,
         "a refused call writes", wrong, which, by);
  }

  Case& of_;
  input& in_;
  sizes size_;
  int threads_ = 1;
  wane::direction direction_ = wane::direction::forward;
  std::vector<index> starts_, lengths_, positions_;
  index sequences_ = 0;
  std::unique_ptr<state_numbers> initial_;
  row y_, y_error_;
  std::vector<loop> answers_;
};

// The numbers of a tensor at a token and head, as double.
inline row row_of(tensor<float, 4> const& x, index b, index t, index h) {
  row found;
  for (index i = 0; i < x.values.extent[3]; ++i)
    found.push_back(static_cast<double>(x.values(b, t, h, i)));
  return found;
}

}  // namespace fuzz
