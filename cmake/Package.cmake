# cpack, for script/package: a Debian package, and an archive that runs wherever it is unpacked.
set(CPACK_PACKAGE_NAME saccade)
set(CPACK_PACKAGE_VENDOR Saccade)
set(SACCADE_MAINTAINER "Saccade maintainers <maintainers@saccade.invalid>" CACHE STRING
  "Name and mail address in the Debian package")
set(CPACK_PACKAGE_CONTACT "${SACCADE_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "inference engine for computer-vision models on video")
set(CPACK_PACKAGE_DESCRIPTION "Runs ONNX models on images, folders and videos, on the
processor and on NVIDIA GPUs. Preprocessing, network and post-processing
are one execution plan.
.
This package contains the command, the C++ library with its headers, and a
small model for the demo. A GPU needs NVIDIA's driver and NVRTC at run time.")
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_VERBATIM_VARIABLES ON)

string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" system)
set(CPACK_PACKAGE_FILE_NAME "saccade-${PROJECT_VERSION}-${system}")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# The libraries that the ELF files name, with the versions that have their symbols.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${SACCADE_LIB_DIR}")
# Programs that link the library depend on this version; the linker's cache is updated by a trigger, as policy has it.
configure_file("${PROJECT_SOURCE_DIR}/cmake/debian/shlibs.in" "${PROJECT_BINARY_DIR}/debian/shlibs" @ONLY)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/debian/triggers"
  "${PROJECT_BINARY_DIR}/debian/shlibs")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Policy requires a change log. SOURCE_DATE_EPOCH makes the package reproducible.
string(TIMESTAMP SACCADE_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file("${PROJECT_SOURCE_DIR}/cmake/debian/changelog.in" "${PROJECT_BINARY_DIR}/changelog" @ONLY)
execute_process(COMMAND gzip -9nc "${PROJECT_BINARY_DIR}/changelog" OUTPUT_FILE "${PROJECT_BINARY_DIR}/changelog.gz"
  COMMAND_ERROR_IS_FATAL ANY)
install(FILES "${PROJECT_BINARY_DIR}/changelog.gz" DESTINATION "${saccade_doc_dir}")
include(CPack)
