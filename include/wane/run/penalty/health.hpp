// watch: reports the health of a penalised memory token by token, its penalty, steps and norms.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "wane/core/call/checks.hpp"
#include "wane/run/penalty/step.hpp"
#include "wane/run/shared/pieces.hpp"
#include "wane/run/shared/positions.hpp"

namespace wane {

// The health of a memory after a token, all in double. |.| is the spectral norm, |.|_F Frobenius'.
struct penalty_health {
  double least, most;    // eigenvalues of M: |A| is 1 / least
  double drift;          // |M' - M|_F / |M|_F, M' held by the state, M summed in double beside it
  double aim;            // rho, the cosine of the write direction a and the key
  double step;           // |D (I - a k^T)|, the Jacobian of S_t by S_{t-1}; at most 1: no growth
  double steps;          // |product of these Jacobians since the run began|
  double memory, write;  // |S|_F, |a|
};

}  // namespace wane

namespace wane::impl {

// Watches one sequence and head. M begins with that of the initial state, the product of steps
// with I.
template <penalised_memory Op>
class penalty_watch {
 public:
  using T = typename Op::accumulate;
  using matrix = Eigen::MatrixXd;
  using vector = Eigen::VectorXd;

  penalty_watch(Op const& op, index head, view<T const, 2> const& state)
      : op_(op), rows_(state.extent[0]), lambda_(static_cast<double>(op.lambda(head))) {
    sum_ = state(0, op.output_columns()) == T(0) ? matrix(lambda_ * identity()) : held(state);
    steps_ = identity();
    left_.log = fades ? state(0, op.output_columns() + rows_) : T(0);
  }

  // Records a token; `state` is the state after it.
  void take(place<> at, view<T const, 2> const& state) {
    auto const x = op_.terms_at(at);
    auto const direction = op_.direction_at(at);
    vector u(rows_), key(rows_);
    for (index i = 0; i < rows_; ++i) u(i) = direction(i), key(i) = x.key(i);
    double decay = 1;
    if constexpr (fades) {
      sum_ *= std::exp(static_cast<double>(op_.penalty_log_decay(at)));
      decay = std::exp(static_cast<double>(op_.memory_log_decay(at)));
      if (left_.fades_too_far(op_, at)) {
        sum_ -= std::expm1(static_cast<double>(left_.log)) * lambda_ * identity();
        left_.log = T(0);
      }
    }
    sum_ += u * u.transpose();
    if (op_.refresh().comes_after(at.position))
      sum_ = (sum_.inverse() + op_.refresh().amount * identity()).inverse();
    vector a = held(state).llt().solve(key);
    a *= write_factor<Op::rule>(a.squaredNorm(), key.dot(a));
    step_ = decay * (identity() - a * key.transpose());
    steps_ = (step_ * steps_).eval();
    aim_ = a.dot(key) / (a.norm() * key.norm());
    write_ = a.norm();
  }
  penalty_health health(view<T const, 2> const& state) const {
    matrix const now = held(state);
    vector const eigenvalues =
        Eigen::SelfAdjointEigenSolver<matrix>(now, Eigen::EigenvaluesOnly).eigenvalues();
    double squares = 0;
    for (index i = 0; i < rows_; ++i)
      for (index j = 0; j < op_.output_columns(); ++j)
        squares += square(static_cast<double>(state(i, j)));
    return {.least = eigenvalues.minCoeff(),
            .most = eigenvalues.maxCoeff(),
            .drift = (now - sum_).norm() / sum_.norm(),
            .aim = aim_,
            .step = largest(step_),
            .steps = largest(steps_),
            .memory = std::sqrt(squares),
            .write = write_};
  }

 private:
  static constexpr bool fades = fading_penalty<Op>;

  matrix identity() const { return matrix::Identity(rows_, rows_); }
  static double square(double x) { return x * x; }
  static double largest(matrix const& m) { return Eigen::JacobiSVD<matrix>(m).singularValues()(0); }
  matrix held(view<T const, 2> const& state) const {
    matrix r = matrix::Zero(rows_, rows_);
    for (index i = 0; i < rows_; ++i)
      for (index j = i; j < rows_; ++j)
        r(i, j) = static_cast<double>(state(i, op_.output_columns() + j));
    double left = 1;
    if constexpr (fades)
      left = std::exp(static_cast<double>(state(0, op_.output_columns() + rows_)));
    return left * r.transpose() * r;
  }

  Op const& op_;
  index rows_;
  double lambda_, aim_ = 0, write_ = 0;
  penalty_left<T> left_{};
  matrix sum_, step_, steps_;
};

}  // namespace wane::impl

namespace wane {

//   watch(op, output, 64, [](place<> at, penalty_health const& health) { ... });
//
// Runs in order, and calls report after each token whose position is a multiple of `every` and
// after the last one. Costs O(K^3) operations a token, so it is for diagnosis, not for serving.
// Throws wane::error, before anything is written, when a shape does not fit.
template <penalised_memory Op, class Out, class Report, class State = accumulate_type<Op>>
void watch(Op const& op, sequence_view<Out> output, index every, Report const& report,
           run_options<State> const& options = {}) {
  using T = typename Op::accumulate;
  require(every > 0, "every is ", every, "; it must be 1 or more");
  index const sequences = impl::check_run(op, output, options);
  recurrence_shape const shape = op.shape();
  std::vector<T> numbers(static_cast<std::size_t>(shape.rows * shape.columns));
  view<T, 2> const state(numbers.data(), shape.rows, shape.columns);
  for (index n = 0; n < sequences * shape.heads; ++n) {
    impl::walk const w = impl::walk_of(n, shape, options, options.initial.positions);
    impl::state_access<T, State> const access{options.initial, options.final, w.sequence, w.head};
    access.load_rows(shape.rows, 0, shape.columns, numbers.data(), shape.columns);
    impl::penalty_watch<Op> watched(op, w.head, state);
    for (index k = 0; k < w.count; ++k) {
      place<> const at = w.token(k);
      advance(op, at, state, [&](index j, T y) { output.write(at, j, y); });
      watched.take(at, state);
      if (at.position % every == 0 || k + 1 == w.count) report(at, watched.health(state));
    }
    access.save_rows(shape.rows, 0, shape.columns, numbers.data(), shape.columns);
  }
  impl::count_tokens(shape, options);
}

}  // namespace wane
