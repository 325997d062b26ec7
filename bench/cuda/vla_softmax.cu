// The rows of VLA, in bfloat16, beside softmax attention of the same queries, keys and values.
// SPDX-License-Identifier: MIT
#include "cuda/causal_attention.hpp"
#include "cuda/vla.cuh"
#include "wane/cuda/machine/device.cuh"
#include "wane/cuda/machine/stream.cuh"

namespace wane::bench {
namespace {

constexpr int width = 64, threads = 128, samples = 64;
using attention = causal_attention<cuda::impl::device_thread<threads>, width>;

__global__ void __launch_bounds__(threads) attend(attention_arguments a) {
  cuda::impl::device_thread<threads> machine;
  attention{machine, a}(blockIdx.x);
}

// A query of every `samples` of a head, and all keys before it.
struct attention_comparison {
  attention_arguments a;
  deviation::sink found;

  __device__ void operator()(index n) const {
    index const line = n / samples, last = (n % samples + 1) * (a.time / samples) - 1;
    index const start = (line / a.heads * a.time * a.heads + line % a.heads) * width;
    index const step = a.heads * width;
    double most = -HUGE_VAL, total = 0, y[width] = {};
    for (int pass = 0; pass < 2; ++pass)
      for (index t = 0; t <= last; ++t) {
        double score = 0;
        for (int i = 0; i < width; ++i)
          score += read(a.query, start + last * step + i) * read(a.key, start + t * step + i);
        score /= std::sqrt(static_cast<double>(width));
        if (pass == 0) {
          most = std::fmax(most, score);
          continue;
        }
        double const weight = std::exp(score - most);
        total += weight;
        for (int j = 0; j < width; ++j) y[j] += weight * read(a.value, start + t * step + j);
      }
    largest seen;
    for (int j = 0; j < width; ++j) seen.add(read(a.output, start + last * step + j), y[j] / total);
    found.merge(seen);
  }

 private:
  __device__ static double read(bfloat16 const* x, index at) { return static_cast<float>(x[at]); }
};

measurement measured(extents const& e, int rounds) {
  auto const p = std::make_shared<vla_problem<bfloat16, width>>(e);
  attention_arguments const a{e.heads,     e.time,      p->input(0),
                              p->input(1), p->input(2), p->output().data};
  constexpr auto shared = static_cast<int>(attention::shared_bytes);
  cuda::throw_on_error(
      cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
      "cudaFuncSetAttribute");
  contest c;
  c.ours = {[p](cudaStream_t on) { p->by_wane(on); }, [p] { return p->error(); }, p->bytes()};
  c.softmax = {
      [=](cudaStream_t on) {
        auto const blocks = static_cast<unsigned>(attention::blocks(e.batch, a));
        attend<<<blocks, threads, shared, on>>>(a);
        cuda::throw_on_error(cudaGetLastError(), "the launch of a kernel of the benchmark");
      },
      [=] {
        deviation const found;
        for_each_line(e.batch * e.heads * samples, nullptr, attention_comparison{a, found.to()});
        return found.relative();
      },
      p->bytes()};
  c.inputs = p->input(0), c.outputs = a.output;
  c.rounding = 0x1p-6;  // factors of products have 8 bits, as outputs have
  return held(c, rounds);
}

}  // namespace

std::vector<row> vla_softmax_rows() {
  std::vector<row> all;
  for (index time = 1024; time <= index{1} << 16; time *= 2) {
    extents const e{1, 16, time, width};
    all.push_back({"vla/beside_softmax/" + e.text() + "/K:" + std::to_string(width),
                   [e](int rounds) { return measured(e, rounds); }, time});
  }
  return all;
}

}  // namespace wane::bench
