// Long runs of channels with decays: linear recurrences, banks, Laplace nodes, orders and windows.
// SPDX-License-Identifier: MIT
#include <complex>

#include "long_runs/measure.hpp"
#include "wane/spectra.hpp"

namespace wane::bench {
namespace {

using spectra::window_shape;

// Four nodes: half-lives of 3 to 700 tokens, with turns and without.
template <class T>
laplace_parameters<T const> nodes_of(tokens<T> const& x, bool has_window) {
  static T const sigma[] = {T(0.25), T(0.0625), T(0.0078125), T(0.0009765625)};
  static T const width = T(37);
  static std::complex<T> const read_out[] = {{1, 0}, {0.5, 0.5}, {0.25, -0.5}, {0.125, 0.25}};
  laplace_parameters<T const> nodes{
      .sigma = {sigma, 1, 4}, .omega = {x.turns.data(), 1, 4}, .read_out = {read_out, 1, 4, 1}};
  if (has_window) nodes.width = {&width, 1};
  return nodes;
}

template <window_shape Window>
struct laplace_with {
  template <class T>
  auto operator()(tokens<T> const& x, index b, index e) const {
    return laplace<T, Window>({.value = x.value.rows(b, e)},
                              nodes_of(x, Window != window_shape::none));
  }
};

// The weights of orders as floats, which T holds.
template <class T>
class order_numbers {
 public:
  order_numbers() {
    spectra::order_weights<float> const weights(spectra::shared_rates(8, 1000));
    auto const of = weights.table();
    least_ = static_cast<T>(of.least);
    shape_ = of.cubics.extent[0], nodes_ = of.nodes();
    log_decay_.assign(of.log_decay.data, of.log_decay.data + nodes_);
    cubics_.assign(of.cubics.data, of.cubics.data + shape_ * 4 * (nodes_ + 1));
  }
  spectra::order_table<T> table() const {
    return {
        least_, {log_decay_.data(), 1, 1, 1, nodes_}, {cubics_.data(), shape_, 4, 1, nodes_ + 1}};
  }

 private:
  T least_;
  index shape_, nodes_;
  std::vector<T> log_decay_, cubics_;
};
template <class T>
spectra::order_table<T> orders() {
  static order_numbers<T> const numbers;
  return numbers.table();
}

template <class T>
retrieval<T> retrieval_of(tokens<T> const& x, index b, index e) {
  return {{.query = x.positive_query.rows(b, e),
           .key = x.positive_key.rows(b, e),
           .value = x.value.rows(b, e),
           .alpha = x.order.heads(b, e)},
          orders<T>()};
}

// The slowest node of 8 for orders from 0.1 and lags up to 1000 has the rate 2.2e-5.
constexpr double memory_of_orders = 1 / 2.2e-5;

}  // namespace

std::vector<long_row> channel_rows() {
  return {
      row("linear_recurrence", 1e4,
          []<class T>(tokens<T> const& x, index b, index e) {
            return linear_recurrence<decay_as::log, T>(
                {.decay = x.slow.rows(b, e), .drive = x.value.rows(b, e)});
          }),
      row("linear_recurrence by factors", 4,
          []<class T>(tokens<T> const& x, index b, index e) {
            return linear_recurrence<decay_as::factor, T>(
                {.decay = x.rate.rows(b, e), .drive = x.value.rows(b, e)});
          }),
      row("exponential_bank", 1e3,
          []<class T>(tokens<T> const& x, index b, index e) {
            return exponential_bank<T>({.value = x.value.rows(b, e),
                                        .log_decay = {x.log_rates.data(), 1, 4},
                                        .key = {x.ones.data(), 1, 4},
                                        .query = {x.bonus.data(), 1, 4},
                                        .direct = {x.ones.data(), 1}});
          }),
      row("laplace", 1e3, laplace_with<window_shape::none>()),
      row("laplace, exponential window", 37, laplace_with<window_shape::exponential>()),
      // Eight poles that fade in 37/2.4 tokens, with weights whose squares sum to 128.
      row("laplace, gaussian window", 37 / 2.4 * 128, laplace_with<window_shape::gaussian>()),
      row("laplace, rectangular window", 37, laplace_with<window_shape::rectangular>()),
      row("laplace, hann window", 37, laplace_with<window_shape::hann>()),
      row("retention", memory_of_orders,
          []<class T>(tokens<T> const& x, index b, index e) {
            return retention<T>({.value = x.value.rows(b, e), .alpha = x.order.heads(b, e)},
                                orders<T>());
          }),
      row("retrieval", memory_of_orders,
          []<class T>(tokens<T> const& x, index b, index e) { return retrieval_of(x, b, e); }),
      row("local_attention", 37,
          []<class T>(tokens<T> const& x, index b, index e) {
            return local_attention<T>(x.keyed(b, e), {.window = 37});
          }),
      row("vort_layer", memory_of_orders,
          []<class T>(tokens<T> const& x, index b, index e) {
            return vort_layer<T>(retrieval_of(x, b, e),
                                 local_attention<T>(x.keyed(b, e), {.window = 37}));
          }),
  };
}

}  // namespace wane::bench
