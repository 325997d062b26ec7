# The version of Eigen's headers.
# SPDX-License-Identifier: MIT
file(STRINGS /usr/include/eigen3/Eigen/src/Core/util/Macros.h lines
  REGEX "define EIGEN_(WORLD|MAJOR|MINOR)_VERSION [0-9]+$")
string(REGEX REPLACE "[^0-9]+" "." PACKAGE_VERSION "${lines}")
string(REGEX REPLACE "^[.]|[.]$" "" PACKAGE_VERSION "${PACKAGE_VERSION}")
set(PACKAGE_VERSION_COMPATIBLE TRUE)
