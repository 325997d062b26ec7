// replay: work captured in a graph and timed by the clock of the GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "wane/cuda/machine/stream.cuh"

namespace wane::bench {

class stream_owner {
 public:
  stream_owner() {
    cudaStream_t made = nullptr;
    cuda::throw_on_error(cudaStreamCreate(&made), "cudaStreamCreate");
    stream_.reset(made);
  }
  cudaStream_t handle() const { return stream_.get(); }
  void synchronize() const {
    cuda::throw_on_error(cudaStreamSynchronize(handle()), "cudaStreamSynchronize");
  }

 private:
  struct release {
    void operator()(cudaStream_t stream) const { (void)cudaStreamDestroy(stream); }
  };
  std::unique_ptr<CUstream_st, release> stream_;
};

class event_owner {
 public:
  event_owner() {
    cudaEvent_t made = nullptr;
    cuda::throw_on_error(cudaEventCreate(&made), "cudaEventCreate");
    event_.reset(made);
  }
  void record(cudaStream_t on) const {
    cuda::throw_on_error(cudaEventRecord(event_.get(), on), "cudaEventRecord");
  }
  // Waits for this event, which comes after `earlier`.
  double seconds_since(event_owner const& earlier) const {
    float milliseconds = 0;
    cuda::throw_on_error(cudaEventSynchronize(event_.get()), "cudaEventSynchronize");
    cuda::throw_on_error(cudaEventElapsedTime(&milliseconds, earlier.event_.get(), event_.get()),
                         "cudaEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  struct release {
    void operator()(cudaEvent_t event) const { (void)cudaEventDestroy(event); }
  };
  std::unique_ptr<CUevent_st, release> event_;
};

// Work captured in a graph runs without the host's cost of its launches. Short work is repeated in
// the graph until it takes about a millisecond, so that the clock resolves it; its data then stay
// in the cache.
class replay {
 public:
  replay(stream_owner const& on, std::function<void(cudaStream_t)> const& run)
      : stream_(on.handle()) {
    capture(run);
    (void)seconds();  // the first launch loads the graph
    warm_seconds_ = seconds();
    repetitions_ = std::clamp(static_cast<int>(1e-3 / std::max(warm_seconds_, 1e-7)), 1, 200);
    if (repetitions_ == 1) return;
    capture(run);
    (void)seconds();
    warm_seconds_ = seconds();
  }

  // Seconds of one repetition.
  double seconds() const {
    begin_.record(stream_);
    cuda::throw_on_error(cudaGraphLaunch(graph_.get(), stream_), "cudaGraphLaunch");
    end_.record(stream_);
    return end_.seconds_since(begin_) / repetitions_;
  }
  double warm_seconds() const { return warm_seconds_; }

 private:
  struct release {
    void operator()(cudaGraph_t graph) const { (void)cudaGraphDestroy(graph); }
    void operator()(cudaGraphExec_t graph) const { (void)cudaGraphExecDestroy(graph); }
  };

  void capture(std::function<void(cudaStream_t)> const& run) {
    cuda::throw_on_error(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
                         "cudaStreamBeginCapture");
    for (int i = 0; i < repetitions_; ++i) run(stream_);
    cudaGraph_t recorded = nullptr;
    cuda::throw_on_error(cudaStreamEndCapture(stream_, &recorded), "cudaStreamEndCapture");
    std::unique_ptr<CUgraph_st, release> const owner(recorded);
    cudaGraphExec_t made = nullptr;
    cuda::throw_on_error(cudaGraphInstantiate(&made, recorded, 0), "cudaGraphInstantiate");
    graph_.reset(made);
  }

  cudaStream_t stream_;
  event_owner begin_, end_;
  std::unique_ptr<CUgraphExec_st, release> graph_;
  int repetitions_ = 1;
  double warm_seconds_ = 0;
};

}  // namespace wane::bench
