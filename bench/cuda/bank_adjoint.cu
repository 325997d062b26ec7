// The row of the adjoint of exponential_bank, with 16 decays.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "cuda/bank_loops.cuh"
#include "cuda/contest.cuh"
#include "wane/cuda/adjoint.cuh"

namespace wane::bench {
namespace {

struct bank_adjoint_arrays {
  bank_arrays forward;
  float const* output_gradient;
  float* value_gradient;
};

// Gradients of log_decay, key and query: [3, H, bank_rows].
template <class Real>
__device__ void add_to_nodes(Real* sums, bank_arrays const& p, index kind, index node,
                             Real const (&more)[bank_rows]) {
  for (int s = 0; s < bank_rows; ++s)
    atomicAdd(sums + kind * p.heads * bank_rows + node + s, more[s]);
}

// Adds the gradients of log_decay and query along line k to `sums`: the derivative of a state in
// its log decay is itself a recurrence, so that no state is kept.
template <class Real>
__device__ void walk_forward(bank_adjoint_arrays const& p, arrangement const& at, index k,
                             Real* sums) {
  index const node = k / p.forward.channels % p.forward.heads * bank_rows;
  Real factor[bank_rows], h[bank_rows] = {}, slope[bank_rows] = {};
  Real of_decay[bank_rows] = {}, of_query[bank_rows] = {};
  for (int s = 0; s < bank_rows; ++s)
    factor[s] = std::exp(static_cast<Real>(p.forward.log_decay[node + s]));
  index place = at.first(k);
  for (index t = 0; t < at.time; ++t, place += at.width) {
    Real const value = static_cast<Real>(p.forward.values[place]);
    Real const dy = static_cast<Real>(p.output_gradient[place]);
#pragma unroll
    for (int s = 0; s < bank_rows; ++s) {
      slope[s] = factor[s] * (slope[s] + h[s]);
      h[s] = std::fma(factor[s], h[s], static_cast<Real>(p.forward.key[node + s]) * value);
      of_decay[s] =
          std::fma(static_cast<Real>(p.forward.query[node + s]) * dy, slope[s], of_decay[s]);
      of_query[s] = std::fma(dy, h[s], of_query[s]);
    }
  }
  add_to_nodes(sums, p.forward, 0, node, of_decay);
  add_to_nodes(sums, p.forward, 2, node, of_query);
}

// Adds the gradients of key likewise, and calls take(place, gradient of the value).
template <class Real, class Take>
__device__ void walk_back(bank_adjoint_arrays const& p, arrangement const& at, index k, Real* sums,
                          Take const& take) {
  index const node = k / p.forward.channels % p.forward.heads * bank_rows;
  Real factor[bank_rows], carried[bank_rows] = {}, of_key[bank_rows] = {};
  for (int s = 0; s < bank_rows; ++s)
    factor[s] = std::exp(static_cast<Real>(p.forward.log_decay[node + s]));
  index place = at.first(k) + (at.time - 1) * at.width;
  for (index t = at.time; t > 0; --t, place -= at.width) {
    Real const value = static_cast<Real>(p.forward.values[place]);
    Real const dy = static_cast<Real>(p.output_gradient[place]);
    Real of_value = 0;
#pragma unroll
    for (int s = 0; s < bank_rows; ++s) {
      Real const g = std::fma(static_cast<Real>(p.forward.query[node + s]), dy, carried[s]);
      of_value = std::fma(static_cast<Real>(p.forward.key[node + s]), g, of_value);
      of_key[s] = std::fma(value, g, of_key[s]);
      carried[s] = factor[s] * g;
    }
    take(place, of_value);
  }
  add_to_nodes(sums, p.forward, 1, node, of_key);
}

struct walk_both_in_float {
  bank_adjoint_arrays p;
  arrangement at;
  float* sums;

  __device__ void operator()(index k) const {
    walk_forward(p, at, k, sums);
    walk_back(p, at, k, sums, [this](index place, float g) { p.value_gradient[place] = g; });
  }
};

struct compare_both_in_double {
  bank_adjoint_arrays p;
  arrangement at;
  double* sums;
  deviation::sink found;

  __device__ void operator()(index k) const {
    largest seen;
    walk_forward(p, at, k, sums);
    walk_back(p, at, k, sums, [&](index place, double g) {
      seen.add(static_cast<double>(p.value_gradient[place]), g);
    });
    found.merge(seen);
  }
};

class problem {
 public:
  explicit problem(extents const& e)
      : e_(e),
        numbers_(static_cast<std::size_t>(e.numbers())),
        nodes_(bank_nodes(e.heads)),
        inputs_(2 * numbers_),
        outputs_(2 * numbers_) {
    float const* const node = nodes_.data();
    index const count = e.heads * bank_rows;
    bank_arrays const forward{node,    node + count, node + 2 * count, inputs_.data(),
                              nullptr, e.heads,      e.channels};
    arrays_ = {forward, inputs_.data() + numbers_, outputs_.data()};
    for_each(2 * e.numbers(), 256, nullptr, fill_signed<float>{inputs_.data(), 1});
    memory_ = device_array<std::byte>(cuda::adjoint_workspace_bytes(operation()));
    cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  // Values and the gradient of the output are read, the gradient of the values is written.
  static constexpr int moved_numbers = 3;
  // The walk goes along them twice.
  static constexpr int moved_by_walk = 5;
  double bytes(int numbers) const { return 4.0 * numbers * static_cast<double>(numbers_); }
  void const* inputs() const { return inputs_.data(); }
  void* outputs() const { return outputs_.data(); }

  void by_wane(cudaStream_t on) const {
    float* const to = node_gradients();
    index const heads = e_.heads, count = heads * bank_rows;
    cuda::adjoint(cuda::stream{on}, operation(), whole(arrays_.output_gradient, e_),
                  {.value = whole(arrays_.value_gradient, e_),
                   .log_decay = {to, heads, bank_rows},
                   .key = {to + count, heads, bank_rows},
                   .query = {to + 2 * count, heads, bank_rows}},
                  cuda::workspace{memory_.data(), memory_.bytes()});
  }
  void by_walk(cudaStream_t on) const {
    cuda::throw_on_error(cudaMemsetAsync(node_gradients(), 0, nodes_.bytes(), on),
                         "cudaMemsetAsync");
    for_each_line(e_.lines(), on,
                  walk_both_in_float{arrays_, arrangement::by_token(e_), node_gradients()});
  }
  // The largest of the gradients of values, log_decay, key and query.
  double error() const {
    deviation const found;
    device_array<double> const sums(std::vector<double>(nodes_.size()));
    for_each_line(
        e_.lines(), nullptr,
        compare_both_in_double{arrays_, arrangement::by_token(e_), sums.data(), found.to()});
    double error = found.relative();
    std::vector<float> are(nodes_.size());
    cuda::throw_on_error(
        cudaMemcpy(are.data(), node_gradients(), nodes_.bytes(), cudaMemcpyDefault), "cudaMemcpy");
    auto const should_be = sums.download();
    for (std::size_t kind = 0; kind < 3; ++kind) {
      double apart = 0, scale = 0;
      for (std::size_t n = are.size() / 3 * kind; n < are.size() / 3 * (kind + 1); ++n) {
        double const d = std::fabs(static_cast<double>(are[n]) - should_be[n]);
        apart = d <= apart ? apart : d == d ? d : HUGE_VAL;
        scale = std::max(scale, std::fabs(should_be[n]));
      }
      error = std::max(error, apart / scale);
    }
    return error;
  }

 private:
  // These follow the gradients of values in memory, so that they too start from NaN in each run.
  float* node_gradients() const { return outputs_.data() + numbers_; }
  exponential_bank<float> operation() const {
    return bank_operation(arrays_.forward, whole(arrays_.forward.values, e_));
  }

  extents e_;
  std::size_t numbers_;
  device_array<float> nodes_, inputs_, outputs_;
  device_array<std::byte> memory_;
  bank_adjoint_arrays arrays_{};
};

}  // namespace

std::vector<row> bank_adjoint_rows() {
  extents const e = one_sequence;
  return {{"exponential_bank/adjoint/" + e.text() + "/S:" + std::to_string(bank_rows),
           [e](int rounds) { return held_against_walk<problem>(e, rounds); }}};
}

}  // namespace wane::bench
