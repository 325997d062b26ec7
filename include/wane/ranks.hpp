// Umbrella of sequences over many ranks: sharded_run and sharded_adjoint; mpi.hpp has MPI's ranks.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/ranks/adjoint.hpp"
#include "wane/ranks/exclusive_scan.hpp"
#include "wane/ranks/halo.hpp"
#include "wane/ranks/run.hpp"
#include "wane/ranks/sum.hpp"
