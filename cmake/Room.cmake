# saccade_folder(NAME DIR PARTS...): src/DIR (src/NAME where it is empty) as a room's folder.  Sets `sources`, every .cpp
# directly in it and in its folders PARTS, and `root`, an include directory from which it is seen as "LEAF/file.hpp" and
# nothing else is.
macro(saccade_folder name dir)
  set(folder "${PROJECT_SOURCE_DIR}/src/${dir}")
  if("${dir}" STREQUAL "")
    set(folder "${PROJECT_SOURCE_DIR}/src/${name}")
  endif()
  set(root "${PROJECT_BINARY_DIR}/rooms/${name}")
  get_filename_component(leaf "${folder}" NAME)
  file(MAKE_DIRECTORY "${root}")
  file(CREATE_LINK "${folder}" "${root}/${leaf}" SYMBOLIC)
  set(patterns "${folder}/*.cpp")
  foreach(part ${ARGN})
    list(APPEND patterns "${folder}/${part}/*.cpp")
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
endmacro()

# saccade_room(NAME [DIR dir] [PARTS folders...] [DEPENDS rooms...] [LIBRARIES libs...])
#
# One room of the house: every .cpp directly in the folder and in its PARTS.  A room is included as "ROOM/file.hpp", and
# only the rooms that it depends on (and theirs) are on its include path, so that a forbidden include fails to build.
function(saccade_room name)
  cmake_parse_arguments(ARG "" "DIR" "PARTS;DEPENDS;LIBRARIES" ${ARGN})
  saccade_folder(${name} "${ARG_DIR}" ${ARG_PARTS})
  add_library(room_${name} OBJECT ${sources})
  target_include_directories(room_${name} PUBLIC "${root}" "${PROJECT_SOURCE_DIR}/include")
  list(TRANSFORM ARG_DEPENDS PREPEND room_ OUTPUT_VARIABLE rooms)
  target_link_libraries(room_${name} PUBLIC saccade_options ${rooms} ${ARG_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY SACCADE_ROOMS room_${name})
endfunction()

# saccade_module(NAME DIR dir [DEPENDS rooms...] [LIBRARIES libs...])
#
# A room that drags in a heavy library: a shared object, opened by base/module.hpp when first needed.
function(saccade_module name)
  cmake_parse_arguments(ARG "" "DIR" "DEPENDS;LIBRARIES" ${ARGN})
  saccade_folder(${name} "${ARG_DIR}")
  add_library(module_${name} MODULE ${sources})
  target_include_directories(module_${name} PRIVATE "${root}" "${PROJECT_SOURCE_DIR}/include")
  foreach(room IN LISTS ARG_DEPENDS)
    target_include_directories(module_${name} PRIVATE $<TARGET_PROPERTY:room_${room},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
  target_link_libraries(module_${name} PRIVATE saccade_options saccade ${ARG_LIBRARIES})
  set_target_properties(module_${name} PROPERTIES
    OUTPUT_NAME ${name} PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${SACCADE_MODULE_DIR}"
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/..")
  set_property(GLOBAL APPEND PROPERTY SACCADE_MODULES module_${name})
endfunction()
