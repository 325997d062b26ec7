// Adjoints of operators of any shapes and strides are the slopes of their runs, in double.
// SPDX-License-Identifier: MIT
#include <utility>
#include <vector>

#include "fuzz/tensors.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace {

using fuzz::index, fuzz::range;

using numbers = fuzz::tensor<double, 4>;

// A tensor and its gradient. Neither has strides of 0, so that every element has its own slope.
struct input_of {
  numbers values, gradient;

  input_of(fuzz::input& in, std::array<index, 4> const& extents, range of)
      : values(in, extents, true), gradient(in, extents, true) {
    values.fill(in, of, fuzz::kind::tame);
  }
  wane::sequence_view<double const> read() const { return values.values; }
  wane::token_view<double> gradient_by_head() const { return by_head(gradient.values); }
  wane::token_view<double const> read_by_head() const { return by_head(values.values); }

 private:
  static wane::token_view<double> by_head(wane::sequence_view<double> const& x) {
    return {
        x.data, {x.extent[0], x.extent[1], x.extent[2]}, {x.stride[0], x.stride[1], x.stride[2]}};
  }
};

struct keyed {
  fuzz::sizes size;
  input_of query, key, value;
  wane::keyed_options options;

  explicit keyed(fuzz::input& in)
      : size(in, 5),
        query(in, {size.batch, size.time, size.heads, size.rows}, range::reals),
        key(in, {size.batch, size.time, size.heads, size.rows}, range::reals),
        value(in, {size.batch, size.time, size.heads, size.columns}, range::reals) {
    options.normalise = in.flag();
    options.epsilon = .25;  // short keys would turn too fast for differences
    if (in.flag()) options.scale = 1 + in.below(3);
  }
};

struct gla_case : keyed {
  input_of decay;
  std::vector<input_of*> inputs{&query, &key, &value, &decay};
  using op_type = wane::gla<double>;

  explicit gla_case(fuzz::input& in)
      : keyed(in), decay(in, {size.batch, size.time, size.heads, size.rows}, range::log_decays) {}
  op_type op() const {
    return op_type({.query = query.read(), .key = key.read(), .value = value.read()}, decay.read(),
                   options);
  }
  op_type::gradients gradients() const {
    return {.query = query.gradient.values,
            .key = key.gradient.values,
            .value = value.gradient.values,
            .log_decay = decay.gradient.values};
  }
};

struct gated_delta_net_case : keyed {
  input_of decay, strength;
  std::vector<input_of*> inputs{&query, &key, &value, &decay, &strength};
  using op_type = wane::gated_delta_net<double>;

  explicit gated_delta_net_case(fuzz::input& in)
      : keyed(in),
        decay(in, {size.batch, size.time, size.heads, 1}, range::log_decays),
        strength(in, {size.batch, size.time, size.heads, 1}, range::parts) {
    options.normalise = true;
  }
  op_type op() const {
    return op_type({.query = query.read(),
                    .key = key.read(),
                    .value = value.read(),
                    .strength = strength.read_by_head()},
                   decay.read_by_head(), options);
  }
  op_type::gradients gradients() const {
    return {.query = query.gradient.values,
            .key = key.gradient.values,
            .value = value.gradient.values,
            .strength = strength.gradient_by_head(),
            .log_decay = decay.gradient_by_head()};
  }
};

struct rwkv7_case : keyed {
  input_of decay, removal, rate;
  std::vector<input_of*> inputs{&query, &key, &value, &decay, &removal, &rate};
  using op_type = wane::rwkv7<double>;

  explicit rwkv7_case(fuzz::input& in)
      : keyed(in),
        decay(in, {size.batch, size.time, size.heads, size.rows}, range::log_decays),
        removal(in, {size.batch, size.time, size.heads, size.rows}, range::reals),
        rate(in, {size.batch, size.time, size.heads, size.rows}, range::parts) {
    options.normalise = true;
  }
  op_type op() const {
    return op_type({.query = query.read(),
                    .key = key.read(),
                    .value = value.read(),
                    .removal = removal.read(),
                    .rate = rate.read()},
                   decay.read(), options);
  }
  op_type::gradients gradients() const {
    return {.query = query.gradient.values,
            .key = key.gradient.values,
            .value = value.gradient.values,
            .removal = removal.gradient.values,
            .rate = rate.gradient.values,
            .log_decay = decay.gradient.values};
  }
};

struct linear_recurrence_case {
  fuzz::sizes size;
  input_of decay, drive;
  std::vector<input_of*> inputs{&decay, &drive};
  using op_type = wane::linear_recurrence<wane::decay_as::log, double>;

  explicit linear_recurrence_case(fuzz::input& in)
      : size([&] {
          fuzz::sizes found(in, 5);
          found.rows = 1;
          return found;
        }()),
        decay(in, {size.batch, size.time, size.heads, size.columns}, range::log_decays),
        drive(in, {size.batch, size.time, size.heads, size.columns}, range::reals) {}
  op_type op() const { return op_type({.decay = decay.read(), .drive = drive.read()}); }
  op_type::gradients gradients() const {
    return {.decay = decay.gradient.values, .drive = drive.gradient.values};
  }
};

template <class Case>
class slopes {
 public:
  explicit slopes(fuzz::input& in)
      : in_(in),
        of_(in),
        output_gradient_(in, {of_.size.batch, of_.size.time, of_.size.heads, of_.size.columns},
                         true),
        initial_(in, state(), range::reals),
        final_gradient_(in, state(), true) {
    output_gradient_.fill(in, range::reals, fuzz::kind::tame);
    final_gradient_.fill(in, range::reals, fuzz::kind::tame);
    reversed_ = in.flag();
    threads_ = 1 + in.below(2);
  }

  void check() {
    auto gradients = of_.gradients();
    auto dy = wane::sequence_view<double const>(output_gradient_.values);
    auto options =
        wane::adjoint_options<double>{.initial = {initial_.values.values, positions_.data()},
                                      .final_gradient = {final_gradient_.values, positions_.data()},
                                      .initial_gradient = {initial_.gradient.values, nullptr},
                                      .direction = direction(),
                                      .threads = threads_};
    int const wrong = in_.below(16), which = in_.below(4);
    if (wrong == 0) dy.extent[which] += 1;
    if (wrong == 1) options.initial_gradient.values.extent[which] -= 1;
    if (wrong == 2) options.threads = -1;
    bool const taken = fuzz::takes([&] { wane::adjoint(of_.op(), dy, gradients, options); });
    fuzz::must(taken == (wrong > 2), "a wrong argument is taken, or a right one refused", wrong);
    if (!taken) {
      for (input_of* x : of_.inputs)
        fuzz::must(x->gradient.all_unwritten(), "a refused adjoint writes", wrong);
      return;
    }
    for (input_of* x : of_.inputs) expect_slope(*x);
    expect_slope(initial_);
  }

 private:
  std::array<index, 4> state() const {
    return {of_.size.batch, of_.size.heads, of_.size.rows, of_.size.columns};
  }
  wane::direction direction() const {
    return reversed_ ? wane::direction::reverse : wane::direction::forward;
  }

  // The sums of outputs and of final states, each times its gradient; and of their sizes.
  std::pair<double, double> loss() {
    auto const& e = output_gradient_.values.extent;
    std::vector<double> y(output_gradient_.memory.size(), 0), end(final_gradient_.memory.size(), 0);
    wane::sequence_view<double> const output(y.data(), e[0], e[1], e[2], e[3]);
    auto const s = state();
    wane::view<double, 4> const last(end.data(), s[0], s[1], s[2], s[3]);
    wane::run(of_.op(), output,
              wane::run_options<double>{.initial = {initial_.values.values, positions_.data()},
                                        .final = {last, nullptr},
                                        .direction = direction(),
                                        .threads = threads_});
    double sum = 0, size = 0;
    auto const add = [&](numbers const& gradient, double const* x) {
      gradient.for_each([&](double g) {
        sum += g * *x, size += std::abs(g * *x);
        ++x;
      });
    };
    add(output_gradient_, y.data()), add(final_gradient_, end.data());
    return {sum, size};
  }

  // Central differences along a random direction: their own error is step^2 / 6 times a third
  // derivative, which in sums of tame numbers is below 1e2 times their size, and 2^-53 / step of
  // it.
  void expect_slope(input_of& x) {
    constexpr double step = 1e-4;
    fuzz::must(x.gradient.gaps_unwritten(), "a gap is written");
    std::vector<double> along, before;
    fuzz::numbers from(in_.byte());
    double slope = 0, size = 0;
    x.values.for_each(
        [&](double value) { before.push_back(value), along.push_back(from.between(-1, 1)); });
    std::size_t n = 0;
    x.gradient.for_each([&](double g) {
      slope += g * along[n], size += std::abs(g * along[n]);
      ++n;
    });
    auto const moved = [&](double by) {
      n = 0;
      x.values.for_each([&](double& value) { value = before[n] + by * along[n], ++n; });
      return loss();
    };
    auto const [above, size_above] = moved(step);
    auto const [below, size_below] = moved(-step);
    moved(0);
    double const measured = (above - below) / (2 * step);
    double const bound = 1e-6 * (size + size_above + 1);
    fuzz::must(std::abs(slope - measured) <= bound, "a gradient is no slope", slope, measured,
               bound);
  }

  fuzz::input& in_;
  Case of_;
  numbers output_gradient_;
  input_of initial_;
  numbers final_gradient_;
  std::vector<index> positions_ = std::vector<index>(static_cast<std::size_t>(of_.size.batch));
  bool reversed_ = false;
  int threads_ = 1;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::input in(data, size);
  switch (in.below(4)) {
    case 0:
      slopes<gla_case>(in).check();
      break;
    case 1:
      slopes<gated_delta_net_case>(in).check();
      break;
    case 2:
      slopes<rwkv7_case>(in).check();
      break;
    default:
      slopes<linear_recurrence_case>(in).check();
  }
  return 0;
}
