// The contest of linear_recurrence, forward, on one shape.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <memory>

#include "cuda/contest.cuh"
#include "cuda/linear_loops.cuh"
#include "wane/core/numbers/storage.hpp"
#include "wane/cuda/run.cuh"

namespace wane::bench {

// Decays whose memories are of 1 to 10^4 tokens.
template <decay_as Form, class Io>
struct fill_decays {
  Io* to;

  __device__ void operator()(index i) const {
    double const log = -std::pow(10.0, -4 * uniform(i, 1));
    to[i] = static_cast<Io>(static_cast<float>(Form == decay_as::log ? log : std::exp(log)));
  }
};

// A step has a state before and after it.
template <decay_as Form, class Io>
class linear_problem {
 public:
  using op = linear_recurrence<Form, Io>;

  explicit linear_problem(extents const& e)
      : e_(e),
        numbers_(static_cast<std::size_t>(e.numbers())),
        states_(e.time == 1 ? static_cast<std::size_t>(e.lines()) : 0),
        inputs_(2 * numbers_ * sizeof(Io) + states_ * sizeof(float)),
        outputs_(std::max(numbers_ * sizeof(Io) + states_ * sizeof(float), moved() / 2)) {
    Io* const decay = reinterpret_cast<Io*>(inputs_.data());
    arrays_ = {decay, decay + numbers_, nullptr, reinterpret_cast<Io*>(outputs_.data()), nullptr};
    for_each(e.numbers(), 256, nullptr, fill_decays<Form, Io>{decay});
    for_each(e.numbers(), 256, nullptr, fill_signed<Io>{decay + numbers_, 2});
    if (states_) {
      auto* const initial = reinterpret_cast<float*>(decay + 2 * numbers_);
      for_each(e.lines(), 256, nullptr, fill_signed<float>{initial, 3});
      arrays_.initial = initial;
      arrays_.final = reinterpret_cast<float*>(arrays_.output + numbers_);
    }
    memory_ = device_array<std::byte>(cuda::workspace_bytes(operation(), options()));
    if (has_scan()) {
      std::size_t bytes = 0;
      scan_by_cub<Form>(arrays_, e_, nullptr, bytes, nullptr);
      cub_memory_ = device_array<std::byte>(bytes);
    }
    cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  // What must be read and written at least.
  std::size_t moved() const { return 3 * numbers_ * sizeof(Io) + 2 * states_ * sizeof(float); }
  bool has_scan() const { return states_ == 0; }
  void const* inputs() const { return inputs_.data(); }
  void* outputs() const { return outputs_.data(); }

  void by_wane(cudaStream_t on) const {
    cuda::run(cuda::stream{on}, operation(), whole(arrays_.output, e_),
              cuda::workspace{memory_.data(), memory_.bytes()}, options());
  }
  void by_cub(cudaStream_t on) const {
    std::size_t bytes = cub_memory_.bytes();
    scan_by_cub<Form>(arrays_, e_, cub_memory_.data(), bytes, on);
  }
  void by_walk(cudaStream_t on) const {
    for_each_line(e_.lines(), on, walk_in_float<Form, Io>{arrays_, arrangement::by_token(e_)});
  }
  double error(arrangement const& at) const {
    deviation const found;
    for_each_line(e_.lines(), nullptr, compare_in_double<Form, Io>{arrays_, at, found.to()});
    return found.relative();
  }

 private:
  op operation() const {
    return op({.decay = whole(arrays_.decay, e_), .drive = whole(arrays_.drive, e_)});
  }
  run_options<float> options() const {
    run_options<float> o;
    if (states_) {
      o.initial.values = {arrays_.initial, e_.batch, e_.heads, 1, e_.channels};
      o.final.values = {arrays_.final, e_.batch, e_.heads, 1, e_.channels};
    }
    return o;
  }

  extents e_;
  std::size_t numbers_, states_;
  device_array<std::byte> inputs_, outputs_, memory_, cub_memory_;
  linear_arrays<Io> arrays_{};
};

template <decay_as Form, class Io>
measurement measure_linear(extents const& e, int rounds) {
  auto const p = std::make_shared<linear_problem<Form, Io>>(e);
  auto const bytes = static_cast<double>(p->moved());
  auto const by_token = [p, e] { return p->error(arrangement::by_token(e)); };
  auto const by_channel = [p, e] { return p->error(arrangement::by_channel(e)); };
  contest c;
  c.ours = {[p](cudaStream_t on) { p->by_wane(on); }, by_token, bytes};
  c.walk = {[p](cudaStream_t on) { p->by_walk(on); }, by_token, bytes};
  if (p->has_scan()) c.cub = {[p](cudaStream_t on) { p->by_cub(on); }, by_channel, bytes};
  c.inputs = p->inputs(), c.outputs = p->outputs();
  if (std::is_same_v<Io, bfloat16>) c.rounding = 0x1p-8;
  return held(c, rounds);
}

template <decay_as Form, class Io>
row linear_row(extents const& e, std::string const& suffix) {
  return {"linear_recurrence/forward/" + e.text() + suffix,
          [e](int rounds) { return measure_linear<Form, Io>(e, rounds); }};
}

}  // namespace wane::bench
