# Debian packages by cpack -G DEB: wane-dev, the headers, and wane-tools, the programs of bench/.
# SPDX-License-Identifier: MIT
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL wane-dev)
if(WANE_BENCH)
  list(APPEND CPACK_COMPONENTS_ALL wane-tools)
endif()
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "The wane developers")
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_copyright.cmake)

set(CPACK_DEBIAN_WANE-DEV_PACKAGE_NAME wane-dev)
set(CPACK_DEBIAN_WANE-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_WANE-DEV_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_WANE-DEV_PACKAGE_DEPENDS "libboost-dev (>= 1.74), libeigen3-dev (>= 3.4)")
set(CPACK_COMPONENT_WANE-DEV_DESCRIPTION
  "Headers for C++20 and CUDA, with the files for CMake and pkg-config.")

set(CPACK_DEBIAN_WANE-TOOLS_PACKAGE_NAME wane-tools)
set(CPACK_DEBIAN_WANE-TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_WANE-TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_WANE-TOOLS_DESCRIPTION
  "Programs: wane-spectra, which measures how far back a text depends on its past, and others.")
include(CPack)
