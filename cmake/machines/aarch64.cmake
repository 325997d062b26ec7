# 64-bit ARM with NEON, and with SVE where a build has the flags for it.
# SPDX-License-Identifier: MIT
set(CMAKE_SYSTEM_PROCESSOR aarch64)
# Signed pointers are of no interest here, and cost half the time where their checksum is the real one.
set(CMAKE_CROSSCOMPILING_EMULATOR
  qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu max,pauth-impdef=on)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
