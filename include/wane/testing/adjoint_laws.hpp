// The laws of the adjoint: it is the transpose of the derivative of the run.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "wane/run/adjoint.hpp"
#include "wane/testing/laws.hpp"

namespace wane::testing {

// The default adjoint of the laws, wane::adjoint. Another one is called with the same arguments.
struct cpu_adjoint {
  static constexpr bool takes_lengths = true;

  template <class Op, class Out, class Gradients, class State>
  void operator()(Op const& op, sequence_view<Out> output_gradient, Gradients const& gradients,
                  adjoint_options<State> const& options) const {
    adjoint(op, output_gradient, gradients, options);
  }
};

}  // namespace wane::testing

namespace wane::testing::impl {

// What these laws need of a problem, behind virtual functions, so that they are compiled once for
// each type of numbers: T of states, Y of outputs, Input of the inputs to differentiate by.
template <class T, class Y, class Input>
class adjoint_problem {
 public:
  virtual ~adjoint_problem() = default;
  virtual recurrence_shape shape() const = 0;
  virtual recurrence_shape output_shape() const = 0;
  virtual bool takes_lengths() const = 0;
  virtual void begin(recurrent_state<T>& states, std::mt19937_64& bits) const = 0;
  virtual std::vector<std::span<Input>> inputs() = 0;
  virtual std::vector<std::span<Input>> input_gradients() = 0;
  // Over all tokens; the gradients go to input_gradients().
  virtual void run(sequence_view<Y> output, run_options<T> const& options) const = 0;
  virtual void adjoint(sequence_view<Y> output_gradient, adjoint_options<T> const& options) = 0;
};

template <differentiable_problem P, class Adjoint>
class adjoint_problem_of final : public adjoint_problem<accumulate_type<operator_of<P>>,
                                                        output_type<operator_of<P>>, input_of<P>> {
 public:
  using T = accumulate_type<operator_of<P>>;
  using Y = output_type<operator_of<P>>;
  using Input = input_of<P>;
  using spans = std::vector<std::span<Input>>;

  adjoint_problem_of(P& p, Adjoint const& adjoint) : problem_(p), adjoint_(adjoint) {}

  recurrence_shape shape() const override { return all().shape(); }
  recurrence_shape output_shape() const override { return output_shape_of(all()); }
  bool takes_lengths() const override { return Adjoint::takes_lengths; }
  void begin(recurrent_state<T>& states, std::mt19937_64& bits) const override {
    begin_states(problem_, states, bits);
  }
  spans inputs() override { return spans_of(problem_.inputs()); }
  spans input_gradients() override { return spans_of(problem_.input_gradients()); }
  void run(sequence_view<Y> output, run_options<T> const& options) const override {
    wane::run(all(), output, options);
  }
  void adjoint(sequence_view<Y> output_gradient, adjoint_options<T> const& options) override {
    adjoint_(all(), output_gradient, problem_.gradients(), options);
  }

 private:
  operator_of<P> all() const { return problem_.make(0, problem_.time()); }
  static spans spans_of(auto&& listed) {
    spans all;
    for (auto& span : listed) all.push_back(std::span<Input>(span));
    return all;
  }

  P& problem_;
  Adjoint adjoint_;
};

// The loss is Re <dy, y> + Re <df, final state> with random dy and df.
template <class T, class Y, class Input>
class adjoint_laws {
 public:
  using numbers = std::vector<T>;

  adjoint_laws(adjoint_problem<T, Y, Input>& p, double bound, unsigned seed)
      : problem_(p), bound_(bound), shape_(p.shape()), outputs_(p.output_shape()), bits_(seed) {
    auto const outputs =
        static_cast<std::size_t>(shape_.batch * shape_.time * outputs_.heads * outputs_.columns);
    auto const states =
        static_cast<std::size_t>(shape_.batch * shape_.heads * shape_.rows * shape_.columns);
    recurrent_state<T> initial(shape_.batch, shape_.heads, shape_.rows, shape_.columns);
    p.begin(initial, bits_);
    initial_ = initial.values(), seen_ = initial.positions();
    final_gradient_ = random_numbers<T>(states, bits_);
    output_gradient_ = random_numbers<Y>(outputs, bits_);
  }

  std::vector<law_result> check() {
    std::vector<law_result> results;
    // First, because gradients of padding are never written and must still be zero here.
    if (problem_.takes_lengths()) {
      lengths_ = padded_lengths(shape_);
      for (auto gradient : problem_.input_gradients())
        std::fill(gradient.begin(), gradient.end(), Input(0));
      auto const bits = bits_;
      derivatives(results, 1, "adjoint: derivative of a padded batch by ");
      bits_ = bits;
      lengths_.clear();
    }
    results.push_back(threads_change_no_bit());
    derivatives(results, 3, "adjoint: derivative by ");
    return results;
  }

 private:
  void derivatives(std::vector<law_result>& results, int trials, std::string const& by) {
    numbers const initial_gradient = backward(1);
    results.push_back(
        derivative(by + "initial state", std::span<T>(initial_), initial_gradient, trials));
    auto inputs = problem_.inputs();
    auto gradients = problem_.input_gradients();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      results.push_back(derivative(by + "input " + std::to_string(i), std::span<Input>(inputs[i]),
                                   std::vector<Input>(gradients[i].begin(), gradients[i].end()),
                                   trials));
  }

  state_view<T> as_state(numbers& values) const {
    return {{values.data(), shape_.batch, shape_.heads, shape_.rows, shape_.columns}, nullptr};
  }
  state_view<T const> as_const_state(numbers const& values) const {
    return {{values.data(), shape_.batch, shape_.heads, shape_.rows, shape_.columns}, nullptr};
  }

  // Fills the problem's gradients and returns that of the initial state.
  numbers backward(int threads) {
    numbers initial_gradient(initial_.size());
    adjoint_options<T> options;
    options.initial = {as_const_state(initial_).values, seen_.data()};
    options.final_gradient = as_const_state(final_gradient_);
    options.initial_gradient = as_state(initial_gradient);
    options.threads = threads;
    options.lengths = lengths_;
    auto const dy = sequence_view<Y>(output_gradient_.data(), shape_.batch, shape_.time,
                                     outputs_.heads, outputs_.columns);
    problem_.adjoint(dy, options);
    return initial_gradient;
  }

  double loss() {
    std::vector<Y> y(output_gradient_.size());
    numbers final(initial_.size());
    run_options<T> options;
    options.initial = {as_const_state(initial_).values, seen_.data()};
    options.final = as_state(final);
    options.lengths = lengths_;
    problem_.run({y.data(), shape_.batch, shape_.time, outputs_.heads, outputs_.columns}, options);
    double const sum = inner(output_gradient_, y) + inner(final_gradient_, final);
    loss_terms_ = norm(output_gradient_) * norm(y) + norm(final_gradient_) * norm(final);
    return sum;
  }

  template <class N>
  static double inner(std::vector<N> const& a, std::vector<N> const& b) {
    double total = 0;
    for (std::size_t i = 0; i < a.size(); ++i) total += std::real(conjugate(a[i]) * b[i]);
    return total;
  }

  template <class N>
  static double norm(std::vector<N> const& a) {
    return std::sqrt(inner(a, a));
  }

  // d loss / d direction by a central difference, against <gradient, direction>; relative to the
  // gradient or, where that is (nearly) zero, to the least slope that shows above rounding.
  template <class N>
  law_result derivative(std::string const& law, std::span<N> input, std::vector<N> const& gradient,
                        int trials) {
    double worst = 0, largest = 0;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<N> const toward = random_numbers<N>(input.size(), bits_);
      std::vector<N> const here(input.begin(), input.end());
      double const step = 1e-5;
      auto const shifted = [&](double by) {
        for (std::size_t i = 0; i < here.size(); ++i) input[i] = here[i] + toward[i] * N(by);
        return loss();
      };
      double const slope =
          (8 * (shifted(step) - shifted(-step)) - (shifted(2 * step) - shifted(-2 * step))) /
          (12 * step);
      std::copy(here.begin(), here.end(), input.begin());
      double const off = std::abs(inner(gradient, toward) - slope);
      worst = worse(worst, off);
      double const rounding = std::numeric_limits<double>::epsilon() * loss_terms_ / step;
      largest = std::max({largest, norm(gradient) * norm(toward), rounding / bound_});
    }
    return {law, worst == 0 ? 0 : worst / largest, bound_};
  }

  law_result threads_change_no_bit() {
    wane::impl::all_threads const used;
    auto const all = [&](int threads) {
      std::pair<numbers, std::vector<Input>> found{backward(threads), {}};
      for (auto gradient : problem_.input_gradients())
        found.second.insert(found.second.end(), gradient.begin(), gradient.end());
      return found;
    };
    bool const same = all(1) == all(3);
    return {"adjoint: threads change no bit", same ? 0. : 1., 0};
  }

  adjoint_problem<T, Y, Input>& problem_;
  double bound_;
  recurrence_shape shape_, outputs_;
  std::mt19937_64 bits_;
  std::vector<index> lengths_;  // of a padded batch, otherwise empty
  numbers initial_, final_gradient_;
  std::vector<index> seen_;  // the positions of the initial state
  double loss_terms_ = 0;  // |dy| |y| + |df| |final state| of the last loss, the scale of rounding
  std::vector<Y> output_gradient_;
};

}  // namespace wane::testing::impl

namespace wane::testing {

// Checks the adjoint of a problem in double (or complex double) against central differences;
// `bound` is relative; these differences are accurate to 1e-8.
template <differentiable_problem P, class Adjoint = cpu_adjoint>
class adjoint_law_kit {
 public:
  adjoint_law_kit(P& p, double bound, unsigned seed, Adjoint adjoint = {})
      : problem_(p, adjoint), bound_(bound), seed_(seed) {}

  std::vector<law_result> check() {
    using kind = impl::adjoint_problem_of<P, Adjoint>;
    static_assert(std::is_same_v<real_type<typename kind::T>, double>,
                  "wane::testing: the laws of the adjoint are checked in double; in float the "
                  "differences they compare with would be rounding");
    return impl::adjoint_laws<typename kind::T, typename kind::Y, typename kind::Input>(
               problem_, bound_, seed_)
        .check();
  }

 private:
  impl::adjoint_problem_of<P, Adjoint> problem_;
  double bound_;
  unsigned seed_;
};

//   check_adjoint_laws(problem)  // the result of each law of the adjoint
template <differentiable_problem P, class Adjoint = cpu_adjoint>
std::vector<law_result> check_adjoint_laws(P& p, double bound = 1e-8, unsigned seed = 1,
                                           Adjoint adjoint = {}) {
  return adjoint_law_kit<P, Adjoint>(p, bound, seed, adjoint).check();
}

}  // namespace wane::testing
