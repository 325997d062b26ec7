# The installed package: headers, targets, the config file that find_package(wane) reads, and that
# of pkg-config. Components are wane-dev, this, and wane-tools, the programs of bench/.
# SPDX-License-Identifier: MIT
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME wane-dev)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/wane)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/wane-config.cmake.in ${PROJECT_BINARY_DIR}/wane-config.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break users' code.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wane-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(TARGETS wane EXPORT wane
  FILE_SET HEADERS FILE_SET cuda_headers FILE_SET mpi_headers FILE_SET nccl_headers)
install(EXPORT wane NAMESPACE wane:: FILE wane-targets.cmake DESTINATION ${package_dir})
install(
  FILES ${PROJECT_BINARY_DIR}/wane-config.cmake ${PROJECT_BINARY_DIR}/wane-config-version.cmake
  DESTINATION ${package_dir})

# pkg-config finds the headers from where wane.pc lies, so that an installed tree may be moved.
set(pc_dir ${CMAKE_INSTALL_FULL_DATADIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${pc_dir} OUTPUT_VARIABLE pc_prefix)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
  OUTPUT_VARIABLE pc_include)
configure_file(${PROJECT_SOURCE_DIR}/cmake/wane.pc.in ${PROJECT_BINARY_DIR}/wane.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/wane.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(PROJECT_IS_TOP_LEVEL)
  include(cmake/debian.cmake)
endif()
