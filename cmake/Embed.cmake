# saccade_embed(TARGET NAME FILE)
#
# A text file inside the binary: TARGET gets `#include "embedded/NAME.hpp"`, which declares
# `inline constexpr std::string_view saccade::embedded::NAME`.  A change of the file triggers a build.
function(saccade_embed target name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  saccade_embed_text(${target} ${name} "${text}" "")
endfunction()

# saccade_embed_page(TARGET NAME FILE)
#
# As saccade_embed, for an HTML page. {{PART}} stands for the text of the file PART beside the page, of which all are one
# text in the binary.  The header has also NAME_policy: a Content-Security-Policy that allows the page's own style and
# script by their hashes, and requests to its own server.
function(saccade_embed_page target name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  get_filename_component(folder "${file}" DIRECTORY)
  file(READ "${file}" text)
  string(REGEX MATCHALL "{{[^{}\n]+}}" places "${text}")
  foreach(place IN LISTS places)
    string(REGEX REPLACE "[{}]" "" part "${place}")
    get_filename_component(part "${part}" ABSOLUTE BASE_DIR "${folder}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${part}")
    file(READ "${part}" inserted)
    string(REPLACE "${place}" "${inserted}" text "${text}")
  endforeach()
  set(policy "default-src 'none'; connect-src 'self'; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
  foreach(element IN ITEMS style script)
    string(FIND "${text}" "<${element}>" begin)
    string(FIND "${text}" "</${element}>" end)
    string(LENGTH "<${element}>" tag)
    math(EXPR begin "${begin} + ${tag}")
    math(EXPR length "${end} - ${begin}")
    string(SUBSTRING "${text}" ${begin} ${length} inside)
    saccade_hash(hash "${inside}")
    string(APPEND policy "; ${element}-src '${hash}'")
  endforeach()
  saccade_embed_text(${target} ${name} "${text}"
    "\ninline constexpr std::string_view ${name}_policy =\n    \"${policy}\";")
endfunction()

# Sets RESULT to the hash of TEXT as a Content-Security-Policy has it.
function(saccade_hash result text)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(SHA256 digits "${text}")
  set(base64 "")
  # Three hexadecimal digits are two of base 64. Two zeros complete the last three.
  foreach(at RANGE 0 63 3)
    string(SUBSTRING "${digits}00" ${at} 3 three)
    math(EXPR high "0x${three} / 64")
    math(EXPR low "0x${three} % 64")
    string(SUBSTRING "${alphabet}" ${high} 1 first)
    string(SUBSTRING "${alphabet}" ${low} 1 second)
    string(APPEND base64 "${first}${second}")
  endforeach()
  string(SUBSTRING "${base64}" 0 43 base64)
  set(${result} "sha256-${base64}=" PARENT_SCOPE)
endfunction()

function(saccade_embed_text target name text more)
  string(FIND "${text}" ")embedded\"" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "the text '${name}' holds the end of a raw string literal")
  endif()
  set(SACCADE_EMBED_NAME "${name}")
  set(SACCADE_EMBED_TEXT "${text}")
  set(SACCADE_EMBED_MORE "${more}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/embedded.hpp.in" "${PROJECT_BINARY_DIR}/generated/embedded/${name}.hpp"
    @ONLY)
  target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/generated")
endfunction()
