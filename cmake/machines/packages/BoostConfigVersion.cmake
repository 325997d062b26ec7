# The version of Boost's headers.
# SPDX-License-Identifier: MIT
file(STRINGS /usr/include/boost/version.hpp line REGEX "define BOOST_LIB_VERSION ")
string(REGEX REPLACE "[^0-9]+" "." PACKAGE_VERSION "${line}")
string(REGEX REPLACE "^[.]|[.]$" "" PACKAGE_VERSION "${PACKAGE_VERSION}")
if(NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
