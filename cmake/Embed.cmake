# saccade_embed(TARGET NAME FILE)
#
# A text file inside the binary: TARGET gets `#include "embedded/NAME.hpp"`, which declares
# `inline constexpr std::string_view saccade::embedded::NAME`.  A change of the file triggers a build.
function(saccade_embed target name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  string(FIND "${text}" ")embedded\"" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${file} holds the end of a raw string literal")
  endif()
  set(SACCADE_EMBED_NAME "${name}")
  set(SACCADE_EMBED_TEXT "${text}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/embedded.hpp.in" "${PROJECT_BINARY_DIR}/generated/embedded/${name}.hpp"
    @ONLY)
  target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/generated")
endfunction()
