# nvcc compiles the headers that device code may include, for every architecture in one run: the
# C++ ones of core and operators together, and each .cuh alone, those of NCCL where nccl.h is found.
# Target wane-cuda is all there is to build with nvcc, programs and examples included.
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

# NCCL comes with the toolkit or with the system.
find_path(WANE_NCCL_INCLUDE nccl.h HINTS ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
if(WANE_NCCL_INCLUDE)
  list(APPEND cuda_headers ${nccl_headers})
  list(APPEND sources ${PROJECT_SOURCE_DIR}/tests/nccl/nccl_compiles.cu)
else()
  message(STATUS "nccl.h is not found: wane/nccl.cuh is not compiled against it")
  add_test(NAME cuda.nccl COMMAND ${CMAKE_COMMAND} -E echo "skipped: nccl.h is not found")
  set_tests_properties(cuda.nccl PROPERTIES LABELS gpu SKIP_REGULAR_EXPRESSION "skipped")
endif()

foreach(header IN LISTS cuda_headers)
  cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/include)
  string(REGEX REPLACE "[/.]" "_" name ${header})
  file(CONFIGURE OUTPUT ${folder}/${name}.cu CONTENT "#include <${header}>\n" @ONLY)
  list(APPEND sources ${folder}/${name}.cu)
endforeach()

add_library(wane-cuda-headers OBJECT ${sources})
target_link_libraries(wane-cuda-headers PRIVATE wane::wane)
if(WANE_NCCL_INCLUDE)
  target_include_directories(wane-cuda-headers SYSTEM PRIVATE ${WANE_NCCL_INCLUDE})
endif()
add_custom_target(wane-cuda DEPENDS wane-cuda-headers)
get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER targets INCLUDE REGEX "^wane-tests-.*-cuda$")
get_property(programs GLOBAL PROPERTY wane_cuda_programs)
if(targets OR programs)
  add_dependencies(wane-cuda ${targets} ${programs})
endif()

# Without a device the program ends with 2, and ctest says that it was skipped.
if(TARGET wane-selftest)
  add_test(NAME cuda.selftest COMMAND wane-selftest)
  set_tests_properties(cuda.selftest PROPERTIES LABELS gpu SKIP_RETURN_CODE 2 TIMEOUT 300)
endif()

# Registers and spills of the scan in every configuration that the tests list.
if(TARGET wane-tests-cuda-cuda)
  target_compile_options(wane-tests-cuda-cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v>)
  set_target_properties(wane-tests-cuda-cuda PROPERTIES
    RULE_LAUNCH_COMPILE "sh ${PROJECT_SOURCE_DIR}/cmake/keep_report.sh <OBJECT>")
  add_test(NAME cuda.resources
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_BINARY_DIR}/tests/CMakeFiles/wane-tests-cuda-cuda.dir
      -P ${PROJECT_SOURCE_DIR}/cmake/cuda_resources.cmake)
  set_tests_properties(cuda.resources PROPERTIES LABELS gpu)
endif()
