// The row of retrieval, with 4 nodes of 8 features each and orders of every size.
// SPDX-License-Identifier: MIT
#include "cuda/contest.cuh"
#include "cuda/order_loops.cuh"
#include "wane/cuda/run.cuh"
#include "wane/operators/retrieval.hpp"

namespace wane::bench {
namespace {

constexpr int nodes = 4, features = 8;

// Loaded 16 bytes at a time.
struct alignas(16) feature_row {
  float of[features];
};

struct retrieval_arrays {
  feature_row const *query, *key;
  float const *values, *alpha;
  float* output;
  index heads, channels;

  // The loads of four tokens are on their way together.
  template <class Real, class Take>
  __device__ void walk(spectra::order_table<Real> const& table, arrangement const& at, index k,
                       Take const& take) const {
    constexpr int ahead = 4;
    Real factor[nodes], m[nodes][features] = {};
#pragma unroll
    for (int s = 0; s < nodes; ++s) factor[s] = std::exp(table.log_decay(0, 0, 0, s));
    index const first_token = k / (heads * channels) * at.time, head = k / channels % heads;
    index place = at.first(k);
    for (index t = 0; t < at.time; t += ahead, place += ahead * at.width) {
      feature_row q[ahead], k[ahead];
      float value[ahead], order[ahead];
      int const count = at.time - t < ahead ? static_cast<int>(at.time - t) : ahead;
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (i < count) {
          index const row = (first_token + t + i) * heads + head;
          q[i] = query[row], k[i] = key[row];
          value[i] = values[place + i * at.width];
          order[i] = alpha[row];
        }
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (i < count) {
          auto const of = table.at(static_cast<Real>(order[i]));
          Real const v = static_cast<Real>(value[i]);
          // What is read is n_t with c_s(alpha_t) written, and d(alpha_t) beside it.
          Real weight[nodes], y = 0;
          Real const beside = of.weight(index{nodes});
#pragma unroll
          for (int s = 0; s < nodes; ++s) weight[s] = of.weight(index{s});
#pragma unroll
          for (int f = 0; f < features; ++f) {
            Real const written = static_cast<Real>(k[i].of[f]) * v;
            Real read = beside * written;
#pragma unroll
            for (int s = 0; s < nodes; ++s) {
              m[s][f] = std::fma(factor[s], m[s][f], weight[s] * written);
              read += m[s][f];
            }
            y = std::fma(static_cast<Real>(q[i].of[f]), read, y);
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
        inputs_(numbers_ + beside()),
        outputs_(numbers_ + beside()) {
    float *const query = inputs_.data(), *const key = query + features * orders_;
    float *const values = key + features * orders_, *const alpha = values + numbers_;
    arrays_ = {reinterpret_cast<feature_row*>(query),
               reinterpret_cast<feature_row*>(key),
               values,
               alpha,
               outputs_.data(),
               e.heads,
               e.channels};
    for_each(alpha - query, 256, nullptr, fill_signed<float>{query, 1});
    for_each(static_cast<index>(orders_), 256, nullptr, fill_orders{alpha, loops_.least_alpha()});
    memory_ = device_array<std::byte>(cuda::workspace_bytes(operation()));
    cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  // Values are read and outputs written, beside features and an order for each head of a token.
  static constexpr int moved_numbers = 2;
  static constexpr int moved_by_walk = 2;
  double bytes(int numbers) const {
    return 4.0 * (numbers * static_cast<double>(numbers_) + static_cast<double>(beside()));
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
  // Queries, keys and orders.
  std::size_t beside() const { return (2 * features + 1) * orders_; }
  retrieval<float, normaliser::none> operation() const {
    auto const rows = [this](feature_row const* first) {
      return sequence_view<float const>(first->of, e_.batch, e_.time, e_.heads, features);
    };
    token_view<float const> const alpha(arrays_.alpha, e_.batch, e_.time, e_.heads);
    return {
        {rows(arrays_.query), rows(arrays_.key), whole(arrays_.values, e_)}, alpha, loops_.table()};
  }

  extents e_;
  std::size_t numbers_, orders_;
  order_loops loops_;
  device_array<float> inputs_, outputs_;  // queries, keys, values, orders
  device_array<std::byte> memory_;
  retrieval_arrays arrays_{};
};

}  // namespace

std::vector<row> retrieval_rows() {
  extents const e = one_sequence;
  return {{"retrieval/forward/" + e.text() + "/S:" + std::to_string(nodes) +
               "/F:" + std::to_string(features),
           [e](int rounds) { return held_against_walk<problem>(e, rounds); }}};
}

}  // namespace wane::bench
