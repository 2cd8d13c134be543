#pragma once

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/support/status.h>
#include <grpcpp/support/string_ref.h>

#include <map>
#include <memory>
#include <string>

#include "serve/grpc_module.hpp"

namespace saccade::serve {

/// UNAUTHENTICATED if METADATA lacks the TOKEN, unless that is empty.
grpc::Status check_access(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata, const std::string& token);

/// The protection of a port by OPTIONS. With TLS it checks the token of every service before a message is read;
/// without, gRPC has no such check: InferenceService has its own. Throws Error if a file can't be read.
std::shared_ptr<grpc::ServerCredentials> credentials(const GrpcOptions& options);

}  // namespace saccade::serve
