# Fails when a file does not say that its licence is MIT, says another, or names a holder of a
# copyright; and when code includes a library, or the site installs a package, that docs/licences.md
# does not list.
# cmake -DROOT=<repository> -P check_licences.cmake
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)

# Documents and data, whose forms have no comments or show them; LICENSE speaks for them.
set(silent "[.](md|csv|json|svg|npy|safetensors|pyc)$|/(py[.]typed|usage)$|^tests/fuzz/corpus/")

# What code includes, and what docs/licences.md calls it; the rest is of the compiler, of the system
# and of wane itself.
set(libraries
  "^(unsupported/)?Eigen/|Eigen" "^boost/|Boost" "^gtest/|GoogleTest" "^gmock/|GoogleTest"
  "^benchmark/|Google Benchmark" "^tbb/|oneTBB" "^nlohmann/|nlohmann-json" "^CLI/|CLI11"
  "^omp[.]h$|OpenMP"
  "^mpi[.]h$|MPI" "^nccl[.]h$|NCCL" "^cu(blas|da)[a-z0-9_]*[.]h$|CUDA Toolkit"
  "^(cub|thrust|cuda)/|CCCL" "^torch/|PyTorch" "^nanobind/|nanobind")
string(CONCAT of_the_system "^(wane/|sys/|sanitizer/|([a-z]*intrin|arm_[a-z]+)[.]h$|"
  "(fcntl|malloc|pthread|regex|sched|signal|spawn|time|ucontext|unistd)[.]h$)")

set(faults 0)
macro(complain)
  message("${ARGN}")
  math(EXPR faults "${faults} + 1")
endmacro()

# The names of the first column of the tables of docs/licences.md, and those of its lists.
file(READ ${ROOT}/docs/licences.md list)
function(require_listed name why)
  string(FIND "${list}" "\n| ${name} |" row)
  string(FIND "${list}" "`${name}`" word)
  if(row EQUAL -1 AND word EQUAL -1)
    complain("docs/licences.md: lacks ${name}, which ${why}")
    set(faults ${faults} PARENT_SCOPE)
  endif()
endfunction()

function(check_include file header)
  if(header MATCHES "${of_the_system}" OR NOT header MATCHES "[./]")
    return()
  endif()
  foreach(library IN LISTS libraries)
    string(REGEX MATCH "^(.*)[|]([^|]+)$" _ "${library}")
    set(name ${CMAKE_MATCH_2})
    if(header MATCHES "${CMAKE_MATCH_1}")
      require_listed("${name}" "${file} includes")
      set(faults ${faults} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  complain("${file}: includes <${header}>, a library that check_licences.cmake does not know")
  set(faults ${faults} PARENT_SCOPE)
endfunction()

file(GLOB files RELATIVE ${ROOT} ${ROOT}/CMakeLists.txt ${ROOT}/.clang-*)
foreach(folder .ci bench cmake docs examples include tests)
  file(GLOB_RECURSE more RELATIVE ${ROOT} ${ROOT}/${folder}/*)
  list(APPEND files ${more})
endforeach()
set(count 0)
foreach(file IN LISTS files)
  if(file MATCHES "${silent}")
    continue()
  endif()
  math(EXPR count "${count} + 1")
  file(STRINGS ${ROOT}/${file} lines ENCODING UTF-8
    REGEX "SPDX-License-Identifier: |[Cc]opyright ([(][Cc][)]|[0-9])|^ *# *include *<")
  set(says "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^ *# *include *<([^>]+)>")
      check_include(${file} ${CMAKE_MATCH_1})
    elseif(line MATCHES "^((//|#|/[*]) )?SPDX-License-Identifier: ([^*]*[^* ])")
      list(APPEND says "${CMAKE_MATCH_3}")
    elseif(line MATCHES "[Cc]opyright ([(]|[0-9])")
      complain("${file}: names a holder of a copyright; only LICENSE does")
    endif()
  endforeach()
  if(NOT says STREQUAL "MIT")
    complain("${file}: has no line SPDX-License-Identifier: MIT, or another too: '${says}'")
  endif()
endforeach()

if(EXISTS ${ROOT}/cmake/docs/requirements.txt)
  file(STRINGS ${ROOT}/cmake/docs/requirements.txt lines REGEX "==")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "=.*" "" name "${line}")
    require_listed(${name} "cmake/docs/requirements.txt installs")
  endforeach()
endif()

if(faults OR count EQUAL 0)
  message(FATAL_ERROR "licences: ${faults} faults in ${count} files")
endif()
message("licences: ${count} files say MIT, and docs/licences.md lists what they include")
