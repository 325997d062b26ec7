// The rows of the adjoint of linear_recurrence, whose decays are factors, in float.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "cuda/linear_contest.cuh"
#include "wane/cuda/adjoint.cuh"

namespace wane::bench {
namespace {

using op = linear_recurrence<decay_as::factor, float>;

struct adjoint_arrays {
  float const *decay, *drive, *output_gradient;
  float *decay_gradient, *drive_gradient;
};

// Calls take(place, gradient of decay, gradient of drive) from the last token of line k to the
// first. States are kept for every token. The loads of eight tokens are on their way together.
template <class Real, class Take>
__device__ void walk_back(adjoint_arrays const& p, arrangement const& at, index k, Real* states,
                          Take const& take) {
  constexpr int ahead = 8;
  linear_arrays<float> const forward{p.decay, p.drive, nullptr, nullptr, nullptr};
  walk_line<decay_as::factor, Real>(forward, at, k,
                                    [states](index place, Real h) { states[place] = h; });
  Real carried = 0;
  index place = at.first(k) + (at.time - 1) * at.width;
  for (index t = at.time; t > 0; t -= ahead, place -= ahead * at.width) {
    float decay[ahead], dy[ahead];
    Real before[ahead];
    int const count = t < ahead ? static_cast<int>(t) : ahead;
#pragma unroll
    for (int i = 0; i < ahead; ++i)
      if (i < count) {
        decay[i] = p.decay[place - i * at.width];
        dy[i] = p.output_gradient[place - i * at.width];
        before[i] = t - i > 1 ? states[place - (i + 1) * at.width] : Real(0);
      }
#pragma unroll
    for (int i = 0; i < ahead; ++i)
      if (i < count) {
        Real const g = static_cast<Real>(dy[i]) + carried;
        take(place - i * at.width, g * before[i], g);
        carried = static_cast<Real>(decay[i]) * g;
      }
  }
}

struct walk_back_in_float {
  adjoint_arrays p;
  arrangement at;
  float* states;

  __device__ void operator()(index k) const {
    walk_back(p, at, k, states, [this](index place, float of_decay, float of_drive) {
      p.decay_gradient[place] = of_decay, p.drive_gradient[place] = of_drive;
    });
  }
};

struct compare_back_in_double {
  adjoint_arrays p;
  arrangement at;
  double* states;
  deviation::sink decay, drive;

  __device__ void operator()(index k) const {
    largest of_decays, of_drives;
    walk_back(p, at, k, states, [&](index place, double of_decay, double of_drive) {
      of_decays.add(static_cast<double>(p.decay_gradient[place]), of_decay);
      of_drives.add(static_cast<double>(p.drive_gradient[place]), of_drive);
    });
    decay.merge(of_decays), drive.merge(of_drives);
  }
};

class problem {
 public:
  explicit problem(extents const& e)
      : e_(e),
        numbers_(static_cast<std::size_t>(e.numbers())),
        inputs_(3 * numbers_),
        outputs_((moved_numbers + 1) / 2 * numbers_),
        states_(numbers_) {
    float* const in = inputs_.data();
    arrays_ = {in, in + numbers_, in + 2 * numbers_, outputs_.data(), outputs_.data() + numbers_};
    for_each(e.numbers(), 256, nullptr, fill_decays<decay_as::factor, float>{in});
    for_each(2 * e.numbers(), 256, nullptr, fill_signed<float>{in + numbers_, 2});
    memory_ = device_array<std::byte>(cuda::adjoint_workspace_bytes(operation()));
    cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  // Decay, drive and gradient of the output are read, two gradients written.
  static constexpr int moved_numbers = 5;
  // The walk reads decays twice, and writes and reads the states.
  static constexpr int moved_by_walk = 8;
  double bytes(int numbers) const { return 4.0 * numbers * static_cast<double>(numbers_); }
  void const* inputs() const { return inputs_.data(); }
  void* outputs() const { return outputs_.data(); }

  void by_wane(cudaStream_t on) const {
    cuda::adjoint(
        cuda::stream{on}, operation(), whole(arrays_.output_gradient, e_),
        {.decay = whole(arrays_.decay_gradient, e_), .drive = whole(arrays_.drive_gradient, e_)},
        cuda::workspace{memory_.data(), memory_.bytes()});
  }
  void by_walk(cudaStream_t on) const {
    for_each_line(e_.lines(), on,
                  walk_back_in_float{arrays_, arrangement::by_token(e_),
                                     reinterpret_cast<float*>(states_.data())});
  }
  double error() const {
    deviation const decay, drive;
    for_each_line(e_.lines(), nullptr,
                  compare_back_in_double{arrays_, arrangement::by_token(e_), states_.data(),
                                         decay.to(), drive.to()});
    return std::max(decay.relative(), drive.relative());
  }

 private:
  op operation() const {
    return op({.decay = whole(arrays_.decay, e_), .drive = whole(arrays_.drive, e_)});
  }

  extents e_;
  std::size_t numbers_;
  device_array<float> inputs_, outputs_;
  device_array<double> states_;
  device_array<std::byte> memory_;
  adjoint_arrays arrays_{};
};

}  // namespace

std::vector<row> linear_adjoint_rows() {
  std::vector<row> rows;
  for (extents const& e : {one_channel, one_head, one_sequence, batch})
    rows.push_back({"linear_recurrence/adjoint/" + e.text() + "/factor",
                    [e](int rounds) { return held_against_walk<problem>(e, rounds); }});
  return rows;
}

}  // namespace wane::bench
