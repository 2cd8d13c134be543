# saccade_onnx_schema: the C++ of ONNX's protobuf schema, generated while building from the pinned file that
# script/fetch-onnx-schema fetches once per build tree.
set(SACCADE_ONNX_PROTO "" CACHE FILEPATH "An onnx.proto to use instead of fetching the pinned one")

set(schema_folder "${PROJECT_BINARY_DIR}/onnx-schema")
if(SACCADE_ONNX_PROTO)
  configure_file("${SACCADE_ONNX_PROTO}" "${schema_folder}/onnx.proto" COPYONLY)
else()
  execute_process(COMMAND "${PROJECT_SOURCE_DIR}/script/fetch-onnx-schema" "${schema_folder}"
                  COMMAND_ERROR_IS_FATAL ANY)
endif()

add_custom_command(
  OUTPUT "${schema_folder}/onnx.pb.cc" "${schema_folder}/onnx.pb.h"
  COMMAND protobuf::protoc --cpp_out "${schema_folder}" -I "${schema_folder}" onnx.proto
  DEPENDS "${schema_folder}/onnx.proto"
  COMMENT "Generating the schema of ONNX files"
  VERBATIM)
# Generated code is compiled without warnings and included as a system header.
add_library(saccade_onnx_schema STATIC "${schema_folder}/onnx.pb.cc" "${schema_folder}/onnx.pb.h")
target_compile_options(saccade_onnx_schema PRIVATE -w)
target_include_directories(saccade_onnx_schema SYSTEM PUBLIC "${schema_folder}")
target_link_libraries(saccade_onnx_schema PUBLIC protobuf::libprotobuf-lite)
