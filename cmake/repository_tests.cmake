# Tests of the repository itself, label repository: layers, names, links, format, licences, packages,
# releases, headers, consumers.
# SPDX-License-Identifier: MIT
set(scripts ${PROJECT_SOURCE_DIR}/cmake)

add_test(NAME layers COMMAND ${CMAKE_COMMAND}
  -DROOT=${PROJECT_SOURCE_DIR} -P ${scripts}/check_layers.cmake)
add_test(NAME layers.each_rule_bites COMMAND ${CMAKE_COMMAND}
  -DFOLDER=${PROJECT_BINARY_DIR}/planted_layers -P ${scripts}/check_layers_test.cmake)
add_test(NAME public_names COMMAND ${CMAKE_COMMAND}
  -DROOT=${PROJECT_SOURCE_DIR} -P ${scripts}/check_public.cmake)
add_test(NAME public_names.each_form_is_seen COMMAND ${CMAKE_COMMAND}
  -DFOLDER=${PROJECT_BINARY_DIR}/planted_names -P ${scripts}/check_public_test.cmake)
add_test(NAME links COMMAND ${CMAKE_COMMAND}
  -DROOT=${PROJECT_SOURCE_DIR} -P ${scripts}/check_links.cmake)
add_test(NAME links.each_fault_is_seen COMMAND ${CMAKE_COMMAND}
  -DFOLDER=${PROJECT_BINARY_DIR}/planted_links -P ${scripts}/check_links_test.cmake)
add_test(NAME format COMMAND ${CMAKE_COMMAND}
  -DROOT=${PROJECT_SOURCE_DIR} -P ${scripts}/check_format.cmake)
add_test(NAME licences COMMAND ${CMAKE_COMMAND}
  -DROOT=${PROJECT_SOURCE_DIR} -P ${scripts}/check_licences.cmake)
add_test(NAME licences.each_fault_is_seen COMMAND ${CMAKE_COMMAND}
  -DFOLDER=${PROJECT_BINARY_DIR}/planted_licences -P ${scripts}/check_licences_test.cmake)
add_test(NAME left_out COMMAND ${CMAKE_COMMAND}
  -DROOT=${PROJECT_SOURCE_DIR} -P ${scripts}/check_left_out.cmake)
find_program(WANE_PYTHON3 python3)
if(WANE_PYTHON3)
  add_test(NAME mutation.each_fault_is_planted COMMAND
    ${WANE_PYTHON3} ${PROJECT_SOURCE_DIR}/cmake/mutation.py --self-test)
  set_tests_properties(mutation.each_fault_is_planted PROPERTIES LABELS repository TIMEOUT 60)
endif()
add_test(NAME packages COMMAND sh ${scripts}/packages_test.sh)
add_test(NAME release COMMAND sh ${scripts}/release_test.sh)
add_test(NAME headers_alone COMMAND ${CMAKE_COMMAND}
  --build ${PROJECT_BINARY_DIR} --target all_verify_interface_header_sets)
set(names layers layers.each_rule_bites public_names public_names.each_form_is_seen links
  links.each_fault_is_seen format licences licences.each_fault_is_seen left_out packages release
  headers_alone)

foreach(way find_package add_subdirectory fetch_content pkg_config deb conan vcpkg)
  add_test(NAME consumer.${way} COMMAND ${CMAKE_COMMAND}
    -DWAY=${way} -DSOURCE=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
    -DCOMPILER=${CMAKE_CXX_COMPILER} -DGENERATOR=${CMAKE_GENERATOR} -DVERSION=${PROJECT_VERSION}
    "-DFLAGS=${CMAKE_CXX_FLAGS}" -P ${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake)
  list(APPEND names consumer.${way})
  set_tests_properties(consumer.${way} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
endforeach()

set_tests_properties(${names} PROPERTIES LABELS repository TIMEOUT 1200)
set_tests_properties(release PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
set_tests_properties(format PROPERTIES SKIP_REGULAR_EXPRESSION "format: not checked")
