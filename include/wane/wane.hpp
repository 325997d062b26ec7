// The operators and runners for the CPU; spectra, wane/testing and wane/eigen.hpp come by name.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/effect.hpp"
#include "wane/core/error.hpp"
#include "wane/core/packed.hpp"
#include "wane/core/recurrence.hpp"
#include "wane/core/state.hpp"
#include "wane/core/storage.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/check_values.hpp"
#include "wane/run/effects.hpp"
#include "wane/run/run.hpp"
#include "wane/version.hpp"
