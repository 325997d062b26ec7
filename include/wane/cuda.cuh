// The umbrella of wane on a GPU: everything, and what needs nvcc.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/run.cuh"
#include "wane/wane.hpp"
