# A program elsewhere uses wane, WAY is how, with nothing that only wane's own tests and programs
# need; two translation units share the headers. A way whose tool is missing is skipped.
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
set(folder ${BUILD}/consumer/${WAY})
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output)
  message("${output}")
  if(result)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed: ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(run_consumer program)
  run(${program})
  if(NOT output MATCHES "wane ${VERSION}\n")
    message(FATAL_ERROR "the program said ${output} instead of wane ${VERSION}")
  endif()
endfunction()

# Builds the project of a folder beside this file, with options of CMake, and runs its program.
function(build_consumer project)
  set(options ${ARGN})
  foreach(package GTest benchmark nlohmann_json CLI11)
    list(APPEND options -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
  endforeach()
  run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${project}
    -B ${folder}/build -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}"
    -DCMAKE_BUILD_TYPE=Release -DWANE_VERSION=${VERSION} ${options})
  run(${CMAKE_COMMAND} --build ${folder}/build)
  run_consumer(${folder}/build/consumer)
endfunction()

# All headers of wane, and no other file, must lie below an include folder.
function(check_headers include)
  file(GLOB_RECURSE expected RELATIVE ${SOURCE}/include ${SOURCE}/include/*)
  file(GLOB_RECURSE found RELATIVE ${include} ${include}/*)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${include} has other files than ${SOURCE}/include")
  endif()
endfunction()

set(needs_pkg_config pkg-config)
set(needs_deb cpack dpkg-deb)
set(needs_conan conan)
foreach(program IN LISTS needs_${WAY})
  find_program(path_of_${program} ${program})
  if(NOT path_of_${program})
    message("skipped: ${program} is not installed")
    return()
  endif()
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/${WAY}/use.cmake)
