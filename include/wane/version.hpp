// The one place of wane's version; CMake and the install read it from here.
// SPDX-License-Identifier: MIT
#pragma once

namespace wane {

inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;

}  // namespace wane
