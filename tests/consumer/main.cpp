// A program of two translation units that both include all of wane.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <wane/wane.hpp>

int minor_version_seen_elsewhere();

int main() {
  static_assert(WANE_VERSION ==
                10000 * wane::version_major + 100 * wane::version_minor + wane::version_patch);
  std::printf("wane %d.%d.%d\n", wane::version_major, minor_version_seen_elsewhere(),
              wane::version_patch);
}
