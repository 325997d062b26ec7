# Fails when a C++ or CUDA file is not as clang-format 14 would write it; other versions differ, so
# without that one it says so and checks nothing.
# cmake -DROOT=<repository> -P check_format.cmake
# SPDX-License-Identifier: MIT
set(pinned 14)
find_program(clang_format NAMES clang-format-${pinned} clang-format)
if(NOT clang_format)
  message("format: not checked, clang-format ${pinned} is not installed")
  return()
endif()
execute_process(COMMAND ${clang_format} --version OUTPUT_VARIABLE version)
if(NOT version MATCHES "version ${pinned}[.]")
  string(STRIP "${version}" version)
  message("format: not checked, it is pinned to ${pinned} and this is ${version}")
  return()
endif()
set(all "")
foreach(folder include tests bench examples)
  foreach(extension hpp cuh cpp cu)
    file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${folder}/*.${extension})
    list(APPEND all ${files})
  endforeach()
endforeach()
# One process for all: a start takes longer than a file.
execute_process(COMMAND ${clang_format} --dry-run -Werror ${all}
  WORKING_DIRECTORY ${ROOT} RESULT_VARIABLE result ERROR_VARIABLE messages)
if(result)
  string(REGEX MATCHALL "(^|\n)[^\n:]+:[0-9]+:[0-9]+: error" wrong "${messages}")
  list(TRANSFORM wrong REPLACE "\n|:.*" "")
  list(REMOVE_DUPLICATES wrong)
  list(LENGTH wrong count)
  list(JOIN wrong "\n  " wrong)
  message(FATAL_ERROR "format: run ${clang_format} -i on these ${count} files\n  ${wrong}")
endif()
