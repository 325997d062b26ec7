// Forms of VLA's recurrence in Eigen (rule rls, keys as directions): A or R, one token or more.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Dense>
#include <algorithm>

#include "wane/core/recurrence/place.hpp"

namespace wane::bench {

template <class T>
using dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

// Columns are tokens; keys are 1 long.
template <class T>
struct token_matrices {
  dense<T> query, key, value;

  index count() const { return key.cols(); }
  index rows() const { return key.rows(); }
  template <class To>
  token_matrices<To> in() const {
    return {query.template cast<To>(), key.template cast<To>(), value.template cast<To>()};
  }
};

// The paper's loop: A by Sherman and Morrison, a token at a time.
template <class T>
dense<T> by_token(token_matrices<T> const& x, T lambda) {
  index const rows = x.rows();
  dense<T> a = dense<T>::Identity(rows, rows) / lambda, s = dense<T>::Zero(rows, x.value.rows()),
           y(x.value.rows(), x.count());
  Eigen::Matrix<T, Eigen::Dynamic, 1> z, error;
  for (index t = 0; t < x.count(); ++t) {
    z.noalias() = a * x.key.col(t);
    T const root = std::sqrt(1 + x.key.col(t).dot(z));
    z /= root;
    a.noalias() -= z * z.transpose();
    error.noalias() = x.value.col(t) - s.transpose() * x.key.col(t);
    s.noalias() += z / root * error.transpose();
    y.col(t).noalias() = s.transpose() * x.query.col(t);
  }
  return y;
}

// A before a chunk; with I + U^T A U = L L^T, Z = A U L^-T, A_t k_t = z_t / L_tt.
template <class T>
class inverse_held {
 public:
  inverse_held(index rows, T lambda) : a_(dense<T>::Identity(rows, rows) / lambda) {}

  template <class Keys>
  void take(Keys const& u, dense<T>& directions) {
    z_.noalias() = a_ * u;
    gram_.noalias() = u.transpose() * z_;
    gram_.diagonal().array() += T(1);
    Eigen::LLT<Eigen::Ref<dense<T>>> const factor(gram_);
    factor.matrixL().transpose().template solveInPlace<Eigen::OnTheRight>(z_);
    a_.template selfadjointView<Eigen::Lower>().rankUpdate(z_, T(-1));
    a_.template triangularView<Eigen::StrictlyUpper>() = a_.transpose();
    directions = z_ * gram_.diagonal().cwiseInverse().asDiagonal();
  }

 private:
  dense<T> a_, z_, gram_;
};

// R before a chunk: the same with F = R^-T U, I + F^T F = L L^T, Z = R^-1 F L^-T; then R becomes
// that of Householder's QR of R on top of U^T.
template <class T>
class root_held {
 public:
  root_held(index rows, T lambda) : r_(dense<T>::Identity(rows, rows) * std::sqrt(lambda)) {}

  template <class Keys>
  void take(Keys const& u, dense<T>& directions) {
    index const rows = r_.rows();
    z_ = u;
    r_.transpose().template triangularView<Eigen::Lower>().solveInPlace(z_);
    gram_.noalias() = z_.transpose() * z_;
    gram_.diagonal().array() += T(1);
    Eigen::LLT<Eigen::Ref<dense<T>>> const factor(gram_);
    r_.template triangularView<Eigen::Upper>().solveInPlace(z_);
    factor.matrixL().transpose().template solveInPlace<Eigen::OnTheRight>(z_);
    directions = z_ * gram_.diagonal().cwiseInverse().asDiagonal();
    both_.resize(rows + u.cols(), rows);
    both_.topRows(rows) = r_;
    both_.bottomRows(u.cols()) = u.transpose();
    qr_.compute(both_);
    r_ = qr_.matrixQR().topRows(rows).template triangularView<Eigen::Upper>();
  }

 private:
  dense<T> r_, z_, gram_, both_;
  Eigen::HouseholderQR<dense<T>> qr_;
};

// `chunk` tokens at a time: their write directions, and one triangular solve for what S lacks.
template <template <class> class Held, class T>
dense<T> by_chunk(token_matrices<T> const& x, T lambda, index chunk) {
  Held<T> held(x.rows(), lambda);
  dense<T> s = dense<T>::Zero(x.rows(), x.value.rows()), y(x.value.rows(), x.count()), a, error,
           meets;
  for (index t = 0; t < x.count(); t += chunk) {
    index const count = std::min(chunk, x.count() - t);
    auto const key = x.key.middleCols(t, count), query = x.query.middleCols(t, count);
    held.take(key, a);
    meets.noalias() = key.transpose() * a;
    error = x.value.middleCols(t, count).transpose();
    error.noalias() -= key.transpose() * s;
    meets.template triangularView<Eigen::UnitLower>().solveInPlace(error);
    meets.noalias() = query.transpose() * a;
    auto out = y.middleCols(t, count);
    out.noalias() = s.transpose() * query;
    out.noalias() += error.transpose() * meets.template triangularView<Eigen::Lower>().transpose();
    s.noalias() += a * error;
  }
  return y;
}

}  // namespace wane::bench
