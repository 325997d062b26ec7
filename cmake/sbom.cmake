# Writes what wane consists of and needs as SPDX 2.3 in JSON; the dependencies are the rows of the
# table below "Dependencies" in docs/licences.md.
# cmake -DROOT=<repository> -DVERSION=<version> -DARCHIVE=<its archive> -DCREATED=<time> -DOUT=<file>
#   -P sbom.cmake
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)

# What each kind of use is to wane; the first word of the column "used by" says which.
set(relation_of_headers DEPENDENCY_OF)
set(relation_of_threads OPTIONAL_DEPENDENCY_OF)
set(relation_of_CUDA OPTIONAL_DEPENDENCY_OF)
set(relation_of_ranks OPTIONAL_DEPENDENCY_OF)
set(relation_of_programs OPTIONAL_DEPENDENCY_OF)
set(relation_of_examples OPTIONAL_DEPENDENCY_OF)
set(relation_of_Python OPTIONAL_DEPENDENCY_OF)
set(relation_of_tests TEST_DEPENDENCY_OF)
set(relation_of_site DEV_DEPENDENCY_OF)

file(SHA256 ${ARCHIVE} hash)
cmake_path(GET ARCHIVE FILENAME archive_name)
set(packages "")
set(relations "")

# Adds a package that is no part of wane: NAME, a licence or NOASSERTION, a relation and a comment.
function(add_package name licence relation comment)
  string(REGEX REPLACE "[^A-Za-z0-9.]+" "-" id "SPDXRef-${name}")
  string(APPEND packages ",
    {
      \"name\": \"${name}\",
      \"SPDXID\": \"${id}\",
      \"downloadLocation\": \"NOASSERTION\",
      \"filesAnalyzed\": false,
      \"licenseConcluded\": \"NOASSERTION\",
      \"licenseDeclared\": \"${licence}\",
      \"copyrightText\": \"NOASSERTION\",
      \"comment\": \"${comment}\"
    }")
  string(APPEND relations ",
    {\"spdxElementId\": \"${id}\", \"relationshipType\": \"${relation}\", \"relatedSpdxElement\": \"SPDXRef-wane\"}")
  set(packages "${packages}" PARENT_SCOPE)
  set(relations "${relations}" PARENT_SCOPE)
endfunction()

file(STRINGS ${ROOT}/docs/licences.md rows REGEX "^([|]|## )" ENCODING UTF-8)
set(count 0)
set(section "")
foreach(row IN LISTS rows)
  if(row MATCHES "^## (.*)")
    set(section "${CMAKE_MATCH_1}")
  endif()
  if(NOT section STREQUAL "Dependencies" OR row MATCHES "^(## |[|] (dependency|---) [|])")
    continue()
  endif()
  if(row MATCHES "[\"\\\\]" OR
      NOT row MATCHES "^[|] ([^|]+) [|] ([^|]+) [|] ([^|]+) [|] ([^|]+) [|] ([^|]+) [|]$")
    message(FATAL_ERROR "docs/licences.md: not name, use, licence, oldest, newest: ${row}")
  endif()
  set(name "${CMAKE_MATCH_1}")
  set(use "${CMAKE_MATCH_2}")
  set(licence "${CMAKE_MATCH_3}")
  set(comment "used by ${use}; tested with ${CMAKE_MATCH_4} and ${CMAKE_MATCH_5}")
  string(REGEX MATCH "^[A-Za-z]+" kind "${use}")
  if(NOT DEFINED relation_of_${kind})
    message(FATAL_ERROR "docs/licences.md: ${name} is used by '${kind}', a use that sbom.cmake does not know")
  endif()
  if(licence MATCHES "^not SPDX")
    set(licence NOASSERTION)
  elseif(NOT licence MATCHES "^[A-Za-z0-9.-]+( (WITH|AND|OR) [A-Za-z0-9.-]+)*$")
    message(FATAL_ERROR "docs/licences.md: ${name} has '${licence}', which is no SPDX expression")
  endif()
  add_package("${name}" "${licence}" ${relation_of_${kind}} "${comment}")
  math(EXPR count "${count} + 1")
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "docs/licences.md has no table of dependencies")
endif()

file(READ ${ROOT}/LICENSE licence)
if(NOT licence MATCHES "\n(Copyright [^\n]+)\n")
  message(FATAL_ERROR "LICENSE names no holder of the copyright")
endif()
file(WRITE ${OUT} "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"wane-${VERSION}\",
  \"documentNamespace\": \"https://spdx.org/spdxdocs/wane-${VERSION}-${hash}\",
  \"creationInfo\": {
    \"created\": \"${CREATED}\",
    \"creators\": [\"Organization: The wane developers\", \"Tool: cmake/release.sh-${VERSION}\"]
  },
  \"packages\": [
    {
      \"name\": \"wane\",
      \"SPDXID\": \"SPDXRef-wane\",
      \"versionInfo\": \"${VERSION}\",
      \"packageFileName\": \"${archive_name}\",
      \"checksums\": [{\"algorithm\": \"SHA256\", \"checksumValue\": \"${hash}\"}],
      \"downloadLocation\": \"NOASSERTION\",
      \"filesAnalyzed\": false,
      \"licenseConcluded\": \"MIT\",
      \"licenseDeclared\": \"MIT\",
      \"copyrightText\": \"${CMAKE_MATCH_1}\",
      \"primaryPackagePurpose\": \"LIBRARY\"
    }${packages}
  ],
  \"relationships\": [
    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-wane\"}${relations}
  ]
}
")

# What was written must be JSON, with a package and a relation for each row.
file(READ ${OUT} text)
string(JSON written LENGTH "${text}" packages)
string(JSON related LENGTH "${text}" relationships)
math(EXPR expected "${count} + 1")
if(NOT written EQUAL expected OR NOT related EQUAL expected)
  message(FATAL_ERROR "${OUT} has ${written} packages and ${related} relations, not ${expected}")
endif()
message("sbom: wane ${VERSION} and ${count} dependencies")
