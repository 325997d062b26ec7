// A contest on the GPU: our kernel, what it is compared with, and the oracle's verdict on each.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "cuda/contest.cuh"
#include "cuda/replay.cuh"

namespace wane::bench {
namespace {

using work = std::function<void(cudaStream_t)>;

// Work that takes longer is measured in three rounds: one thread may walk through millions of
// tokens.
constexpr double slow_seconds = 0.2;
constexpr std::size_t rounds_of_slow_work = 3;

std::size_t bytes_to_copy(contest const& what) {
  return static_cast<std::size_t>(what.ours.bytes / 2);
}

// The error after a run whose outputs start as NaN.
double error_of(entrant const& e, contest const& what, stream_owner const& on) {
  cuda::throw_on_error(cudaMemsetAsync(what.outputs, 0xff, bytes_to_copy(what), on.handle()),
                       "cudaMemset");
  e.run(on.handle());
  on.synchronize();
  return e.error();
}

void refuse(std::string const& who, double error, double bound) {
  char text[96];
  std::snprintf(text, sizeof text, "%s disagrees with the oracle: error %.3g, bound %.3g",
                who.c_str(), error, bound);
  throw disagreement(text);
}

// Rounding of long sums grows with the input, so the bound for ours is four times the least error
// of the rivals, at least 32 and at most 1000 ulp of float, plus the rounding of the output. The
// bound for the rivals is 2^-6 plus this rounding: a walk that multiplies by decays rounded to
// float is off by a percent after a million tokens of `retention`.
void check_errors(contest const& what, stream_owner const& on, measurement& found) {
  constexpr double ulp = std::numeric_limits<float>::epsilon(), of_rivals = 0x1p-6;
  double theirs = std::numeric_limits<double>::infinity();
  for (auto const* rival : {&what.cub, &what.walk}) {
    if (!*rival) continue;
    double const error = error_of(**rival, what, on) - what.rounding;
    if (!(error < of_rivals)) refuse(rival == &what.cub ? "CUB" : "the walk", error, of_rivals);
    theirs = std::min(theirs, error);
  }
  if (what.softmax) {
    double const error = error_of(*what.softmax, what, on);
    if (!(error <= what.rounding)) refuse("softmax", error, what.rounding);
  }
  found.max_rel_error = error_of(what.ours, what, on);
  found.bound =
      what.rounding + std::clamp(std::isfinite(theirs) ? 4 * theirs : 0, 32 * ulp, 1000 * ulp);
  if (!(found.max_rel_error <= found.bound)) refuse("wane", found.max_rel_error, found.bound);
}

__global__ void copy_kernel(uint4* to, uint4 const* from, index count) {
  index const step = index{gridDim.x} * blockDim.x;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = from[i];
}

// The runtime's copy and a plain kernel. Our kernel is compared with the faster.
std::vector<work> copies(contest const& what) {
  std::size_t const bytes = bytes_to_copy(what);
  auto* const to = static_cast<uint4*>(what.outputs);
  auto const* const from = static_cast<uint4 const*>(what.inputs);
  auto const count = static_cast<index>(bytes / sizeof(uint4));
  auto const blocks = static_cast<unsigned>(std::clamp<index>(count / 256, 1, 65536));
  return {[=](cudaStream_t on) {
            cuda::throw_on_error(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, on),
                                 "cudaMemcpyAsync");
          },
          [=](cudaStream_t on) {
            copy_kernel<<<blocks, 256, 0, on>>>(to, from, count);
            cuda::throw_on_error(cudaGetLastError(), "the launch of the copy");
          }};
}

struct timed {
  replay what;
  std::vector<double> seconds = {};
};

double median(std::vector<double> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The median of a over b, over the rounds of both.
double ratio(timed const& a, timed const& b) {
  std::vector<double> ratios(std::min(a.seconds.size(), b.seconds.size()));
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = a.seconds[i] / b.seconds[i];
  return median(ratios);
}

// Runs all in every round. The one that runs first changes from round to round.
void hold(std::vector<timed>& all, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      timed& one = all[(i + static_cast<std::size_t>(round)) % all.size()];
      bool const slow = one.what.warm_seconds() > slow_seconds;
      if (!slow || one.seconds.size() < rounds_of_slow_work)
        one.seconds.push_back(one.what.seconds());
    }
}

}  // namespace

measurement held(contest const& what, int rounds) {
  stream_owner const on;
  measurement found;
  found.bytes = what.ours.bytes;
  check_errors(what, on, found);
  std::vector<timed> all;
  auto const enter = [&](work const& run) {
    all.push_back({replay(on, run)});
    return all.size() - 1;
  };
  enter(what.ours.run);
  std::vector<std::size_t> copiers;
  for (auto const& copy : copies(what)) copiers.push_back(enter(copy));
  std::size_t const cub = what.cub ? enter(what.cub->run) : 0;
  std::size_t const walk = what.walk ? enter(what.walk->run) : 0;
  std::size_t const softmax = what.softmax ? enter(what.softmax->run) : 0;
  std::size_t const gemm = what.gemm ? enter(what.gemm) : 0;
  hold(all, rounds);

  timed const& ours = all.front();
  found.seconds = median(ours.seconds);
  found.of_copy = std::min(ratio(all[copiers[0]], ours), ratio(all[copiers[1]], ours));
  if (cub) found.cub = {ratio(all[cub], ours), what.cub->bytes};
  if (gemm) found.of_gemm = what.flops_over_gemm * ratio(all[gemm], ours);
  if (walk) found.walk = {ratio(all[walk], ours), what.walk->bytes};
  if (softmax) found.softmax = ratio(all[softmax], ours);
  return found;
}

}  // namespace wane::bench
