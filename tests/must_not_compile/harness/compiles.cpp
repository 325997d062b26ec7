// expect: anything
// SPDX-License-Identifier: MIT
int main() {}
