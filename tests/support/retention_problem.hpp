// A problem for the law kit: retention over random values and orders, on shared nodes or banks.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "wane/operators/retention.hpp"
#include "wane/run/run.hpp"
#include "wane/spectra/fit/sum_of_exponentials.hpp"
#include "wane/spectra/orders/order_banks.hpp"
#include "wane/spectra/orders/order_weights.hpp"

namespace support {

using wane::index;

inline wane::spectra::shared_rates const& rates_of(std::int64_t nodes, std::int64_t horizon) {
  static std::deque<std::pair<std::array<std::int64_t, 2>, wane::spectra::shared_rates>> found;
  for (auto const& [key, rates] : found)
    if (key == std::array{nodes, horizon}) return rates;
  return found.emplace_back(std::array{nodes, horizon}, wane::spectra::shared_rates(nodes, horizon))
      .second;
}

template <class T>
struct shared_nodes : wane::spectra::order_weights<T> {
  shared_nodes(std::int64_t nodes, std::int64_t horizon)
      : wane::spectra::order_weights<T>(rates_of(nodes, horizon)) {}
};

// Banks of so many nodes each, in closed form.
template <class T, wane::spectra::routing Routed, std::int64_t Banks = 4>
struct banks : wane::spectra::order_banks<T> {
  banks(std::int64_t nodes, std::int64_t horizon)
      : wane::spectra::order_banks<T>(wane::spectra::vort_orders(Banks, 0.1), 0.1,
                                      [=](double alpha) {
                                        wane::spectra::gruenwald_letnikov const kernel(alpha);
                                        return wane::spectra::sum_of_terms(kernel, horizon, nodes);
                                      }) {}
  wane::spectra::bank_table<T> table() const {
    return wane::spectra::order_banks<T>::table(Routed);
  }
};

template <class Io, class Weights = shared_nodes<wane::widened<Io>>>
struct retention_problem {
  using T = wane::widened<Io>;
  using operation = wane::retention<Io, T, decltype(std::declval<Weights const&>().table())>;
  index batch = 2, tokens = 90, heads = 3, columns = 7;
  std::int64_t nodes = 8, horizon = 1000;
  double least = 0.1, most = 1;  // orders
  Weights weights{nodes, horizon};
  random_values random{7};
  std::vector<Io> value = some(columns, -1, 1), alpha = some(1, least, most);
  std::vector<Io> to_value = value, to_alpha = alpha;

  index time() const { return tokens; }
  operation make(index begin, index end) const {
    return {{.value = values(value).tokens(begin, end), .alpha = orders(alpha).tokens(begin, end)},
            weights.table()};
  }
  std::array<std::span<Io>, 2> inputs() { return {value, alpha}; }
  typename operation::gradients gradients(index begin = 0, index end = -1) {
    if (end < 0) end = tokens;
    return {.value = values(to_value).tokens(begin, end),
            .alpha = orders(to_alpha).tokens(begin, end)};
  }
  std::array<std::span<Io>, 2> input_gradients() { return {to_value, to_alpha}; }

  auto values(auto& of) const {
    return wane::view<std::remove_pointer_t<decltype(of.data())>, 4>(of.data(), batch, tokens,
                                                                     heads, columns);
  }
  auto orders(auto& of) const {
    return wane::view<std::remove_pointer_t<decltype(of.data())>, 3>(of.data(), batch, tokens,
                                                                     heads);
  }

 private:
  std::vector<Io> some(index each, double low, double high) {
    std::vector<Io> found;
    for (index i = 0; i < batch * tokens * heads * each; ++i)
      found.push_back(Io(static_cast<T>(random.uniform(low, high))));
    return found;
  }
};

template <class Io, class Weights>
std::vector<Io> output_of(retention_problem<Io, Weights> const& p) {
  std::vector<Io> y(p.value.size(), Io(NAN));
  run(p.make(0, p.tokens), p.values(y));
  return y;
}

// sum_i w_{t-i}(alpha_i) v_i with w = kernel(alpha)(lag), in double.
template <class Io, class Weights, class Kernel>
double distance(retention_problem<Io, Weights> const& p, std::vector<Io> const& y,
                Kernel const& kernel, index first = 0, index stride = 1) {
  nearness near;
  auto const number = [](auto x) { return static_cast<double>(x); };
  for (index b = 0; b < p.batch; ++b)
    for (index h = 0; h < p.heads; ++h)
      for (index t = first; t < p.tokens; t += stride) {
        std::vector<double> sum(static_cast<std::size_t>(p.columns));
        for (index i = 0; i <= t; ++i) {
          double const weight = kernel(number(p.orders(p.alpha)(b, i, h)), t - i);
          for (index j = 0; j < p.columns; ++j)
            sum[static_cast<std::size_t>(j)] += weight * number(p.values(p.value)(b, i, h, j));
        }
        for (index j = 0; j < p.columns; ++j)
          near.add(number(p.values(y)(b, t, h, j)), sum[static_cast<std::size_t>(j)]);
      }
  return near.both();
}

inline double exact_kernel(double alpha, index lag) {
  return wane::spectra::gruenwald_letnikov(alpha)(lag);
}

}  // namespace support
