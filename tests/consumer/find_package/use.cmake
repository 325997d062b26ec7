# wane and the programs that were built are installed below a prefix.
# SPDX-License-Identifier: MIT
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/prefix)
if(EXISTS ${BUILD}/bench/wane-spectra)
  run(${folder}/prefix/bin/wane-spectra --help)
endif()
build_consumer(find_package -DCMAKE_PREFIX_PATH=${folder}/prefix)
