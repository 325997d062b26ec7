// least_squares: the factors of a matrix, for solutions and residuals of several right sides.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Dense>

namespace wane::spectra::impl {

// Eigen's ColPivHouseholderQR, with reflectors applied to one vector at a time. Eigen's own
// application in blocks would add seconds to the compilation of every file that fits a spectrum.
class least_squares {
 public:
  explicit least_squares(Eigen::MatrixXd const& columns) : qr_(columns) {}

  // The x that makes |columns x - target| least.
  Eigen::VectorXd solve(Eigen::VectorXd target) const {
    reflect(target);
    Eigen::MatrixXd const& r = qr_.matrixQR();
    Eigen::VectorXd found = Eigen::VectorXd::Zero(r.cols());
    for (Eigen::Index k = qr_.nonzeroPivots(); k-- > 0;) {
      double const x = target(k) / r(k, k);
      target.head(k) -= x * r.col(k).head(k);
      found(qr_.colsPermutation().indices()(k)) = x;
    }
    return found;
  }

  // The part of x outside the span of the columns, times an orthogonal matrix that is the same for
  // every x.
  Eigen::VectorXd outside(Eigen::VectorXd x) const {
    reflect(x);
    x.head(qr_.rank()).setZero();
    return x;
  }

 private:
  void reflect(Eigen::VectorXd& x) const {
    for (Eigen::Index k = 0; k < qr_.hCoeffs().size(); ++k) {
      auto const below = qr_.matrixQR().col(k).tail(x.size() - k - 1);
      auto rest = x.tail(x.size() - k - 1);
      double const along = qr_.hCoeffs()(k) * (x(k) + below.dot(rest));
      x(k) -= along;
      rest -= along * below;
    }
  }

  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr_;
};

}  // namespace wane::spectra::impl
