// The version of wane, as macros and as constants. CMake reads it from this file.
// SPDX-License-Identifier: MIT
#pragma once

#define WANE_VERSION_MAJOR 0
#define WANE_VERSION_MINOR 2
#define WANE_VERSION_PATCH 0

//   #if WANE_VERSION >= 200  // 0.2.0 and later
// An integer that grows with every release, for code that supports several releases.
#define WANE_VERSION (WANE_VERSION_MAJOR * 10000 + WANE_VERSION_MINOR * 100 + WANE_VERSION_PATCH)

namespace wane {

inline constexpr int version_major = WANE_VERSION_MAJOR;
inline constexpr int version_minor = WANE_VERSION_MINOR;
inline constexpr int version_patch = WANE_VERSION_PATCH;

}  // namespace wane
