// expect: static
// SPDX-License-Identifier: MIT
static_assert(sizeof(char) == 2, "wrong with and without the control");
