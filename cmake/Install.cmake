# cmake --install: bin/saccade with its completions and manual page, the library and its modules, headers, the package
# files of find_package(saccade) and pkg-config, the demo's model and the documentation.
# The component "runtime" is what a Python wheel contains.
include(CMakePackageConfigHelpers)

install(TARGETS saccade EXPORT saccadeTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
  NAMELINK_COMPONENT development)
install(TARGETS saccade_app RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
if(TARGET flag_documents)
  set(generated "${PROJECT_BINARY_DIR}/generated")
  install(FILES "${generated}/saccade.bash" RENAME saccade
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  # Debian's zsh reads the completions of packages in a folder of its own.
  install(CODE [[
    set(saccade_zsh_folder site-functions)
    if(CMAKE_INSTALL_PREFIX MATCHES "/usr$")
      set(saccade_zsh_folder vendor-completions)
    endif()]])
  install(FILES "${generated}/saccade.zsh" RENAME _saccade
    DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/\${saccade_zsh_folder}")
  install(FILES "${generated}/saccade.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
  install(FILES "${generated}/saccade.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()
get_property(saccade_modules GLOBAL PROPERTY SACCADE_MODULES)
install(TARGETS ${saccade_modules} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/saccade" COMPONENT runtime)
install(TARGETS saccade_source RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}/saccade" COMPONENT runtime)
install(FILES "${PROJECT_SOURCE_DIR}/models/scene_model.onnx" "${PROJECT_SOURCE_DIR}/models/scene_model.toml"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/saccade" COMPONENT runtime)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/saccade" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

set(saccade_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/saccade")
install(EXPORT saccadeTargets NAMESPACE saccade:: DESTINATION "${saccade_package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/saccadeConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/saccadeConfig.cmake" INSTALL_DESTINATION "${saccade_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/saccadeConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/saccadeConfig.cmake" "${PROJECT_BINARY_DIR}/saccadeConfigVersion.cmake"
  DESTINATION "${saccade_package_dir}")
file(RELATIVE_PATH SACCADE_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${PROJECT_SOURCE_DIR}/cmake/saccade.pc.in" "${PROJECT_BINARY_DIR}/saccade.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/saccade.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# README.md refers to docs/ and examples/ beside it.
set(saccade_doc_dir "${CMAKE_INSTALL_DATADIR}/doc/saccade")
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/LICENSE"
  "${PROJECT_SOURCE_DIR}/cmake/debian/copyright" DESTINATION "${saccade_doc_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${saccade_doc_dir}"
  PATTERN "*.py" EXCLUDE PATTERN Doxyfile EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${saccade_doc_dir}"
  PATTERN __pycache__ EXCLUDE)
