# saccade_folder(NAME DIR PARTS...): src/DIR (src/NAME where it is empty) as a room's folder.  Sets `sources`, every .cpp
# directly in it and in its folders PARTS, and `root`, an include directory from which it is seen as "NAME/file.hpp" and
# nothing else is; `id` is NAME as targets have it.
macro(saccade_folder name dir)
  set(folder "${PROJECT_SOURCE_DIR}/src/${dir}")
  if("${dir}" STREQUAL "")
    set(folder "${PROJECT_SOURCE_DIR}/src/${name}")
  endif()
  string(REPLACE "/" "_" id "${name}")
  set(root "${PROJECT_BINARY_DIR}/rooms/${id}")
  get_filename_component(parent "${root}/${name}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${folder}" "${root}/${name}" SYMBOLIC)
  set(patterns "${folder}/*.cpp")
  foreach(part ${ARGN})
    list(APPEND patterns "${folder}/${part}/*.cpp")
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
endmacro()

# saccade_room(NAME [DIR dir] [PARTS folders...] [DEPENDS rooms...] [LIBRARIES libs...])
#
# One room: every .cpp directly in the folder and in its PARTS.  A room is included as "NAME/file.hpp", and only the rooms
# that it depends on (and theirs) are on its include path, so that a forbidden include fails to build.  A folder inside
# another is a room of its own, "measure/bench"; the target is room_measure_bench.
function(saccade_room name)
  cmake_parse_arguments(ARG "" "DIR" "PARTS;DEPENDS;LIBRARIES" ${ARGN})
  saccade_folder(${name} "${ARG_DIR}" ${ARG_PARTS})
  add_library(room_${id} OBJECT ${sources})
  target_include_directories(room_${id} PUBLIC "${root}" "${PROJECT_SOURCE_DIR}/include")
  list(TRANSFORM ARG_DEPENDS PREPEND room_)
  list(TRANSFORM ARG_DEPENDS REPLACE "/" "_" OUTPUT_VARIABLE rooms)
  target_link_libraries(room_${id} PUBLIC saccade_options ${rooms} ${ARG_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY SACCADE_ROOMS room_${id})
endfunction()

# saccade_use(TARGET SCOPE ROOMS...): TARGET includes rooms whose objects it finds in libsaccade.
function(saccade_use target scope)
  list(TRANSFORM ARGN REPLACE "/" "_" OUTPUT_VARIABLE rooms)
  foreach(room IN LISTS rooms)
    target_include_directories(${target} ${scope} $<TARGET_PROPERTY:room_${room},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
endfunction()

# saccade_module(NAME [DIR dir] [DEPENDS rooms...] [LIBRARIES libs...])
#
# A room that drags in a heavy library: a shared object, opened by base/module.hpp when first needed.
function(saccade_module name)
  cmake_parse_arguments(ARG "" "DIR" "DEPENDS;LIBRARIES" ${ARGN})
  saccade_folder(${name} "${ARG_DIR}")
  add_library(module_${name} MODULE ${sources})
  target_include_directories(module_${name} PRIVATE "${root}" "${PROJECT_SOURCE_DIR}/include")
  saccade_use(module_${name} PRIVATE ${ARG_DEPENDS})
  target_link_libraries(module_${name} PRIVATE saccade_options saccade ${ARG_LIBRARIES})
  set_target_properties(module_${name} PROPERTIES
    OUTPUT_NAME ${name} PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${SACCADE_MODULE_DIR}"
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/..")
  set_target_properties(module_${name} PROPERTIES SACCADE_DIR "${ARG_DIR}" SACCADE_DEPENDS "${ARG_DEPENDS}")
  set_property(GLOBAL APPEND PROPERTY SACCADE_MODULES module_${name})
endfunction()

# saccade_module_part(MODULE PART [DEPENDS parts...] [LIBRARIES libs...])
#
# The folder PART of a module. It is included as "MODULE/PART/file.hpp". On its include path are the rooms that the module
# depends on and the parts that it names (and theirs), nothing else of the module, and LIBRARIES are those of the part.
# Files in the module's own folder may include every part. A part without .cpp files is headers only.
function(saccade_module_part module part)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBRARIES" ${ARGN})
  get_target_property(dir module_${module} SACCADE_DIR)
  get_target_property(rooms module_${module} SACCADE_DEPENDS)
  if(dir)
    set(dir "${dir}/${part}")
  else()
    set(dir "")
  endif()
  saccade_folder(${module}/${part} "${dir}")
  set(target module_${module}_${part})
  if(NOT sources)
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${root}")
    target_link_libraries(module_${module} PRIVATE ${target})
    return()
  endif()
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PUBLIC "${root}" "${PROJECT_SOURCE_DIR}/include")
  saccade_use(${target} PRIVATE ${rooms})
  list(TRANSFORM ARG_DEPENDS PREPEND module_${module}_ OUTPUT_VARIABLE parts)
  target_link_libraries(${target} PUBLIC saccade_options ${parts} ${ARG_LIBRARIES})
  target_link_libraries(module_${module} PRIVATE ${target})
endfunction()
