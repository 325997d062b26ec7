# Plants each thing that check_layers.cmake refuses, one at a time, in a tree that is right without
# it, and fails when the check does not name it.
# cmake -DFOLDER=<scratch> -P check_layers_test.cmake
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
set(check ${CMAKE_CURRENT_LIST_DIR}/check_layers.cmake)
set(head "// A header.\n// SPDX-License-Identifier: MIT\n#pragma once\n")

# A tree in which every include is one that the architecture allows.
function(write_tree)
  file(REMOVE_RECURSE ${FOLDER})
  foreach(entry
      "core/config.hpp|#define WANE_ONE 1"
      "core/recurrence/view.hpp|#include <wane/core/config.hpp>;#include \"../config.hpp\";#include <vector>"
      "spectra/kernel.hpp|#include <wane/core/recurrence/view.hpp>;#include <boost/a.hpp>;#include <Eigen/QR>"
      "operators/gla.hpp|#include \"wane/spectra/kernel.hpp\";#include <wane/core/recurrence/view.hpp>"
      "run/in_order/advance.hpp|#include <wane/core/recurrence/view.hpp>;#include <immintrin.h>"
      "run/penalty/health.hpp|#include <wane/run/in_order/advance.hpp>;#include <Eigen/Dense>"
      "run/run.hpp|#include <wane/run/in_order/advance.hpp>"
      "core/state/state.hpp|#include <wane/core/recurrence/view.hpp>"
      "cuda/step.cuh|#include <wane/core/recurrence/view.hpp>;#include <cuda_runtime.h>;#include <cub/cub.cuh>"
      "cuda/nccl/queue.cuh|#include <nccl.h>;#include <wane/core/recurrence/view.hpp>"
      "nccl.cuh|#include <wane/cuda/nccl/queue.cuh>"
      "testing/laws.hpp|#include <wane/run/in_order/advance.hpp>;#include <wane/core/recurrence/view.hpp>"
      "core/numbers/threads.hpp|#include <pthread.h>;#include <omp.h>"
      "files/mapped_file.hpp|#include <sys/mman.h>;#include <wane/core/config.hpp>"
      "eigen.hpp|#include <Eigen/Core>;#include <wane/core/recurrence/view.hpp>"
      "wane.hpp|#include <wane/eigen.hpp>;#include <wane/operators/gla.hpp>")
    string(REGEX MATCH "^([^|]+)[|](.*)$" _ "${entry}")
    string(REPLACE ";" "\n" text "${CMAKE_MATCH_2}")
    file(WRITE ${FOLDER}/include/wane/${CMAKE_MATCH_1} "${head}${text}\n")
  endforeach()
endfunction()

function(run_check result_name output_name)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${FOLDER} -P ${check}
    RESULT_VARIABLE result ERROR_VARIABLE output OUTPUT_VARIABLE output)
  set(${result_name} ${result} PARENT_SCOPE)
  set(${output_name} "${output}" PARENT_SCOPE)
endfunction()

# The check must refuse `file` with this whole text, and in its complaint say `sentence`.
function(refuses file text sentence)
  write_tree()
  file(WRITE ${FOLDER}/include/wane/${file} "${text}")
  run_check(result output)
  string(FIND "${output}" "include/wane/${file}: ${sentence}" place)
  if(result EQUAL 0 OR place EQUAL -1)
    message(FATAL_ERROR "expected a refusal of ${file}: ${sentence}\nbut the check said\n${output}")
  endif()
endfunction()

# The same for one include line in a new header of a layer.
function(refuses_include file include sentence)
  refuses(${file} "${head}#include ${include}\n" "${sentence}")
endfunction()

write_tree()
run_check(result output)
if(result)
  message(FATAL_ERROR "a tree without a fault is refused:\n${output}")
endif()

refuses_include(core/a.hpp <wane/spectra/kernel.hpp> "includes wane/spectra/kernel.hpp; core does")
refuses_include(core/a.hpp "\"../run/in_order/advance.hpp\"" "includes wane/run/in_order/advance.hpp; core does not")
refuses_include(spectra/a.hpp <wane/operators/gla.hpp> "includes wane/operators/gla.hpp; spectra")
refuses_include(spectra/a.hpp <wane/run/in_order/advance.hpp> "includes wane/run/in_order/advance.hpp; spectra does not")
refuses_include(operators/a.hpp <wane/run/in_order/advance.hpp> "includes wane/run/in_order/advance.hpp; operators does")
refuses_include(files/a.hpp <wane/operators/gla.hpp> "includes wane/operators/gla.hpp; files does not")
refuses_include(operators/a.hpp <wane/files/mapped_file.hpp> "includes wane/files/mapped_file.hpp; operators")
refuses_include(operators/a.hpp <wane/testing/laws.hpp> "includes wane/testing/laws.hpp; operators")
refuses_include(run/a.hpp <wane/operators/gla.hpp> "includes wane/operators/gla.hpp; run does not")
refuses_include(run/a.hpp <wane/spectra/kernel.hpp> "includes wane/spectra/kernel.hpp; run does")
refuses_include(core/recurrence/a.hpp <wane/core/state/state.hpp>
  "includes wane/core/state/state.hpp; room recurrence of core does not include state")
refuses_include(core/a.hpp <wane/core/recurrence/view.hpp>
  "includes wane/core/recurrence/view.hpp; room . of core does not include recurrence")
refuses_include(run/panels/a.hpp <wane/run/run.hpp>
  "includes wane/run/run.hpp; room panels of run does not include .")
refuses_include(run/in_order/a.hpp "\"../penalty/health.hpp\""
  "includes wane/run/penalty/health.hpp; room in_order of run does not include penalty")
refuses_include(run/attic/a.hpp <vector> "lies in no room of run")
refuses_include(run/a.hpp "  <wane/cuda/step.cuh>" "includes wane/cuda/step.cuh; run does not")
refuses_include(cuda/a.cuh <wane/operators/gla.hpp> "includes wane/operators/gla.hpp; cuda does")
refuses_include(cuda/a.cuh <wane/run/run.hpp> "includes wane/run/run.hpp; cuda does not")
refuses_include(testing/a.hpp <wane/operators/gla.hpp> "includes wane/operators/gla.hpp; testing")
refuses_include(core/a.hpp <wane/wane.hpp> "includes wane/wane.hpp; a layer does not")
refuses_include(core/a.hpp <wane/core/lost.hpp> "includes wane/core/lost.hpp, which does not exist")
refuses_include(core/a.hpp <boost/math/a.hpp> "includes boost/math/a.hpp; boost has no door")
refuses_include(run/a.hpp <boost/math/a.hpp> "includes boost/math/a.hpp; boost has no door")
refuses_include(core/a.hpp <Eigen/Core> "includes Eigen/Core; eigen has no door")
refuses_include(operators/a.hpp <Eigen/Core> "includes Eigen/Core; eigen has no door")
refuses_include(run/a.hpp <Eigen/Core> "includes Eigen/Core; eigen has no door")
refuses_include(spectra/a.hpp <cuda_runtime.h> "includes cuda_runtime.h; cuda has no door")
refuses_include(cuda/a.cuh <nccl.h> "includes nccl.h; nccl has no door")
refuses_include(run/a.hpp <cub/cub.cuh> "includes cub/cub.cuh; cuda has no door")
refuses_include(files/a.hpp <sys/mman.h> "includes sys/mman.h; files has no door")
refuses_include(run/a.hpp <pthread.h> "includes pthread.h; forks has no door")
refuses_include(testing/a.hpp <gtest/gtest.h> "includes gtest/gtest.h; headers use no such library")
refuses_include(run/a.hpp WANE_HEADER "has an include that this check cannot read")
refuses_include(helpers/a.hpp <vector> "lies in no layer")
refuses_include(run/a.h <vector> "is neither .hpp nor .cuh")
refuses_include(run/a.cuh <vector> "is a .cuh outside cuda")

refuses(run/a.hpp "${head}#define FAST 1\n" "defines the macro FAST")
refuses(run/a.hpp "${head}  #  define FAST(x) x\n" "defines the macro FAST")
refuses(run/a.hpp "${head}#undef FAST\n" "defines the macro FAST")
refuses(run/a.hpp "// A header.\n#pragma once\n" "line 1 must say what the file is")
refuses(run/a.hpp "// A header.\n// SPDX-License-Identifier: MIT\n" "has no #pragma once")
string(REPEAT "// a line\n" 298 lines)
refuses(run/a.hpp "${head}${lines}" "has 301 lines")

write_tree()
foreach(number RANGE 10 34)
  file(WRITE ${FOLDER}/include/wane/core/numbers/n${number}.hpp "${head}")
endforeach()
run_check(result output)
if(NOT output MATCHES "n34.hpp: is file 25 of its folder; 24 are the most")
  message(FATAL_ERROR "a folder of 25 files is not refused:\n${output}")
endif()

file(REMOVE_RECURSE ${FOLDER})
message("layers: every rule is kept and bites")
