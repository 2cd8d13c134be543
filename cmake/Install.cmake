# cmake --install: bin/saccade with its completions and manual page, the library and its modules, headers, and the
# package files of find_package(saccade).
include(CMakePackageConfigHelpers)

install(TARGETS saccade EXPORT saccadeTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS saccade_app RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET flag_documents)
  set(generated "${PROJECT_BINARY_DIR}/generated")
  install(FILES "${generated}/saccade.bash" RENAME saccade
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${generated}/saccade.zsh" RENAME _saccade DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${generated}/saccade.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
  install(FILES "${generated}/saccade.man" RENAME saccade.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()
get_property(saccade_modules GLOBAL PROPERTY SACCADE_MODULES)
install(TARGETS ${saccade_modules} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/saccade")
install(FILES "${PROJECT_SOURCE_DIR}/models/scene_model.onnx" "${PROJECT_SOURCE_DIR}/models/scene_model.toml"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/saccade")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/saccade" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

set(saccade_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/saccade")
install(EXPORT saccadeTargets NAMESPACE saccade:: DESTINATION "${saccade_package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/saccadeConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/saccadeConfig.cmake" INSTALL_DESTINATION "${saccade_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/saccadeConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/saccadeConfig.cmake" "${PROJECT_BINARY_DIR}/saccadeConfigVersion.cmake"
  DESTINATION "${saccade_package_dir}")
