// The rows of exponential_bank, with 16 decays.
// SPDX-License-Identifier: MIT
#include <memory>

#include "cuda/bank_loops.cuh"
#include "cuda/contest.cuh"
#include "wane/cuda/run.cuh"

namespace wane::bench {
namespace {

class bank_problem {
 public:
  explicit bank_problem(extents const& e)
      : e_(e),
        nodes_(bank_nodes(e.heads)),
        values_(static_cast<std::size_t>(e.numbers())),
        output_(static_cast<std::size_t>(e.numbers())) {
    float const* const node = nodes_.data();
    index const count = e.heads * bank_rows;
    arrays_ = {node,           node + count, node + 2 * count, values_.data(),
               output_.data(), e.heads,      e.channels};
    for_each(e.numbers(), 256, nullptr, fill_signed<float>{values_.data(), 1});
    memory_ = device_array<std::byte>(cuda::workspace_bytes(operation()));
    std::size_t bytes = 0;
    scan_bank_by_cub(arrays_, e_, nullptr, bytes, nullptr);
    cub_memory_ = device_array<std::byte>(bytes);
    cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  void const* inputs() const { return values_.data(); }
  void* outputs() const { return output_.data(); }
  double bytes(double numbers) const {
    return numbers * sizeof(float) * static_cast<double>(e_.numbers());
  }

  void by_wane(cudaStream_t on) const {
    cuda::run(cuda::stream{on}, operation(), whole(arrays_.output, e_),
              cuda::workspace{memory_.data(), memory_.bytes()});
  }
  void by_cub(cudaStream_t on) const {
    std::size_t bytes = cub_memory_.bytes();
    scan_bank_by_cub(arrays_, e_, cub_memory_.data(), bytes, on);
  }
  void by_walk(cudaStream_t on) const {
    for_each_line(e_.lines(), on, walk_bank_in_float{arrays_, arrangement::by_token(e_)});
  }
  double error(arrangement const& at) const {
    deviation const found;
    for_each_line(e_.lines(), nullptr, compare_bank_in_double{arrays_, at, found.to()});
    return found.relative();
  }

 private:
  exponential_bank<float> operation() const {
    return bank_operation(arrays_, whole(arrays_.values, e_));
  }

  extents e_;
  device_array<float> nodes_, values_, output_;
  device_array<std::byte> memory_, cub_memory_;
  bank_arrays arrays_{};
};

measurement measure_bank(extents const& e, int rounds) {
  auto const p = std::make_shared<bank_problem>(e);
  auto const by_token = [p, e] { return p->error(arrangement::by_token(e)); };
  auto const by_channel = [p, e] { return p->error(arrangement::by_channel(e)); };
  contest c;
  c.ours = {[p](cudaStream_t on) { p->by_wane(on); }, by_token, p->bytes(2)};
  c.walk = {[p](cudaStream_t on) { p->by_walk(on); }, by_token, p->bytes(2)};
  c.cub = {[p](cudaStream_t on) { p->by_cub(on); }, by_channel, p->bytes(numbers_moved_by_cub)};
  c.inputs = p->inputs(), c.outputs = p->outputs();
  return held(c, rounds);
}

}  // namespace

std::vector<row> exponential_bank_rows() {
  extents const e = one_sequence;
  return {{"exponential_bank/forward/" + e.text() + "/S:" + std::to_string(bank_rows),
           [e](int rounds) { return measure_bank(e, rounds); }}};
}

}  // namespace wane::bench
