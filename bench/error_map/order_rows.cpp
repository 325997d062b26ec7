// Rows of the table: power-law memories with an order for each token, on shared rates.
// SPDX-License-Identifier: MIT
#include "error_map/row_of.hpp"
#include "wane/operators/retention.hpp"
#include "wane/operators/retrieval.hpp"
#include "wane/operators/undecayed_retrieval.hpp"
#include "wane/spectra/orders/order_weights.hpp"

namespace wane::bench {
namespace {

constexpr index nodes = 16, horizon = 4096;

// The table of floats, as floats or widened.
template <class T>
class widened_weights {
 public:
  explicit widened_weights(spectra::order_table<float> const& from)
      : least_(from.least),
        pieces_(from.cubics.extent[0]),
        log_decay_(from.log_decay.data, from.log_decay.data + nodes),
        cubics_(from.cubics.data, from.cubics.data + pieces_ * 4 * (nodes + 1)) {}
  spectra::order_table<T> table() const {
    return {
        least_, {log_decay_.data(), 1, 1, 1, nodes}, {cubics_.data(), pieces_, 4, 1, nodes + 1}};
  }

 private:
  T least_;
  index pieces_;
  std::vector<T> log_decay_, cubics_;
};
spectra::order_weights<float> const& float_weights() {
  static spectra::order_weights<float> const weights(spectra::shared_rates(nodes, horizon));
  return weights;
}
template <class T>
spectra::order_table<T> table_of() {
  static widened_weights<T> const weights(float_weights().table());
  return weights.table();
}

// Of the shared rates: the slowest, and by how much the weights of both signs are larger than
// their sum with d, which is 1.
double slowest() {
  auto const table = float_weights().table();
  return double(*std::max_element(table.log_decay.data, table.log_decay.data + nodes));
}
double cancelling() {
  auto const table = float_weights().table();
  double most = 0;
  for (int n = 0; n <= 100; ++n) {
    auto const order = table.at(0.125f + 0.0075f * static_cast<float>(n));
    double sum = 0;
    for (index s = 0; s <= nodes; ++s) sum += std::abs(double(order.weight(s)));
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

std::vector<mapped_operator> order_operators() {
  return {
      row_of("retention", takes_decays::none, {.slowest = slowest(), .condition = cancelling()},
             []<class X>(X const& x) {
               return retention<typename X::number>({.value = x.value(), .alpha = x.strength()},
                                                    table_of<typename X::parameter>());
             }),
      // Features are positive, as for linear_attention.
      row_of("retrieval", takes_decays::none,
             {.slowest = slowest(),
              .summed = nodes * size,
              .condition = 2 * cancelling(),
              .spread = 5},
             []<class X>(X const& x) {
               return retrieval<typename X::number>({.query = x.positive_query(),
                                                     .key = x.positive_key(),
                                                     .value = x.value(),
                                                     .alpha = x.strength()},
                                                    table_of<typename X::parameter>());
             }),
      // Its denominator, a sum that never fades, remembers all tokens.
      row_of("undecayed_retrieval", takes_decays::none,
             {.summed = nodes * size, .condition = 2 * cancelling(), .spread = 5},
             []<class X>(X const& x) {
               return retrieval<typename X::number, normaliser::undecayed>(
                   {.query = x.positive_query(),
                    .key = x.positive_key(),
                    .value = x.value(),
                    .alpha = x.strength()},
                   table_of<typename X::parameter>());
             }),
  };
}

}  // namespace wane::bench
