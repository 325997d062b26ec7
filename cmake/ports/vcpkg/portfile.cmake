# vcpkg's overlay port of the tree that this file lies in:
#   vcpkg install wane --overlay-ports=wane/cmake/ports/vcpkg
# SPDX-License-Identifier: MIT
# The tests run this file with stand-ins for vcpkg's functions; vcpkg's own functions were tried by
# hand (2026-08). Its program, and its Boost and Eigen, could not be tested. vcpkg does not see that
# the tree has changed where this folder has not: add --no-binarycaching then.
cmake_path(SET SOURCE_PATH NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../..")
set(VCPKG_BUILD_TYPE release) # headers only

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DWANE_TESTS=OFF -DWANE_BENCH=OFF -DWANE_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/wane)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
