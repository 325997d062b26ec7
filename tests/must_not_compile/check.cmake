# FILE must fail to compile with a message that matches the regex of its first line,
#   // expect: REGEX
# and must compile with WANE_CONTROL defined, so that it does not fail for some other reason.
# A line `// flags: FLAGS` adds compiler flags to both. A line `// first: REGEX` is for mistakes of
# a first day: the first two lines of the message, without those that name files and functions
# around it, must match too.
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
set(ENV{LC_ALL} C)

# A plain message is not wrapped.
function(fail sentence)
  message("${FILE}: ${sentence}")
  message(FATAL_ERROR "see above")
endfunction()

file(READ ${FILE} text)
if(NOT text MATCHES "^// expect: ([^\n]+)\n")
  fail("line 1 must be // expect: REGEX")
endif()
set(expected "${CMAKE_MATCH_1}")
set(flags)
if(text MATCHES "\n// flags: ([^\n]+)\n")
  separate_arguments(flags UNIX_COMMAND "${CMAKE_MATCH_1}")
endif()
set(command ${COMPILER} -std=c++20 -fsyntax-only -I${INCLUDE} -I${SUPPORT})
foreach(folder IN LISTS SYSTEM_INCLUDE)
  list(APPEND command -isystem ${folder})
endforeach()
list(APPEND command ${flags})

execute_process(COMMAND ${command} -DWANE_CONTROL ${FILE} RESULT_VARIABLE result
  ERROR_VARIABLE output OUTPUT_VARIABLE output)
if(result)
  fail("does not compile even with WANE_CONTROL:\n${output}")
endif()
execute_process(COMMAND ${command} ${FILE} RESULT_VARIABLE result
  ERROR_VARIABLE output OUTPUT_VARIABLE output)
if(NOT result)
  fail("compiles, but must not")
endif()
if(text MATCHES "\n// first: ([^\n]+)\n")
  set(expected_first "${CMAKE_MATCH_1}")
  string(REPLACE ";" "," lines "${output}")
  string(REPLACE "\n" ";" lines "${lines}")
  list(FILTER lines EXCLUDE REGEX "^In file included|^ +from |: In (function|member)|: At global|^$")
  list(SUBLIST lines 0 2 first)
  if(NOT first MATCHES "${expected_first}")
    fail("begins with other lines than ${expected_first}:\n${output}")
  endif()
endif()
if(NOT output MATCHES "${expected}")
  fail("fails with another message than ${expected}:\n${output}")
endif()
