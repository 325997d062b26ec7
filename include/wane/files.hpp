// Umbrella of files of weights: safetensors and write_safetensors; save_state is in wane.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/files/safetensors.hpp"
#include "wane/files/write_safetensors.hpp"
