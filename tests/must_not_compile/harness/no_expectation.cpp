// A file that does not say which message it expects.
// SPDX-License-Identifier: MIT
static_assert(sizeof(char) == 2);
