// linear_recurrence without wane: a walk of one thread a channel, in float and double, and CUB.
// SPDX-License-Identifier: MIT
#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/zip_function.h>

#include <cub/device/device_scan.cuh>

#include "cuda/arrangement.cuh"
#include "cuda/deviation.cuh"
#include "wane/operators/linear_recurrence.hpp"

namespace wane::bench {

template <class Io>
struct linear_arrays {
  Io const *decay, *drive;
  float const* initial;  // or none
  Io* output;
  float* final;  // or none
};

template <decay_as Form, class Real, class Io>
__device__ Real factor_of(Io stored) {
  auto const decay = static_cast<Real>(stored);
  return Form == decay_as::log ? std::exp(decay) : decay;
}

// Calls take(place, h) along line k, and returns the last h. The loads of eight tokens are on their
// way together: nothing else hides the time that memory takes.
template <decay_as Form, class Real, class Io, class Take>
__device__ Real walk_line(linear_arrays<Io> const& p, arrangement const& at, index k,
                          Take const& take) {
  constexpr int ahead = 8;
  Real h = p.initial ? static_cast<Real>(p.initial[k]) : Real(0);
  index place = at.first(k);
  for (index t = 0; t < at.time; t += ahead, place += ahead * at.width) {
    Io decay[ahead], drive[ahead];
    int const count = at.time - t < ahead ? static_cast<int>(at.time - t) : ahead;
#pragma unroll
    for (int i = 0; i < ahead; ++i)
      if (i < count) {
        decay[i] = p.decay[place + i * at.width];
        drive[i] = p.drive[place + i * at.width];
      }
#pragma unroll
    for (int i = 0; i < ahead; ++i)
      if (i < count) {
        h = std::fma(factor_of<Form, Real>(decay[i]), h, static_cast<Real>(drive[i]));
        take(place + i * at.width, h);
      }
  }
  return h;
}

template <decay_as Form, class Io>
struct walk_in_float {
  linear_arrays<Io> p;
  arrangement at;

  __device__ void operator()(index k) const {
    float const last = walk_line<Form, float>(
        p, at, k, [this](index place, float h) { p.output[place] = static_cast<Io>(h); });
    if (p.final) p.final[k] = last;
  }
};

// The oracle: compares the outputs, and final states where there are any, with a walk in double.
template <decay_as Form, class Io>
struct compare_in_double {
  linear_arrays<Io> p;
  arrangement at;
  deviation::sink found;

  __device__ void operator()(index k) const {
    largest seen;
    double const last = walk_line<Form, double>(p, at, k, [&](index place, double h) {
      seen.add(static_cast<double>(static_cast<float>(p.output[place])), h);
    });
    if (p.final) seen.add(static_cast<double>(p.final[k]), last);
    found.merge(seen);
  }
};

// h -> decay h + drive.
struct affine {
  float decay, drive;
};
struct compose {
  __host__ __device__ affine operator()(affine const& first, affine const& second) const {
    return {first.decay * second.decay, std::fma(second.decay, first.drive, second.drive)};
  }
};

// A line begins with a reset. `in_line` is its length - 1, a power of two less one.
template <decay_as Form, class Io>
struct make_affine {
  unsigned in_line;

  __device__ affine operator()(Io decay, Io drive, int i) const {
    bool const begins = (static_cast<unsigned>(i) & in_line) == 0;
    return {begins ? 0.0f : factor_of<Form, float>(decay), static_cast<float>(drive)};
  }
};
template <class Io>
struct keep_drive {
  Io* output;

  template <class Index>
  __device__ void operator()(Index i, affine const& x) const {
    output[i] = static_cast<Io>(x.drive);
  }
};

// CUB scans one line after the other. It therefore gets the layout that suits it best: the same
// arrays read as [channels, time] in one scan, where each channel begins with a reset that costs no
// memory. It reads each input once and writes only the drive, as many bytes as wane. (In wane's own
// layout seven of eight numbers in each load would be wasted, or CUB would need two
// transpositions.)
template <decay_as Form, class Io>
void scan_by_cub(linear_arrays<Io> const& p, extents const& e, void* temporary, std::size_t& bytes,
                 cudaStream_t on) {
  auto const from = thrust::make_transform_iterator(
      thrust::make_zip_iterator(p.decay, p.drive, thrust::counting_iterator<int>(0)),
      thrust::make_zip_function(make_affine<Form, Io>{static_cast<unsigned>(e.time - 1)}));
  auto const to = thrust::make_tabulate_output_iterator(keep_drive<Io>{p.output});
  cuda::throw_on_error(cub::DeviceScan::InclusiveScan(temporary, bytes, from, to, compose{},
                                                      static_cast<int>(e.numbers()), on),
                       "cub::DeviceScan::InclusiveScan");
}

}  // namespace wane::bench
