# saccade_folder(NAME DIR PARTS...): the folder src/DIR (src/NAME by default) of a component. Sets `sources`, every .cpp in
# the folder and in its subfolders PARTS; `root`, an include directory that contains it as "NAME/file.hpp" and nothing
# else; and `id`, the form of NAME in target names.
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

# saccade_room(NAME [COLD] [DIR dir] [PARTS folders...] [DEPENDS rooms...] [LIBRARIES libs...])
#
# A component (docs/glossary.md): every .cpp in the folder and in its PARTS. It is included as "NAME/file.hpp". Only its
# transitive dependencies are on its include path, so that a forbidden include fails to build. A nested folder such as
# "measure/bench" is a component of its own, with the target room_measure_bench. COLD: see SACCADE_COLD_OPTIONS.
function(saccade_room name)
  cmake_parse_arguments(ARG "COLD" "DIR" "PARTS;DEPENDS;LIBRARIES" ${ARGN})
  saccade_folder(${name} "${ARG_DIR}" ${ARG_PARTS})
  add_library(room_${id} OBJECT ${sources})
  target_include_directories(room_${id} PUBLIC "${root}" "${PROJECT_SOURCE_DIR}/include")
  list(TRANSFORM ARG_DEPENDS PREPEND room_)
  list(TRANSFORM ARG_DEPENDS REPLACE "/" "_" OUTPUT_VARIABLE rooms)
  target_link_libraries(room_${id} PUBLIC saccade_options ${rooms} ${ARG_LIBRARIES})
  if(ARG_COLD)
    target_compile_options(room_${id} PRIVATE ${SACCADE_COLD_OPTIONS})
  endif()
  set_property(GLOBAL APPEND PROPERTY SACCADE_ROOMS room_${id})
endfunction()

# saccade_use(TARGET SCOPE ROOMS...): TARGET may include components that libsaccade contains.
function(saccade_use target scope)
  list(TRANSFORM ARGN REPLACE "/" "_" OUTPUT_VARIABLE rooms)
  foreach(room IN LISTS rooms)
    target_include_directories(${target} ${scope} $<TARGET_PROPERTY:room_${room},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
endfunction()

# saccade_module(NAME [DIR dir] [DEPENDS rooms...] [LIBRARIES libs...])
#
# A component with heavy dependencies: a shared object, opened by base/module.hpp when first needed.
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
# The subfolder PART of a module. It is included as "MODULE/PART/file.hpp". Its include path has the module's dependencies
# and the transitive DEPENDS of the part. LIBRARIES are linked to the part. Files in the module's own folder may include
# every part. A part without .cpp files is header-only.
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
