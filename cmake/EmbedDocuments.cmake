# SPDX-License-Identifier: Apache-2.0 OR MIT
# cmake -D ROOT=… -D OUT=… -D "DOCUMENTS=a;b" -P EmbedDocuments.cmake: writes builtin_documents.cpp.
# Texts become escapes in literals of 8000 bytes: compilers need not take longer ones.
set(rows "")
set(count 0)
foreach(path IN LISTS DOCUMENTS)
  file(READ ${ROOT}/${path} text HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" text "${text}")
  set(pieces "")
  string(LENGTH "${text}" length)
  foreach(begin RANGE 0 ${length} 32000)
    string(SUBSTRING "${text}" ${begin} 32000 piece)
    string(APPEND pieces "\n    \"${piece}\"")
  endforeach()
  string(APPEND rows "    {\"${path}\"sv,${pieces}sv},\n")
  math(EXPR count "${count} + 1")
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "no contract document to embed")
endif()
file(WRITE ${OUT} "// Generated from the contract documents of kernels/; do not edit.
#include \"bind/builtin_documents.hpp\"

#include <array>

namespace convoke::bind {
using namespace std::string_view_literals;

std::span<const BuiltinDocument> builtin_documents() noexcept {
  static constexpr std::array<BuiltinDocument, ${count}> documents = {{
${rows}  }};
  return documents;
}

}  // namespace convoke::bind
")
