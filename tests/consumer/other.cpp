// The second translation unit: a function of wane that is not inline makes the link fail.
// SPDX-License-Identifier: MIT
#include <wane/wane.hpp>

int minor_version_seen_elsewhere() { return wane::version_minor; }
