# Conan makes a package, with Boost and Eigen of the system, and builds the program with it.
# SPDX-License-Identifier: MIT
set(ENV{CONAN_HOME} ${folder}/home)
set(ENV{CXX} ${COMPILER})
run(conan profile detect)
file(WRITE ${folder}/profile "include(default)
[settings]
compiler.cppstd=20
[platform_requires]
boost/1.74.0
eigen/3.4.0
[conf]
tools.cmake.cmaketoolchain:generator=${GENERATOR}
tools.cmake.cmake_layout:test_folder=${folder}/test
")
run(conan create ${SOURCE}/cmake/ports/conan --no-remote -pr:a ${folder}/profile)
file(GLOB program ${folder}/test/*/consumer)
run_consumer(${program})
