# The installed package: headers, targets, and the config file that find_package(wane) reads.
# SPDX-License-Identifier: MIT
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

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
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
