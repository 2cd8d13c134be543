#include "grpc/grpc_server.hpp"

namespace saccade::serve {
namespace {

constexpr GrpcModule kGrpcModule{.listen = listen};

}  // namespace
}  // namespace saccade::serve

extern "C" const saccade::serve::GrpcModule* saccade_module_grpc() { return &saccade::serve::kGrpcModule; }
