# The sources of wane are a folder of the project.
# SPDX-License-Identifier: MIT
build_consumer(add_subdirectory -DWANE_SOURCE=${SOURCE})
