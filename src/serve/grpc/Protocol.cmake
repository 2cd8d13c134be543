# saccade_inference_protocol: the C++ of grpc_predict_v2.proto, generated while building.
set(protocol_source "${CMAKE_CURRENT_LIST_DIR}/grpc_predict_v2.proto")
set(protocol_folder "${PROJECT_BINARY_DIR}/inference-protocol")
file(MAKE_DIRECTORY "${protocol_folder}")
set(protocol_files "")
foreach(kind IN ITEMS pb grpc.pb)
  list(APPEND protocol_files "${protocol_folder}/grpc_predict_v2.${kind}.cc" "${protocol_folder}/grpc_predict_v2.${kind}.h")
endforeach()

add_custom_command(
  OUTPUT ${protocol_files}
  COMMAND protobuf::protoc --cpp_out "${protocol_folder}" --grpc_out "${protocol_folder}"
    "--plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN}" -I "${CMAKE_CURRENT_LIST_DIR}" grpc_predict_v2.proto
  DEPENDS "${protocol_source}"
  COMMENT "Generating the Open Inference Protocol"
  VERBATIM)
# Generated code is compiled without warnings and included as a system header.
add_library(saccade_inference_protocol STATIC ${protocol_files})
target_compile_options(saccade_inference_protocol PRIVATE -w)
target_include_directories(saccade_inference_protocol SYSTEM PUBLIC "${protocol_folder}")
target_link_libraries(saccade_inference_protocol PUBLIC protobuf::libprotobuf grpcpp)
