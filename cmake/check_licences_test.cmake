# Plants each thing that check_licences.cmake refuses, one at a time, in a tree that is right without
# it, and fails when the check does not name it.
# cmake -DFOLDER=<scratch> -P check_licences_test.cmake
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
set(check ${CMAKE_CURRENT_LIST_DIR}/check_licences.cmake)
set(said "SPDX-License-Identifier: MIT\n")
set(holder Copyright)

function(write_tree)
  file(REMOVE_RECURSE ${FOLDER})
  file(WRITE ${FOLDER}/LICENSE "MIT License\n\n${holder} (c) 2026 The wane developers\n")
  file(WRITE ${FOLDER}/docs/licences.md "| dependency |\n| --- |\n| Eigen |\n| Boost |\n\n`mkdocs`\n")
  file(WRITE ${FOLDER}/docs/picture.svg "<svg/>\n")
  file(WRITE ${FOLDER}/tests/data.csv "1;2\n")
  file(WRITE ${FOLDER}/build/program.cpp "#include <secret/library.h>\n")
  file(WRITE ${FOLDER}/cmake/docs/requirements.txt "# ${said}mkdocs==1.6.1\n")
  file(WRITE ${FOLDER}/cmake/docs/hooks.py "\"\"\"What it is.\n${said}\"\"\"\nimport re\n")
  file(WRITE ${FOLDER}/cmake/docs/a.css "/* SPDX-License-Identifier: MIT */\n")
  file(WRITE ${FOLDER}/include/wane/a.hpp
    "// A header.\n// ${said}#include <sys/mman.h>\n#include <vector>\n#include <Eigen/Core>\n"
    "#include <unsupported/Eigen/FFT>\n#include <wane/b.hpp>\n#include <boost/math/a.hpp>\n")
endfunction()

function(expect code sentence)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${FOLDER} -P ${check}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "${sentence}" place)
  if(NOT result EQUAL code OR place EQUAL -1)
    message(FATAL_ERROR "exit code ${result}, expected ${code} and: ${sentence}\nbut it said\n${output}")
  endif()
endfunction()

# The check must refuse `file` with this whole text, and say `sentence`.
function(refuses file text sentence)
  write_tree()
  file(WRITE ${FOLDER}/${file} "${text}")
  expect(1 "${sentence}")
endfunction()

write_tree()
expect(0 "licences: 4 files say MIT")

refuses(tests/a.cpp "// A test.\nint main() {}\n" "tests/a.cpp: has no line SPDX")
refuses(tests/a.cpp "// A test. ${said}" "tests/a.cpp: has no line SPDX")
refuses(cmake/a.sh "# ${said}# SPDX-License-Identifier: GPL-3.0-only\n" "or another too: 'MIT;GPL-3.0")
refuses(cmake/a.sh "# SPDX-License-Identifier: MIT OR Apache-2.0\n" "or another too: 'MIT OR Apache-2.0'")
refuses(.clang-tidy "Checks: -*\n" ".clang-tidy: has no line SPDX")
refuses(bench/a.cpp "// ${said}// ${holder} (c) 2020 Somebody\n" "bench/a.cpp: names a holder")
refuses(bench/a.cpp "// ${said}// ${holder} 2020 Somebody\n" "bench/a.cpp: names a holder")
refuses(bench/a.cpp "// ${said}#include <fmt/core.h>\n" "<fmt/core.h>, a library that")
refuses(bench/a.cpp "// ${said}#include <CLI/CLI.hpp>\n" "lacks CLI11, which bench/a.cpp includes")
refuses(bench/a.cpp "// ${said}# include <mpi.h>\n" "lacks MPI, which bench/a.cpp includes")
refuses(cmake/docs/requirements.txt "# ${said}click==8.5.1\n" "lacks click, which cmake/docs/")

file(REMOVE_RECURSE ${FOLDER})
message("licences: each fault is seen")
