// The row of laplace without a window: 16 nodes, read out the same way in all channels.
// SPDX-License-Identifier: MIT
#include <complex>
#include <vector>

#include "cuda/arrangement.cuh"
#include "cuda/contest.cuh"
#include "cuda/deviation.cuh"
#include "wane/cuda/run.cuh"
#include "wane/operators/laplace.hpp"

namespace wane::bench {
namespace {

constexpr int nodes = 16;

// sigma, omega and the parts of the read-out, [H, nodes] each.
struct laplace_arrays {
  float const *sigma, *omega;
  std::complex<float> const* read_out;
  float const* values;
  float* output;
  index heads, channels;

  laplace<float> operation(extents const& e) const {
    return {{.value = whole(values, e)},
            {.sigma = {sigma, heads, nodes},
             .omega = {omega, heads, nodes},
             .read_out = {read_out, heads, nodes, 1}}};
  }

  // Calls take(place, y) along line k, one thread. The loads of eight tokens are on their way
  // together.
  template <class Real, class Take>
  __device__ void walk(arrangement const& at, index k, Take const& take) const {
    constexpr int ahead = 8;
    Real pole[nodes][2], read[nodes][2], h[nodes][2] = {};
    index const first = k / channels % heads * nodes;
#pragma unroll
    for (int s = 0; s < nodes; ++s) {
      auto const& z = reinterpret_cast<float const(&)[2]>(read_out[first + s]);
      Real const scale = std::exp(-static_cast<Real>(sigma[first + s])),
                 angle = -static_cast<Real>(omega[first + s]);
      pole[s][0] = scale * std::cos(angle), pole[s][1] = scale * std::sin(angle);
      read[s][0] = static_cast<Real>(z[0]), read[s][1] = static_cast<Real>(z[1]);
    }
    index place = at.first(k);
    for (index t = 0; t < at.time; t += ahead, place += ahead * at.width) {
      float value[ahead];
      int const count = at.time - t < ahead ? static_cast<int>(at.time - t) : ahead;
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (i < count) value[i] = values[place + i * at.width];
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (i < count) {
          Real y = 0;
#pragma unroll
          for (int s = 0; s < nodes; ++s) {
            Real const re = h[s][0], im = h[s][1];
            h[s][0] = std::fma(pole[s][0], re, std::fma(-pole[s][1], im, Real(value[i])));
            h[s][1] = std::fma(pole[s][0], im, pole[s][1] * re);
            y += std::fma(read[s][0], h[s][0], -read[s][1] * h[s][1]);
          }
          take(place + i * at.width, y);
        }
    }
  }
};

struct walk_in_float {
  laplace_arrays p;
  arrangement at;

  __device__ void operator()(index k) const {
    p.walk<float>(at, k, [this](index place, float y) { p.output[place] = y; });
  }
};
struct compare_in_double {
  laplace_arrays p;
  arrangement at;
  deviation::sink found;

  __device__ void operator()(index k) const {
    largest seen;
    p.walk<double>(
        at, k, [&](index place, double y) { seen.add(static_cast<double>(p.output[place]), y); });
    found.merge(seen);
  }
};

class laplace_problem {
 public:
  explicit laplace_problem(extents const& e)
      : e_(e),
        nodes_(parameters(e.heads)),
        values_(static_cast<std::size_t>(e.numbers())),
        output_(static_cast<std::size_t>(e.numbers())) {
    index const count = e.heads * nodes;
    arrays_ = {nodes_.data(),
               nodes_.data() + count,
               reinterpret_cast<std::complex<float> const*>(nodes_.data() + 2 * count),
               values_.data(),
               output_.data(),
               e.heads,
               e.channels};
    for_each(e.numbers(), 256, nullptr, fill_signed<float>{values_.data(), 1});
    memory_ = device_array<std::byte>(cuda::workspace_bytes(arrays_.operation(e_)));
    cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  static constexpr int moved_numbers = 2, moved_by_walk = 2;
  double bytes(int numbers) const {
    return static_cast<double>(numbers) * sizeof(float) * static_cast<double>(e_.numbers());
  }
  void const* inputs() const { return values_.data(); }
  void* outputs() const { return output_.data(); }

  void by_wane(cudaStream_t on) const {
    cuda::run(cuda::stream{on}, arrays_.operation(e_), whole(arrays_.output, e_),
              cuda::workspace{memory_.data(), memory_.bytes()});
  }
  void by_walk(cudaStream_t on) const {
    for_each_line(e_.lines(), on, walk_in_float{arrays_, arrangement::by_token(e_)});
  }
  double error() const {
    deviation const found;
    for_each_line(e_.lines(), nullptr,
                  compare_in_double{arrays_, arrangement::by_token(e_), found.to()});
    return found.relative();
  }

 private:
  // Half-lives of one token to a thousand, periods from two tokens up.
  static std::vector<float> parameters(index heads) {
    auto const count = static_cast<std::size_t>(heads) * nodes;
    std::vector<float> all(4 * count);
    for (std::size_t i = 0; i < count; ++i) {
      double const s = static_cast<double>(i % nodes), h = static_cast<double>(i / nodes);
      all[i] = static_cast<float>(std::pow(10, -3 + 3 * s / nodes - 0.01 * h));
      all[count + i] = static_cast<float>(3 * s / nodes);
      all[2 * count + 2 * i] = static_cast<float>(0.3 + 0.05 * s);
      all[2 * count + 2 * i + 1] = static_cast<float>(0.2 - 0.03 * s);
    }
    return all;
  }

  extents e_;
  device_array<float> nodes_, values_, output_;
  device_array<std::byte> memory_;
  laplace_arrays arrays_{};
};

}  // namespace

std::vector<row> laplace_rows() {
  extents const e = one_sequence;
  return {{"laplace/forward/" + e.text() + "/S:" + std::to_string(nodes),
           [e](int rounds) { return held_against_walk<laplace_problem>(e, rounds); }}};
}

}  // namespace wane::bench
