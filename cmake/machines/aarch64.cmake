# 64-bit ARM with NEON, and with SVE where a build has the flags for it.
# SPDX-License-Identifier: MIT
set(CMAKE_SYSTEM_PROCESSOR aarch64)
# pauth-impdef is QEMU's own checksum of signed pointers, which takes less time than the real one.
set(CMAKE_CROSSCOMPILING_EMULATOR
  qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu max,pauth-impdef=on)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
