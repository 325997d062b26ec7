// What rows with an order for each token share: weights on the device, walks, and the problem.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/arrangement.cuh"
#include "cuda/contest.cuh"
#include "cuda/deviation.cuh"
#include "wane/cuda/run.cuh"
#include "wane/spectra/orders/order_weights.hpp"

namespace wane::bench {

// What order_weights holds, on the device.
template <class T>
class device_weights {
 public:
  explicit device_weights(spectra::order_table<T> const& on_host)
      : table_(on_host), log_decay_(numbers(on_host.log_decay)), cubics_(numbers(on_host.cubics)) {
    table_.log_decay.data = log_decay_.data();
    table_.cubics.data = cubics_.data();
  }
  spectra::order_table<T> const& table() const { return table_; }

 private:
  static std::vector<T> numbers(sequence_view<T const> const& x) {
    return {x.data, x.data + x.extent[0] * x.stride[0]};
  }

  spectra::order_table<T> table_;
  device_array<T> log_decay_, cubics_;
};

// Orders in [least, 1).
struct fill_orders {
  float* to;
  float least;

  __device__ void operator()(index i) const {
    to[i] = least + (1 - least) * static_cast<float>(uniform(i, 3));
  }
};

template <class Arrays>
struct order_walk {
  Arrays p;
  spectra::order_table<float> table;
  arrangement at;

  __device__ void operator()(index k) const {
    p.walk(table, at, k, [this](index place, float y) { p.output[place] = y; });
  }
};

template <class Arrays>
struct order_comparison {
  Arrays p;
  spectra::order_table<double> table;
  arrangement at;
  deviation::sink found;

  __device__ void operator()(index k) const {
    largest seen;
    p.walk(table, at, k,
           [&](index place, double y) { seen.add(static_cast<double>(p.output[place]), y); });
    found.merge(seen);
  }
};

// Arrays have an output, and walk(table, at, k, take), which calls take(place, y) along line k in
// the precision of the table.
class order_loops {
 public:
  order_loops(extents const& e, int nodes) : order_loops(e, spectra::shared_rates(nodes, e.time)) {}

  spectra::order_table<float> const& table() const { return weights_.table(); }
  float least_alpha() const { return least_alpha_; }

  template <class Arrays>
  void walk(Arrays const& p, cudaStream_t on) const {
    for_each_line(e_.lines(), on,
                  order_walk<Arrays>{p, weights_.table(), arrangement::by_token(e_)});
  }
  // The error of the current output.
  template <class Arrays>
  double error(Arrays const& p) const {
    deviation const found;
    for_each_line(
        e_.lines(), nullptr,
        order_comparison<Arrays>{p, exact_.table(), arrangement::by_token(e_), found.to()});
    return found.relative();
  }

 private:
  order_loops(extents const& e, spectra::shared_rates const& rates)
      : e_(e),
        least_alpha_(static_cast<float>(rates.least_alpha())),
        weights_(weights_of<float>(rates)),
        exact_(weights_of<double>(rates)) {}
  template <class T>
  static device_weights<T> weights_of(spectra::shared_rates const& rates) {
    spectra::order_weights<T> const weights(rates);
    return device_weights<T>(weights.table());
  }

  extents e_;
  float least_alpha_;
  device_weights<float> weights_;
  device_weights<double> exact_;
};

// Arrays also has: nodes, their number; inputs(e), how many numbers it reads besides orders, which
// lie after them; a constructor from the extents, the inputs and the output; operation(e, table).
template <class Arrays>
class order_problem {
 public:
  explicit order_problem(extents const& e)
      : e_(e),
        loops_(e, Arrays::nodes),
        inputs_(Arrays::inputs(e) + orders()),
        outputs_(Arrays::inputs(e) + orders()),
        arrays_(e, inputs_.data(), outputs_.data()) {
    float* const alpha = inputs_.data() + Arrays::inputs(e);
    for_each(alpha - inputs_.data(), 256, nullptr, fill_signed<float>{inputs_.data(), 1});
    for_each(static_cast<index>(orders()), 256, nullptr, fill_orders{alpha, loops_.least_alpha()});
    memory_ = device_array<std::byte>(cuda::workspace_bytes(operation()));
    cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  // Values are read and outputs written. The other numbers exist once for each head of a token.
  static constexpr int moved_numbers = 2;
  static constexpr int moved_by_walk = 2;
  double bytes(int numbers) const {
    auto const values = static_cast<double>(e_.numbers());
    return 4.0 * (numbers - 1) * values + static_cast<double>(inputs_.bytes());
  }
  void const* inputs() const { return inputs_.data(); }
  void* outputs() const { return outputs_.data(); }

  void by_wane(cudaStream_t on) const {
    cuda::run(cuda::stream{on}, operation(), whole(arrays_.output, e_),
              cuda::workspace{memory_.data(), memory_.bytes()});
  }
  void by_walk(cudaStream_t on) const { loops_.walk(arrays_, on); }
  double error() const { return loops_.error(arrays_); }

 private:
  std::size_t orders() const { return static_cast<std::size_t>(e_.numbers() / e_.channels); }
  auto operation() const { return arrays_.operation(e_, loops_.table()); }

  extents e_;
  order_loops loops_;
  device_array<float> inputs_, outputs_;
  device_array<std::byte> memory_;
  Arrays arrays_;
};

}  // namespace wane::bench
