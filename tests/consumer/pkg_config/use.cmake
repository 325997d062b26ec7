# A compiler takes wane from pkg-config, without CMake, from an installed tree that was moved.
# SPDX-License-Identifier: MIT
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/prefix --component wane-dev)
file(RENAME ${folder}/prefix ${folder}/moved)
check_headers(${folder}/moved/include)
set(ENV{PKG_CONFIG_PATH} ${folder}/moved/share/pkgconfig:$ENV{PKG_CONFIG_PATH})
run(pkg-config --cflags --libs "wane = ${VERSION}")
set(sources ${CMAKE_CURRENT_LIST_DIR}/../main.cpp ${CMAKE_CURRENT_LIST_DIR}/../other.cpp)
separate_arguments(flags UNIX_COMMAND "${FLAGS} ${output}")
run(${COMPILER} -std=c++20 -Wall -Wextra -Werror ${sources} ${flags} -o ${folder}/consumer)
run_consumer(${folder}/consumer)
