// The umbrella of wane on a GPU: wane.hpp, and what needs nvcc.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/adjoint.cuh"
#include "wane/cuda/run.cuh"
#include "wane/wane.hpp"
