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
  set_target_properties(module_${name} PROPERTIES SACCADE_FOLDER "${folder}" SACCADE_DEPENDS "${ARG_DEPENDS}")
  set_property(GLOBAL APPEND PROPERTY SACCADE_MODULES module_${name})
endfunction()

# saccade_module_part(MODULE PART [DEPENDS parts...])
#
# The folder PART of a module. It is included as "LEAF/PART/file.hpp", where LEAF is the module's folder. On its include
# path are the rooms that the module depends on and the parts that it names (and theirs), nothing else of the module.
# Files in the module's own folder may include every part.
function(saccade_module_part module part)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  get_target_property(folder module_${module} SACCADE_FOLDER)
  get_target_property(rooms module_${module} SACCADE_DEPENDS)
  get_filename_component(leaf "${folder}" NAME)
  set(root "${PROJECT_BINARY_DIR}/rooms/${module}_${part}")
  file(MAKE_DIRECTORY "${root}/${leaf}")
  file(CREATE_LINK "${folder}/${part}" "${root}/${leaf}/${part}" SYMBOLIC)
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/${part}/*.cpp")
  set(target module_${module}_${part})
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PUBLIC "${root}" "${PROJECT_SOURCE_DIR}/include")
  foreach(room IN LISTS rooms)
    target_include_directories(${target} PRIVATE $<TARGET_PROPERTY:room_${room},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
  list(TRANSFORM ARG_DEPENDS PREPEND module_${module}_ OUTPUT_VARIABLE parts)
  target_link_libraries(${target} PUBLIC saccade_options ${parts})
  target_link_libraries(module_${module} PRIVATE ${target})
endfunction()
