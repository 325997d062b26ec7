# cpack runs this before it packs: each Debian package has the licence where Debian looks for it.
# SPDX-License-Identifier: MIT
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
foreach(package IN LISTS CPACK_COMPONENTS_ALL)
  set(documents ${CPACK_TEMPORARY_DIRECTORY}/${package}/usr/share/doc)
  file(REMOVE_RECURSE ${documents}/wane)
  file(MAKE_DIRECTORY ${documents}/${package})
  file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/../LICENSE ${documents}/${package}/copyright)
endforeach()
