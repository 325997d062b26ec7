# Lists and unlists public names of a small tree, and fails when check_public.cmake does not see it.
# cmake -DFOLDER=<scratch> -P check_public_test.cmake
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
set(check ${CMAKE_CURRENT_LIST_DIR}/check_public.cmake)
set(header spectra/kernel.hpp)

# Every form of declaration at namespace scope, as clang-format writes it.
set(declarations [=[
namespace wane::spectra {

// class in_a_comment {
class kernel final : public impl::base<int> {
 public:
  struct nested {};
  void member() const { return "}; int literal() {"[0]; }
};
struct forward;
template <class T, class U = std::vector<std::pair<T, int>>>
requires(sizeof(T) > 1) struct with_requires {
  T x = T{};
};
template <class T>
requires requires { T::width; }
struct with_requires<T, int> {};
template <class K>
concept target = requires(K const& k, int lag) {
  { k(lag) } -> std::convertible_to<double>;
};
enum class metric { absolute, relative };
using number = double;
template <class T>
using vector_of = std::vector<T>;
using std::swap;
inline constexpr int most = 1 << 10;
template <class T>
inline constexpr bool is_row = false;
constexpr double weights[] = {1, 2};
inline constexpr auto pairs = make<2>({{1, 2}});
[[nodiscard]] inline double plain(double x, double y = 1) { return x * y; }
template <class T>
auto trailing(T x) -> std::vector<decltype(x)> {
  return {x};
}
inline std::vector<std::pair<std::int64_t, double>>
name_on_its_own_line(std::vector<double> const& a,
                     std::vector<double> const& b) {
  return {};
}
template <class T>
decltype(auto) deduced(T x) noexcept(noexcept(x)) {
  return x;
}
template <class T, class U>
requires std::same_as<T, U> WANE_HOST_DEVICE T constrained(T x) { return x; }
kernel(int) -> kernel;
template <class T>
bool operator==(kernel const& a, T b);
inline kernel::kernel() : base(1) {}
static_assert(sizeof(int) == 4, "a; b");

}  // namespace wane::spectra

namespace wane::spectra::impl {

struct internal {};
inline void helper() {}

}  // namespace wane::spectra::impl
]=])
set(names kernel forward with_requires target metric number vector_of swap most is_row weights
  pairs plain trailing name_on_its_own_line deduced constrained)

# A tree whose reference lists `listed` for the header, with `more` behind its declarations.
function(write_tree listed more)
  file(REMOVE_RECURSE ${FOLDER})
  file(WRITE ${FOLDER}/include/wane/${header} "// A header.\n#pragma once\n\n${declarations}${more}")
  set(text "# Reference\n\n### `${header}`\n\n| name | what it is |\n| --- | --- |\n")
  foreach(name IN LISTS listed)
    string(APPEND text "| `${name}` | one of `several` things; [B, T] |\n")
  endforeach()
  file(WRITE ${FOLDER}/docs/reference.md "${text}")
endfunction()

function(run_check result_name output_name)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${FOLDER} -P ${check}
    RESULT_VARIABLE result ERROR_VARIABLE output OUTPUT_VARIABLE output)
  set(${result_name} ${result} PARENT_SCOPE)
  set(${output_name} "${output}" PARENT_SCOPE)
endfunction()

# The check must refuse the tree as it is, with this sentence as its one complaint.
function(expect_refusal sentence)
  run_check(result output)
  string(FIND "${output}" "${sentence}\n" place)
  if(result EQUAL 0 OR place EQUAL -1 OR NOT output MATCHES "public names: 1 diff")
    message(FATAL_ERROR "expected one refusal: ${sentence}\nbut the check said\n${output}")
  endif()
endfunction()

write_tree("${names}" "")
run_check(result output)
if(result)
  message(FATAL_ERROR "a tree without a fault is refused:\n${output}")
endif()

foreach(name IN LISTS names)
  set(others ${names})
  list(REMOVE_ITEM others ${name})
  write_tree("${others}" "")
  expect_refusal("include/wane/${header}: declares ${name}, which docs/reference.md does not list")
endforeach()
foreach(name nested member internal helper in_a_comment literal)
  write_tree("${names};${name}" "")
  expect_refusal("docs/reference.md: ${header} lists ${name}, which the header does not declare")
endforeach()

write_tree("${names};kernel" "")
expect_refusal("docs/reference.md: ${header} lists kernel twice")
write_tree("${names}" "\nnamespace wane {\n\ninline void more() {}\n\n}  // namespace wane\n")
expect_refusal("include/wane/${header}: declares more, which docs/reference.md does not list")
write_tree("${names}" "")
file(APPEND ${FOLDER}/docs/reference.md "\n### `spectra/lost.hpp`\n")
expect_refusal("docs/reference.md: lists spectra/lost.hpp, which does not exist")
write_tree("${names}" "")
file(APPEND ${FOLDER}/docs/reference.md "\n### `helpers/a.hpp`\n")
expect_refusal("docs/reference.md: lists helpers/a.hpp, whose folder is not checked")

file(REMOVE_RECURSE ${FOLDER})
message("public names: every form is seen, and every difference is refused")
