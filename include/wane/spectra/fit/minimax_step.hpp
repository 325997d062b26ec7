// minimax_step: the step in a box that makes the largest of several linear errors smallest.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace wane::spectra::impl {

// Minimises max_i |errors_i + (slopes d)_i| over low <= d <= high: a linear programme, solved by
// the simplex method on its dual. Constraints are +-error_i <= E and the sides of the box. A basis
// is a set of unknowns + 1 constraints that hold with equality; the most violated constraint enters
// it. One error and one side for every unknown make a first basis, so no search for one is needed.
// The basis of a similar problem, `first`, is a better start where it is feasible.
// Precondition: low <= 0 <= high, all finite.
class minimax_step {
 public:
  using vector = Eigen::VectorXd;
  using matrix = Eigen::MatrixXd;

  // sign error_index <= E, or sign step_index <= the side of the box.
  struct constraint {
    bool of_error;
    Eigen::Index index;
    double sign;
  };

  minimax_step(vector const& errors, matrix const& slopes, vector const& low, vector const& high,
               std::vector<constraint> const& first = {})
      : errors_(errors),
        slopes_(slopes),
        low_(low),
        high_(high),
        unknowns_(low.size()),
        basis_(first) {
    if (!will_do()) start();
    solve();
  }

  vector const& step() const { return step_; }
  // The largest error after the step, the smallest possible in the box.
  double error() const { return error_; }
  std::vector<constraint> const& basis() const { return basis_; }
  // The multipliers of the errors: multipliers . errors = error(), their absolute values add up to
  // 1, and only errors in the basis have one. A further unknown >= 0 with a column c of slopes
  // would lower the error if multipliers . c is negative.
  vector multipliers() const {
    vector found = vector::Zero(errors_.size());
    for (Eigen::Index i = 0; i <= unknowns_; ++i)
      if (basis_[std::size_t(i)].of_error)
        found(basis_[std::size_t(i)].index) += basis_[std::size_t(i)].sign * share(i);
    return found;
  }

 private:
  static constexpr int between_inversions = 16;

  double side(constraint const& c) const { return c.sign > 0 ? high_(c.index) : -low_(c.index); }
  double cost(constraint const& c) const {
    return c.of_error ? c.sign * errors_(c.index) : -side(c);
  }
  vector column(constraint const& c) const {
    vector entries = vector::Zero(unknowns_ + 1);
    if (c.of_error) {
      entries.head(unknowns_) = c.sign * slopes_.row(c.index);
      entries(unknowns_) = 1;
    } else {
      entries(c.index) = c.sign;
    }
    return entries;
  }
  // The dual variable of constraint i of the basis.
  double share(Eigen::Index i) const { return std::max(0.0, inverse_(i, unknowns_)); }

  // Whether the basis is feasible for the dual: no constraint has a negative share.
  bool will_do() {
    if (basis_.size() != std::size_t(unknowns_ + 1)) return false;
    invert();
    return inverse_.allFinite() && inverse_.col(unknowns_).minCoeff() >= -1e-12;
  }
  void start() {
    basis_.clear();
    Eigen::Index largest = 0;
    errors_.cwiseAbs().maxCoeff(&largest);
    double const sign = errors_(largest) < 0 ? -1 : 1;
    for (Eigen::Index j = 0; j < unknowns_; ++j)
      basis_.push_back({false, j, sign * slopes_(largest, j) > 0 ? -1.0 : 1.0});
    basis_.push_back({true, largest, sign});
  }
  void invert() {
    matrix columns(unknowns_ + 1, unknowns_ + 1);
    for (Eigen::Index i = 0; i <= unknowns_; ++i) columns.col(i) = column(basis_[std::size_t(i)]);
    inverse_ = columns.partialPivLu().inverse();
  }
  // The point at which the constraints of the basis are equalities.
  void meet() {
    vector costs(unknowns_ + 1);
    for (Eigen::Index i = 0; i <= unknowns_; ++i) costs(i) = cost(basis_[std::size_t(i)]);
    vector const found = inverse_.transpose() * costs;
    step_ = -found.head(unknowns_);
    error_ = found(unknowns_);
  }

  void solve() {
    double const slack = 1e-9 * errors_.cwiseAbs().maxCoeff();
    auto const most = 100 + 20 * unknowns_;
    for (Eigen::Index pivots = 0; pivots < most; ++pivots) {
      if (pivots % between_inversions == 0) invert();
      meet();
      constraint entering{};
      if (most_violated(entering) <= slack) {
        if (pivots % between_inversions == 0) return;
        invert(), meet();
        if (most_violated(entering) <= slack) return;
      }
      if (!enter(entering)) return;
    }
  }

  double most_violated(constraint& worst) const {
    vector const after = errors_ + slopes_ * step_;
    Eigen::Index at = 0;
    double most = after.cwiseAbs().maxCoeff(&at) - error_;
    worst = {true, at, after(at) < 0 ? -1.0 : 1.0};
    for (Eigen::Index j = 0; j < unknowns_; ++j)
      for (double sign : {1.0, -1.0}) {
        constraint const c{false, j, sign};
        double const by = sign * step_(j) - side(c);
        if (by > most) most = by, worst = c;
      }
    return most;
  }

  // Replaces the constraint whose share vanishes first; on a tie, the one that keeps the basis best
  // conditioned.
  bool enter(constraint const& entering) {
    vector const direction = inverse_ * column(entering);
    double const smallest = 1e-11 * direction.cwiseAbs().maxCoeff();
    double bound = HUGE_VAL;
    for (Eigen::Index i = 0; i <= unknowns_; ++i)
      if (direction(i) > smallest) bound = std::min(bound, (share(i) + 1e-13) / direction(i));
    Eigen::Index leaving = -1;
    for (Eigen::Index i = 0; i <= unknowns_; ++i)
      if (direction(i) > smallest && share(i) / direction(i) <= bound &&
          (leaving < 0 || direction(i) > direction(leaving)))
        leaving = i;
    if (leaving < 0) return false;
    basis_[std::size_t(leaving)] = entering;
    inverse_.row(leaving) /= direction(leaving);
    for (Eigen::Index i = 0; i <= unknowns_; ++i)
      if (i != leaving) inverse_.row(i) -= direction(i) * inverse_.row(leaving);
    return true;
  }

  vector const& errors_;
  matrix const& slopes_;
  vector const &low_, &high_;
  Eigen::Index unknowns_;
  std::vector<constraint> basis_;
  matrix inverse_;
  vector step_;
  double error_ = 0;
};

}  // namespace wane::spectra::impl
