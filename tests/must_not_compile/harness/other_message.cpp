// expect: a sentence that nobody says
// SPDX-License-Identifier: MIT
template <class T>
void refuse(T) {
#ifndef WANE_CONTROL
  static_assert(sizeof(T) == 0, "this sentence");
#endif
}
int main() { refuse(1); }
