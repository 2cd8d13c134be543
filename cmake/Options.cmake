# Compiler settings shared by every target; presets choose among them.
option(SACCADE_TESTS "Build the tests" ON)
option(SACCADE_BENCH "Build the benches" OFF)
option(SACCADE_FUZZ "Build the fuzz targets (clang)" OFF)
set(SACCADE_SANITIZE "" CACHE STRING "Sanitizers to build with, comma separated (address,undefined or thread)")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# The build tree is laid out as the installed one is: one RUNPATH, relative to the file that has it, serves both, and
# nothing is left to be written anew at an installation, for which CMake pads RUNPATHs with colons: an empty entry is the
# current folder, out of which a stranger's library would be loaded. No absolute path is in it, so that trees can move.
include(GNUInstallDirs)
set(SACCADE_LIB_DIR "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}")
set(SACCADE_MODULE_DIR "${SACCADE_LIB_DIR}/saccade")
set(SACCADE_BIN_DIR "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_BINDIR}")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

add_library(saccade_options INTERFACE)
target_compile_options(saccade_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Werror
  -Wno-missing-field-initializers)  # designated initialisers leave out what has a default
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these two inside the standard library's own inlined code.
  target_compile_options(saccade_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow
    -Wno-array-bounds -Wno-free-nonheap-object)
endif()
# A product and a sum are rounded apart unless the code asks for a fused one: the same numbers from every compiler and
# instruction set, so that a vector kernel can be held against its reference to the bit.
target_compile_options(saccade_options INTERFACE -ffp-contract=off)
target_compile_definitions(saccade_options INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
# A batch of files compiled as one takes less than half of the time: headers are read, and templates made, once. Where
# files have local names in common, by what they are alike in, each is compiled alone.
if(CMAKE_UNITY_BUILD)
  target_compile_options(saccade_options INTERFACE -Wno-shadow)  # by another file's local names
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(saccade_options INTERFACE -Wno-subobject-linkage)  # of types local to a file of the batch
  endif()
endif()
if(SACCADE_SANITIZE)
  target_compile_options(saccade_options INTERFACE -fsanitize=${SACCADE_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(saccade_options INTERFACE -fsanitize=${SACCADE_SANITIZE})
endif()
