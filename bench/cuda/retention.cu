// The row of retention, with 16 nodes and orders of every size.
// SPDX-License-Identifier: MIT
#include "cuda/arrangement.cuh"
#include "cuda/contest.cuh"
#include "cuda/deviation.cuh"
#include "wane/cuda/run.cuh"
#include "wane/operators/retention.hpp"
#include "wane/spectra/order_weights.hpp"

namespace wane::bench {
namespace {

constexpr int nodes = 16;

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

struct retention_arrays {
  float const *values, *alpha;
  float* output;
  index heads, channels;
};

struct fill_orders {
  float* to;
  float least;

  __device__ void operator()(index i) const {
    to[i] = least + (1 - least) * static_cast<float>(uniform(i, 3));
  }
};

// Calls take(place, y) along line k, in Real. The loads of eight tokens are on their way together.
template <class Real, class Take>
__device__ void walk_line(retention_arrays const& p, spectra::order_table<Real> const& table,
                          arrangement const& at, index k, Take const& take) {
  constexpr int ahead = 8;
  Real factor[nodes], m[nodes] = {};
#pragma unroll
  for (int s = 0; s < nodes; ++s) factor[s] = std::exp(table.log_decay(0, 0, 0, s));
  index const first_token = k / (p.heads * p.channels) * at.time, head = k / p.channels % p.heads;
  index place = at.first(k);
  for (index t = 0; t < at.time; t += ahead, place += ahead * at.width) {
    float value[ahead], alpha[ahead];
    int const count = at.time - t < ahead ? static_cast<int>(at.time - t) : ahead;
#pragma unroll
    for (int i = 0; i < ahead; ++i)
      if (i < count) {
        value[i] = p.values[place + i * at.width];
        alpha[i] = p.alpha[(first_token + t + i) * p.heads + head];
      }
#pragma unroll
    for (int i = 0; i < ahead; ++i)
      if (i < count) {
        auto const order = table.at(static_cast<Real>(alpha[i]));
        Real const v = static_cast<Real>(value[i]);
        Real y = order.weight(index{nodes}) * v;
#pragma unroll
        for (int s = 0; s < nodes; ++s) {
          m[s] = std::fma(factor[s], m[s], order.weight(index{s}) * v);
          y += m[s];
        }
        take(place + i * at.width, y);
      }
  }
}

struct walk_in_float {
  retention_arrays p;
  spectra::order_table<float> table;
  arrangement at;

  __device__ void operator()(index k) const {
    walk_line(p, table, at, k, [this](index place, float y) { p.output[place] = y; });
  }
};

struct compare_in_double {
  retention_arrays p;
  spectra::order_table<double> table;
  arrangement at;
  deviation::sink found;

  __device__ void operator()(index k) const {
    largest seen;
    walk_line(p, table, at, k,
              [&](index place, double y) { seen.add(static_cast<double>(p.output[place]), y); });
    found.merge(seen);
  }
};

class problem {
 public:
  explicit problem(extents const& e) : problem(e, spectra::shared_rates(nodes, e.time)) {}

  // Values are read and outputs written, beside an order for each head of a token.
  static constexpr int moved_numbers = 2;
  static constexpr int moved_by_walk = 2;
  double bytes(int numbers) const {
    return 4.0 * (numbers * static_cast<double>(numbers_) + static_cast<double>(orders_));
  }
  void const* inputs() const { return inputs_.data(); }
  void* outputs() const { return outputs_.data(); }

  void by_wane(cudaStream_t on) const {
    cuda::run(cuda::stream{on}, operation(), whole(arrays_.output, e_),
              cuda::workspace{memory_.data(), memory_.bytes()});
  }
  void by_walk(cudaStream_t on) const {
    for_each_line(e_.lines(), on,
                  walk_in_float{arrays_, weights_.table(), arrangement::by_token(e_)});
  }
  double error() const {
    deviation const found;
    for_each_line(
        e_.lines(), nullptr,
        compare_in_double{arrays_, exact_.table(), arrangement::by_token(e_), found.to()});
    return found.relative();
  }

 private:
  problem(extents const& e, spectra::shared_rates const& rates)
      : e_(e),
        numbers_(static_cast<std::size_t>(e.numbers())),
        orders_(numbers_ / static_cast<std::size_t>(e.channels)),
        weights_(weights_of<float>(rates)),
        exact_(weights_of<double>(rates)),
        inputs_(numbers_ + orders_),
        outputs_(numbers_ + orders_) {
    float* const values = inputs_.data();
    arrays_ = {values, values + numbers_, outputs_.data(), e.heads, e.channels};
    for_each(e.numbers(), 256, nullptr, fill_signed<float>{values, 1});
    for_each(static_cast<index>(orders_), 256, nullptr,
             fill_orders{values + numbers_, static_cast<float>(rates.least_alpha())});
    memory_ = device_array<std::byte>(cuda::workspace_bytes(operation()));
    cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  template <class T>
  static device_weights<T> weights_of(spectra::shared_rates const& rates) {
    spectra::order_weights<T> const weights(rates);
    return device_weights<T>(weights.table());
  }
  retention<float> operation() const {
    token_view<float const> const alpha(arrays_.alpha, e_.batch, e_.time, e_.heads);
    return {whole(arrays_.values, e_), alpha, weights_.table()};
  }

  extents e_;
  std::size_t numbers_, orders_;
  device_weights<float> weights_;
  device_weights<double> exact_;
  device_array<float> inputs_, outputs_;  // orders lie behind the values
  device_array<std::byte> memory_;
  retention_arrays arrays_{};
};

}  // namespace

std::vector<row> retention_rows() {
  extents const e = one_sequence;
  return {{"retention/forward/" + e.text() + "/S:" + std::to_string(nodes),
           [e](int rounds) { return held_against_walk<problem>(e, rounds); }}};
}

}  // namespace wane::bench
