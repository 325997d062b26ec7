// The rows of VLA, in float, beside one kernel that takes a token after the other.
// SPDX-License-Identifier: MIT
#include "cuda/gemm.cuh"
#include "cuda/vla.cuh"

namespace wane::bench {
namespace {

template <int rows>
measurement measured(extents const& e, int rounds) {
  auto const p = std::make_shared<vla_problem<float, rows>>(e);
  auto const product = std::make_shared<gemm>(p->flops());
  auto const error = [p] { return p->error(); };
  contest c;
  c.ours = {[p](cudaStream_t on) { p->by_wane(on); }, error, p->bytes()};
  c.walk = {[p](cudaStream_t on) { p->by_walk(on); }, error, p->bytes()};
  c.gemm = [product](cudaStream_t on) { (*product)(on); };
  c.flops_over_gemm = p->flops() / product->flops();
  c.inputs = p->input(0), c.outputs = p->output().data;
  return held(c, rounds);
}

}  // namespace

std::vector<row> vla_rows() {
  std::vector<row> all;
  for (extents const& e : {batch, extents{1, 16, index{1} << 16, 64},
                           extents{1, 96, index{1} << 13, 128}, extents{64, 32, 1, 128}})
    all.push_back({"vla/forward/" + e.text() + "/K:" + std::to_string(e.channels), [e](int rounds) {
                     return e.channels == 64 ? measured<64>(e, rounds) : measured<128>(e, rounds);
                   }});
  return all;
}

}  // namespace wane::bench
