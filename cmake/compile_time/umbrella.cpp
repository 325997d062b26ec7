// One umbrella header alone; compile_time.sh says which.
// SPDX-License-Identifier: MIT
#include WANE_UMBRELLA
