// The umbrella of wane on a GPU: everything, and what needs nvcc.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/adjoint.cuh"
#include "wane/wane.hpp"
