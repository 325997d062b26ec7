# What the toolchain files of this folder share: Debian's cross compiler and QEMU for one processor.
# SPDX-License-Identifier: MIT
#
# No include folder holds headers of this machine: packages/ gives Boost and Eigen alone, which are
# headers for all machines, and compiles GoogleTest from its sources.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_CXX_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH /usr/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
foreach(package IN ITEMS Boost Eigen3 GTest)
  set(${package}_DIR ${CMAKE_CURRENT_LIST_DIR}/packages)
endforeach()
