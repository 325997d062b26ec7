// The laws of the adjoint: it is the transpose of the derivative of the run.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/adjoint.hpp"
#include "wane/testing/laws.hpp"

namespace wane::testing {

// The adjoint the laws are about, unless another is named; one is called as wane::adjoint is.
struct cpu_adjoint {
  static constexpr bool takes_lengths = true;

  template <class Op, class Out, class Gradients, class State>
  void operator()(Op const& op, sequence_view<Out> output_gradient, Gradients const& gradients,
                  adjoint_options<State> const& options) const {
    adjoint(op, output_gradient, gradients, options);
  }
};

// Checks the adjoint of a problem in double (or complex double). The loss is
// Re <dy, y> + Re <df, final state> with random dy and df; `bound` is relative; 1e-8 is what
// the central differences used can show.
template <differentiable_problem P, class Adjoint = cpu_adjoint>
class adjoint_law_kit {
 public:
  using Op = operator_of<P>;
  using T = accumulate_type<Op>;
  using Y = output_type<Op>;
  using Input = std::remove_cvref_t<decltype(std::declval<P&>().inputs()[0][0])>;
  using numbers = std::vector<T>;
  static_assert(std::is_same_v<real_type<T>, double>,
                "wane::testing: the laws of the adjoint are checked in double; in float the "
                "differences they compare with would be rounding");

  adjoint_law_kit(P& p, double bound, unsigned seed, Adjoint adjoint = {})
      : problem_(p),
        bound_(bound),
        adjoint_(adjoint),
        shape_(p.make(0, p.time()).shape()),
        outputs_(output_shape_of(p.make(0, p.time()))),
        bits_(seed) {
    auto const outputs =
        static_cast<std::size_t>(shape_.batch * shape_.time * shape_.heads * outputs_.columns);
    auto const states =
        static_cast<std::size_t>(shape_.batch * shape_.heads * shape_.rows * shape_.columns);
    recurrent_state<T> initial(shape_.batch, shape_.heads, shape_.rows, shape_.columns);
    if constexpr (requires { p.begin(initial, bits_); }) {
      p.begin(initial, bits_);
      initial_.assign(initial.values().begin(), initial.values().end());
    } else {
      initial_ = random_numbers<T>(states, bits_);
    }
    final_gradient_ = random_numbers<T>(states, bits_);
    output_gradient_ = random_numbers<Y>(outputs, bits_);
  }

  std::vector<law_result> check() {
    std::vector<law_result> results;
    // First, as the gradients of padding, which nobody writes, are then still zero.
    if constexpr (Adjoint::takes_lengths) {
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
    options.initial = as_const_state(initial_);
    options.final_gradient = as_const_state(final_gradient_);
    options.initial_gradient = as_state(initial_gradient);
    options.threads = threads;
    options.lengths = lengths_;
    auto const dy = sequence_view<Y>(output_gradient_.data(), shape_.batch, shape_.time,
                                     shape_.heads, outputs_.columns);
    adjoint_(problem_.make(0, shape_.time), dy, problem_.gradients(), options);
    return initial_gradient;
  }

  double loss() {
    std::vector<Y> y(output_gradient_.size());
    numbers final(initial_.size());
    run_options<T> options;
    options.initial = as_const_state(initial_);
    options.final = as_state(final);
    options.lengths = lengths_;
    run(problem_.make(0, shape_.time),
        sequence_view<Y>(y.data(), shape_.batch, shape_.time, shape_.heads, outputs_.columns),
        options);
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
  // gradient, or where that is (nearly) zero, to what the difference can show beside its rounding.
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
      worst = off <= worst ? worst : off;  // a NaN stays
      double const rounding = std::numeric_limits<double>::epsilon() * loss_terms_ / step;
      largest = std::max({largest, norm(gradient) * norm(toward), rounding / bound_});
    }
    return {law, worst == 0 ? 0 : worst / largest, bound_};
  }

  law_result threads_change_no_bit() {
    auto const all = [&](int threads) {
      std::pair<numbers, std::vector<Input>> found{backward(threads), {}};
      for (auto gradient : problem_.input_gradients())
        found.second.insert(found.second.end(), gradient.begin(), gradient.end());
      return found;
    };
    bool const same = all(1) == all(3);
    return {"adjoint: threads change no bit", same ? 0. : 1., 0};
  }

  P& problem_;
  double bound_;
  Adjoint adjoint_;
  recurrence_shape shape_, outputs_;
  std::mt19937_64 bits_;
  std::vector<index> lengths_;  // of a padded batch, where there are any
  numbers initial_, final_gradient_;
  double loss_terms_ = 0;  // the size of what the last loss is the sum of
  std::vector<Y> output_gradient_;
};

// Checks all laws of the adjoint on a problem.
template <differentiable_problem P, class Adjoint = cpu_adjoint>
std::vector<law_result> check_adjoint_laws(P& p, double bound = 1e-8, unsigned seed = 1,
                                           Adjoint adjoint = {}) {
  return adjoint_law_kit<P, Adjoint>(p, bound, seed, adjoint).check();
}

}  // namespace wane::testing
