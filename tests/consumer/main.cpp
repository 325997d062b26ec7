// A program of two translation units that both include all of wane.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <wane/wane.hpp>

int minor_version_seen_elsewhere();

int main() {
  std::printf("wane %d.%d.%d\n", wane::version_major, minor_version_seen_elsewhere(),
              wane::version_patch);
}
