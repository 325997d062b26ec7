# nvcc compiles the headers that device code may include, for every architecture in one run: the
# C++ ones of core and operators together, and each .cuh alone. Target wane-cuda is all there is to
# build with nvcc.
# SPDX-License-Identifier: MIT
set(folder ${PROJECT_BINARY_DIR}/cuda_headers)
set(text "// Generated: every header of core and operators.\n")
foreach(header IN LISTS headers)
  cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/include)
  if(header MATCHES "^wane/(core|operators)/")
    string(APPEND text "#include <${header}>\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT ${folder}/core_and_operators.cu CONTENT "${text}" @ONLY)
set(sources ${folder}/core_and_operators.cu)

foreach(header IN LISTS cuda_headers)
  cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/include)
  string(REGEX REPLACE "[/.]" "_" name ${header})
  file(CONFIGURE OUTPUT ${folder}/${name}.cu CONTENT "#include <${header}>\n" @ONLY)
  list(APPEND sources ${folder}/${name}.cu)
endforeach()

add_library(wane-cuda-headers OBJECT ${sources})
target_link_libraries(wane-cuda-headers PRIVATE wane::wane)
add_custom_target(wane-cuda DEPENDS wane-cuda-headers)
get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER targets INCLUDE REGEX "^wane-tests-.*-cuda$")
if(targets)
  add_dependencies(wane-cuda ${targets})
endif()
