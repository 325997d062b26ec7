# CMake downloads an archive of wane, as CPM does too, or takes a folder in its place.
# SPDX-License-Identifier: MIT
cmake_path(GET SOURCE PARENT_PATH above)
cmake_path(GET SOURCE FILENAME name)
set(archive ${folder}/wane.tar.gz)
set(parts CMakeLists.txt LICENSE cmake include)
list(TRANSFORM parts PREPEND ${name}/)
execute_process(COMMAND ${CMAKE_COMMAND} -E tar czf ${archive} ${parts}
  WORKING_DIRECTORY ${above} COMMAND_ERROR_IS_FATAL ANY)
file(SHA256 ${archive} hash)
build_consumer(fetch_content -DWANE_URL=file://${archive} -DWANE_HASH=${hash})
run(${CMAKE_COMMAND} -DFETCHCONTENT_SOURCE_DIR_WANE=${SOURCE} ${folder}/build)
if(NOT output MATCHES "wane is taken from ${SOURCE}\n")
  message(FATAL_ERROR "FETCHCONTENT_SOURCE_DIR_WANE was not heeded")
endif()
