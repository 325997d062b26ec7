// The row of retention, with 16 nodes and orders of every size.
// SPDX-License-Identifier: MIT
#include "cuda/contest.cuh"
#include "cuda/order_loops.cuh"
#include "wane/cuda/run.cuh"
#include "wane/operators/retention.hpp"

namespace wane::bench {
namespace {

constexpr int nodes = 16;

struct retention_arrays {
  float const *values, *alpha;
  float* output;
  index heads, channels;

  // The loads of eight tokens are on their way together.
  template <class Real, class Take>
  __device__ void walk(spectra::order_table<Real> const& table, arrangement const& at, index k,
                       Take const& take) const {
    constexpr int ahead = 8;
    Real factor[nodes], m[nodes] = {};
#pragma unroll
    for (int s = 0; s < nodes; ++s) factor[s] = std::exp(table.log_decay(0, 0, 0, s));
    index const first_token = k / (heads * channels) * at.time, head = k / channels % heads;
    index place = at.first(k);
    for (index t = 0; t < at.time; t += ahead, place += ahead * at.width) {
      float value[ahead], order[ahead];
      int const count = at.time - t < ahead ? static_cast<int>(at.time - t) : ahead;
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (i < count) {
          value[i] = values[place + i * at.width];
          order[i] = alpha[(first_token + t + i) * heads + head];
        }
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (i < count) {
          auto const of = table.at(static_cast<Real>(order[i]));
          Real const v = static_cast<Real>(value[i]);
          Real y = of.weight(index{nodes}) * v;
#pragma unroll
          for (int s = 0; s < nodes; ++s) {
            m[s] = std::fma(factor[s], m[s], of.weight(index{s}) * v);
            y += m[s];
          }
          take(place + i * at.width, y);
        }
    }
  }
};

class problem {
 public:
  explicit problem(extents const& e)
      : e_(e),
        numbers_(static_cast<std::size_t>(e.numbers())),
        orders_(numbers_ / static_cast<std::size_t>(e.channels)),
        loops_(e, nodes),
        inputs_(numbers_ + orders_),
        outputs_(numbers_ + orders_) {
    float* const values = inputs_.data();
    arrays_ = {values, values + numbers_, outputs_.data(), e.heads, e.channels};
    for_each(e.numbers(), 256, nullptr, fill_signed<float>{values, 1});
    for_each(static_cast<index>(orders_), 256, nullptr,
             fill_orders{values + numbers_, loops_.least_alpha()});
    memory_ = device_array<std::byte>(cuda::workspace_bytes(operation()));
    cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

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
  void by_walk(cudaStream_t on) const { loops_.walk(arrays_, on); }
  double error() const { return loops_.error(arrays_); }

 private:
  retention<float> operation() const {
    token_view<float const> const alpha(arrays_.alpha, e_.batch, e_.time, e_.heads);
    return {whole(arrays_.values, e_), alpha, loops_.table()};
  }

  extents e_;
  std::size_t numbers_, orders_;
  order_loops loops_;
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
