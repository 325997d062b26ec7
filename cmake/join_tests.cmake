# wane_join_tests(JOINED NAME SIZE FILE...): sets JOINED to generated files, each with the text of
# SIZE of the given test files. What these instantiate in common is then compiled once.
# SPDX-License-Identifier: MIT
#
# The unnamed namespaces of each file go into a namespace of its own, so that files may use the same
# names. The compiler's messages name the original files and lines.
function(wane_join_tests joined name size)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  list(LENGTH ARGN count)
  math(EXPR last "${count} - 1")
  set(paths "")
  foreach(first RANGE 0 ${last} ${size})
    list(SUBLIST ARGN ${first} ${size} files)
    set(text "")
    foreach(file IN LISTS files)
      file(READ ${file} own)
      string(MAKE_C_IDENTIFIER ${file} namespace)
      string(REPLACE "\nnamespace {\n" "\nnamespace ${namespace} { namespace {\n" own "${own}")
      string(REPLACE "\n}  // namespace\n" "\n}}\n" own "${own}")
      string(APPEND text "#line 1 \"${CMAKE_CURRENT_SOURCE_DIR}/${file}\"\n${own}")
    endforeach()
    set(path ${CMAKE_CURRENT_BINARY_DIR}/joined/${name}_${first}_test.cpp)
    set(old "")
    if(EXISTS ${path})
      file(READ ${path} old)
    endif()
    if(NOT old STREQUAL text)
      file(WRITE ${path} "${text}")
    endif()
    list(APPEND paths ${path})
  endforeach()
  set(${joined} ${paths} PARENT_SCOPE)
endfunction()
