# GoogleTest, compiled from the sources that Debian's package googletest holds.
# SPDX-License-Identifier: MIT
set(sources /usr/src/googletest/googletest)
find_package(Threads REQUIRED)
add_library(gtest_main STATIC ${sources}/src/gtest-all.cc ${sources}/src/gtest_main.cc)
add_library(GTest::gtest_main ALIAS gtest_main)
target_include_directories(gtest_main SYSTEM PUBLIC ${sources}/include PRIVATE ${sources})
target_link_libraries(gtest_main PUBLIC Threads::Threads)
target_compile_features(gtest_main PUBLIC cxx_std_20)
set_target_properties(gtest_main PROPERTIES COMPILE_OPTIONS "")  # its warnings are its own
