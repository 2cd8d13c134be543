#pragma once

#include <memory>

#include "serve/grpc_module.hpp"

namespace saccade::serve {

/// See GrpcModule::listen.
std::unique_ptr<GrpcServer> listen(const GrpcOptions& options, Repository& models, MemoryRegions& regions);

}  // namespace saccade::serve
