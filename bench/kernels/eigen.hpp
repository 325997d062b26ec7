// Eigen, for the loops that others write.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 warns of its own _mm512_undefined_ps wherever Eigen uses an AVX-512 intrinsic.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <Eigen/Cholesky>
#include <Eigen/Core>
