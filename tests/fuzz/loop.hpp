// A memory as a loop over tokens in double, and how far a run in float may be from it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "fuzz/tensors.hpp"

namespace fuzz {

using row = std::vector<double>;

// S <- diag(e^g) S + a (b^T S_) + k v^T, y = S^T q + d v, where S_ is S after its decay or before.
// Without keys there is one row, every column has a log decay of its own, and y = S.
struct terms {
  row log_decay, key, value, query;
  row erase_write = {}, erase_read = {};
  bool erases_decayed = true;
  double direct = 0, direct_size = 0;  // and the sum of the sizes of what it is a sum of
};

inline double norm(row const& x) {
  double sum = 0;
  for (double const each : x) sum += each * each;
  return std::sqrt(sum);
}
inline row times(double factor, row x) {
  for (double& each : x) each *= factor;
  return x;
}
// x / sqrt(|x|^2 + epsilon)
inline row unit(row const& x, double epsilon) {
  double sum = epsilon;
  for (double const each : x) sum += each * each;
  return times(1 / std::sqrt(sum), x);
}

// One head of one sequence: its state, and for each column a bound on the error of a float state.
// A rounding is half an ulp of float, 2^-24, of which a token makes 2 K in its sums over rows and
// not 128 besides: those of its terms, of an exponential, and of a sum of logs, which are at most
// 104 where e^x is a float. What is below 2^-126 may count as zero, and 2^26 roundings of that
// size are less than 2^-100.
struct memory {
  std::size_t rows, columns;
  row s = row(rows * columns), error = row(columns), written = row(columns), y = {}, y_error = {};

  static constexpr double rounding = 0x1p-24, least = 0x1p-100;
  // A float may overflow on the way from here on.
  static constexpr double largest = 1e30;

  double& at(std::size_t i, std::size_t j) { return s[i * columns + j]; }

  row column(std::size_t j) {
    row x(rows);
    for (std::size_t i = 0; i < rows; ++i) x[i] = at(i, j);
    return x;
  }

  void take(terms const& x) {
    if (rows == 1 && x.log_decay.size() == columns && x.key.empty()) return take_columns(x);
    double const unsure = rounding * (2 * static_cast<double>(rows) + 128);
    row w(rows);
    double slowest = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      w[i] = std::exp(x.log_decay[i]);
      slowest = std::isnan(w[i]) || w[i] > slowest ? w[i] : slowest;
    }
    bool const erases = !x.erase_read.empty();
    double const erased = erases ? norm(x.erase_write) * norm(x.erase_read) : 0;
    // Rows and columns of diag(w) + |a| |b|^T: the root of the product of their largest sums is at
    // least the norm that the error grows by.
    double by_rows = 0, by_columns = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      double in_row = w[i], in_column = w[i];
      for (std::size_t n = 0; erases && n < rows; ++n) {
        double const seen = x.erases_decayed ? 1 : 0;
        in_row += std::abs(x.erase_write[i] * x.erase_read[n]) * (seen * w[n] + 1 - seen);
        in_column += std::abs(x.erase_write[n] * x.erase_read[i]) * (seen * w[i] + 1 - seen);
      }
      by_rows = std::max(by_rows, in_row), by_columns = std::max(by_columns, in_column);
    }
    double const growth = std::sqrt(by_rows * by_columns);
    double const all_keys = norm(x.key), all_queries = norm(x.query);
    y.assign(columns, x.direct), y_error.assign(columns, 0);
    for (std::size_t j = 0; j < columns; ++j) {
      row const before = column(j);
      double held = 0;
      for (std::size_t i = 0; i < rows; ++i) {
        at(i, j) = w[i] == 0 ? 0 : w[i] * before[i];
        if (erases) held += x.erase_read[i] * (x.erases_decayed ? at(i, j) : before[i]);
      }
      for (std::size_t i = 0; i < rows; ++i)
        at(i, j) += (erases ? x.erase_write[i] * held : 0) + x.key[i] * x.value[j];
      double const v = std::abs(x.value[j]), size = norm(before);
      bool const forgotten = slowest == 0 && (!erases || x.erases_decayed);
      double const carried =
          forgotten ? 0 : growth * error[j] + (unsure * (slowest + erased) + least) * size;
      error[j] = carried + unsure * all_keys * v + least * (1 + v + all_keys + erased);
      // Products of query and key below 2^-126 may count as zero, whatever value they meet.
      written[j] = (forgotten ? 0 : written[j]) + v;
      row const after = column(j);
      double const reads = all_queries + least;
      // What a token reads may overflow although it writes nothing.
      double const found = erases ? norm(x.erase_read) * size : 0;
      if (!(std::max({norm(after), error[j], v, all_keys * v, erased * size, found}) < largest))
        error[j] = std::numeric_limits<double>::quiet_NaN();
      double const direct = x.direct * x.value[j];
      y[j] = direct;
      for (std::size_t i = 0; i < rows; ++i) y[j] += x.query[i] * after[i];
      y_error[j] = reads * error[j] + unsure * (all_queries * norm(after) + x.direct_size * v) +
                   least * (1 + written[j] + norm(after));
    }
  }

 private:
  void take_columns(terms const& x) {
    y.resize(columns), y_error.resize(columns);
    for (std::size_t j = 0; j < columns; ++j) {
      memory one{1, 1, {s[j]}, {error[j]}, {written[j]}};
      one.take({.log_decay = {x.log_decay[j]}, .key = {1}, .value = {x.value[j]}, .query = {1}});
      s[j] = one.s[0], error[j] = one.error[0], written[j] = one.written[0];
      y[j] = one.y[0], y_error[j] = one.y_error[0];
    }
  }
};

// Whether `is` may stand for `should_be`. An unknown error (NaN) allows anything.
inline bool near(double is, double should_be, double error) {
  return !(error < memory::largest) || std::abs(is - should_be) <= error;
}

}  // namespace fuzz
