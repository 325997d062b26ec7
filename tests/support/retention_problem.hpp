// A problem for the law kit: retention over random values and orders.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "support/random_values.hpp"
#include "wane/operators/retention.hpp"
#include "wane/spectra/order_weights.hpp"

namespace support {

using wane::index;

inline wane::spectra::shared_rates const& rates_of(std::int64_t nodes, std::int64_t horizon) {
  static std::vector<std::pair<std::array<std::int64_t, 2>, wane::spectra::shared_rates>> found;
  for (auto const& [key, rates] : found)
    if (key == std::array{nodes, horizon}) return rates;
  return found.emplace_back(std::array{nodes, horizon}, wane::spectra::shared_rates(nodes, horizon))
      .second;
}

template <class Io>
struct retention_problem {
  using T = wane::widened<Io>;
  index batch = 2, tokens = 90, heads = 3, columns = 7;
  std::int64_t nodes = 8, horizon = 1000;
  double least = 0.1, most = 1;  // orders
  wane::spectra::order_weights<T> weights{rates_of(nodes, horizon)};
  random_values random{7};
  std::vector<Io> value = some(columns, -1, 1), alpha = some(1, least, most);
  std::vector<Io> to_value = value, to_alpha = alpha;

  index time() const { return tokens; }
  wane::retention<Io> make(index begin, index end) const {
    return {values(value).tokens(begin, end), orders(alpha).tokens(begin, end), weights.table()};
  }
  std::array<std::span<Io>, 2> inputs() { return {value, alpha}; }
  typename wane::retention<Io>::gradients gradients() {
    return {values(to_value), orders(to_alpha)};
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

}  // namespace support
