# A program elsewhere uses wane, by find_package after an install or by add_subdirectory, with
# nothing that only wane's own tests and programs need; two translation units share the headers.
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
set(folder ${BUILD}/consumer/${WAY})
file(REMOVE_RECURSE ${folder})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output)
  message("${output}")
  if(result)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed: ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(options)
foreach(package GTest benchmark nlohmann_json CLI11)
  list(APPEND options -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
if(WAY STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/prefix)
  list(APPEND options -DCMAKE_PREFIX_PATH=${folder}/prefix)
  if(EXISTS ${BUILD}/bench/wane-spectra)
    run(${folder}/prefix/bin/wane-spectra --help)
  endif()
else()
  list(APPEND options -DWANE_SOURCE=${SOURCE})
endif()
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/${WAY} -B ${folder}/build
  -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_BUILD_TYPE=Release
  -DWANE_VERSION=${VERSION} ${options})
run(${CMAKE_COMMAND} --build ${folder}/build)
run(${folder}/build/consumer)
if(NOT output MATCHES "wane ${VERSION}\n")
  message(FATAL_ERROR "the program said ${output} instead of wane ${VERSION}")
endif()
