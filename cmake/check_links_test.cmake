# Plants links in a small tree, and fails when check_links.cmake does not tell good from broken.
# cmake -DFOLDER=<scratch> -P check_links_test.cmake
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)

foreach(path CHANGELOG.md CONTRIBUTING.md docs/other.md examples/one.cpp)
  file(WRITE ${FOLDER}/${path}
    "# `Name`, of two_words: [x; y]\n\n```cpp\n[&](nothing) {}\n# no heading\n```\n")
endforeach()

function(expect code links)
  file(WRITE ${FOLDER}/README.md "# Top\n\n${links}\n\n## A heading\n")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -DROOT=${FOLDER} -P ${CMAKE_CURRENT_LIST_DIR}/check_links.cmake
    RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT result EQUAL code)
    message(FATAL_ERROR "${links}: exit code ${result} instead of ${code}\n${said}")
  endif()
endfunction()

expect(0 "[a](docs/other.md), ![b](examples/one.cpp); [c](#a-heading) [d](https://example.org)")
expect(0 "[a](docs/other.md#name-of-two_words-x-y) [b](docs)")
expect(1 "[a](docs/none.md)")
expect(1 "[a](other.md), [b](docs/other.md)")
expect(1 "[a](#another-heading)")
expect(1 "[a](docs/other.md#no-heading)")
message("links: each broken one is seen")
