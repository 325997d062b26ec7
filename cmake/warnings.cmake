# The warnings of everything that wane builds itself; users of wane::wane never see these flags.
# SPDX-License-Identifier: MIT
set(warnings -Wall -Wextra -Wconversion -Wshadow -pedantic)
# The host compiler sees #pragma unroll too. wane calls Eigen on the host only, and nvcc warns of
# what Eigen 3.4 does to be callable on the device.
set(cuda_warnings -Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas -DEIGEN_NO_CUDA)
if(WANE_WERROR)
  list(APPEND warnings -Werror)
  list(APPEND cuda_warnings -Werror=all-warnings)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # From g++ 12 on these see faults in std::string itself (GCC bugs 105329 and 105651).
    list(APPEND warnings
      -Wno-error=array-bounds -Wno-error=restrict -Wno-error=stringop-overflow)
  endif()
endif()
add_compile_options(
  "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}>")
