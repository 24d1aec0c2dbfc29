# SPDX-License-Identifier: Apache-2.0 OR MIT
# What every target of the project shares: language, warnings, floating-point rules, visibility.

add_library(convoke_options INTERFACE)
target_compile_features(convoke_options INTERFACE cxx_std_23)
target_compile_options(convoke_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor $<$<BOOL:${CONVOKE_WERROR}>:-Werror>
  # GCC 12 warns of overlaps in its own std::string that cannot happen (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # A product is fused with its sum where the source says so and nowhere else (docs/law.md).
  -ffp-contract=off -fno-math-errno)
target_include_directories(convoke_options INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})

# Code that runs once a call of a program or a test: -O3 would take half as long again to build and give nothing back.
# Under the sanitizers even -O1 takes three times as long as -O0; the libraries, where the work is done, keep it.
add_library(convoke_built_fast INTERFACE)
target_compile_options(convoke_built_fast INTERFACE $<$<CONFIG:Release>:-O1> $<$<CONFIG:RelWithDebInfo>:-O0>)

# convoke_folder(NAME SOURCES file... DEPS target...): the one target of a folder, convoke_NAME.
function(convoke_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(convoke_${name} STATIC ${arg_SOURCES})
  set_target_properties(convoke_${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(convoke_${name} PUBLIC convoke_options ${arg_DEPS})
  if(CONVOKE_FUZZ)  # libFuzzer sees which branches an input takes
    target_compile_options(convoke_${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# convoke_program(NAME SOURCES file... DEPS target...): an executable in bin/.
function(convoke_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${name} PRIVATE convoke_options ${arg_DEPS})
endfunction()
