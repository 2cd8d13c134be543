# Compiler settings shared by every target; presets choose among them.
option(SACCADE_TESTS "Build the tests" ON)
option(SACCADE_TEST_SHARDS "Run GoogleTest binaries as four tests each: fast, but without a name for each test" OFF)
option(SACCADE_BENCH "Build the benches" OFF)
option(SACCADE_FUZZ "Build the fuzz targets (clang)" OFF)
set(SACCADE_SANITIZE "" CACHE STRING "Sanitizers to build with, comma separated (address,undefined or thread)")
# A sanitized extension would need an interpreter that loads the sanitizer first.
set(python_default OFF)
if(EXISTS "${PROJECT_SOURCE_DIR}/.venv-python/installed.txt" AND NOT SACCADE_SANITIZE)
  set(python_default ON)
endif()
option(SACCADE_PYTHON "Build the Python package; ON where script/bootstrap --python has been" ${python_default})

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# The build tree has the layout of the installation, so that one RUNPATH, relative to the file that has it, serves both.
# CMake must not rewrite RUNPATHs at installation: it pads them with colons, and an empty entry is the current folder, from
# which foreign libraries would be loaded. Without absolute paths, trees can be moved.
include(GNUInstallDirs)
set(SACCADE_LIB_DIR "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}")
set(SACCADE_MODULE_DIR "${SACCADE_LIB_DIR}/saccade")
set(SACCADE_BIN_DIR "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_BINDIR}")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

add_library(saccade_options INTERFACE)
target_compile_options(saccade_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Werror
  -Wno-missing-field-initializers)  # designated initialisers omit members with a default
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these two inside the standard library's own inlined code.
  target_compile_options(saccade_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow
    -Wno-array-bounds -Wno-free-nonheap-object)
endif()
# No contraction to fused multiply-add unless the code requests it: all compilers and instruction sets then give the same
# numbers, and a vector kernel is bit-identical to its reference.
target_compile_options(saccade_options INTERFACE -ffp-contract=off)
target_compile_definitions(saccade_options INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
# A unity build takes less than half of the time, because headers and templates are compiled once per batch. Targets whose
# files share local names compile each file alone.
if(CMAKE_UNITY_BUILD)
  target_compile_options(saccade_options INTERFACE -Wno-shadow)  # of another file's local names
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(saccade_options INTERFACE -Wno-subobject-linkage)  # of types local to a file of the batch
  endif()
endif()
if(SACCADE_SANITIZE)
  set(sanitized $<NOT:$<BOOL:$<TARGET_PROPERTY:SACCADE_UNSANITIZED>>>)
  target_compile_options(saccade_options INTERFACE -fno-omit-frame-pointer
    "$<${sanitized}:-fsanitize=${SACCADE_SANITIZE}>" "$<${sanitized}:-fno-sanitize-recover=all>")
  target_link_options(saccade_options INTERFACE "$<${sanitized}:-fsanitize=${SACCADE_SANITIZE}>")
  # Checks of every access take half of the compilation. AddressSanitizer finds null and freed memory; what is fuzzed has
  # them all, and libFuzzer's counters, which other executables ignore.
  set(fuzzed $<BOOL:$<TARGET_PROPERTY:SACCADE_FUZZED>>)
  if(SACCADE_SANITIZE MATCHES undefined)
    target_compile_options(saccade_options INTERFACE
      $<$<NOT:${fuzzed}>:-fno-sanitize=null,alignment,vptr,object-size>)
  endif()
  target_compile_options(saccade_options INTERFACE $<${fuzzed}:-fsanitize=fuzzer-no-link>)
  # For tests. The compilers' own macros differ.
  target_compile_definitions(saccade_options INTERFACE SACCADE_SANITIZED)
  if(SACCADE_SANITIZE MATCHES address)
    target_compile_definitions(saccade_options INTERFACE SACCADE_SANITIZED_ADDRESS)
  endif()
endif()

# Options of code that does not run once a frame: with fewer optimisations it compiles in two thirds of the time, and
# instrumented for sanitizers in half.
set(SACCADE_COLD_OPTIONS $<$<CONFIG:Release>:-O1>)
if(SACCADE_SANITIZE)
  set(SACCADE_COLD_OPTIONS -O0)
endif()
