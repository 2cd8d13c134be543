#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "serve/access_log.hpp"
#include "serve/memory_regions.hpp"
#include "serve/repository.hpp"

namespace saccade::serve {

struct GrpcOptions {
  std::string host;                   ///< an IP address of this machine; "0.0.0.0" and "::": all of them
  int port = 0;                       ///< 0: any free one
  std::string certificate;            ///< PEM file: TLS with this chain of certificates; empty: no TLS
  std::string key;                    ///< PEM file of its private key, without password
  std::string client_ca;              ///< PEM file: clients must have a certificate of this authority; empty: need none
  std::string token;                  ///< clients send the metadata "authorization: Bearer TOKEN"; empty: need not
  std::size_t most_bytes = 64 << 20;  ///< of a message; RESOURCE_EXHAUSTED beyond
  /// Of all requests, and of responses that are not sent yet; RESOURCE_EXHAUSTED beyond.
  std::size_t most_pending_bytes = std::size_t{1} << 30;
  AccessLog* access_log = nullptr;  ///< outlives the server; null: none
};

/// Serves until it is destroyed, which cancels what has no response yet.
class GrpcServer {
 public:
  virtual ~GrpcServer() = default;
  virtual int port() const = 0;
  /// Takes no more connections and requests, and returns once those that were taken have their responses.
  virtual void drain() = 0;
};

/// Interface of the grpc module (gRPC, protobuf); get it with module<GrpcModule>("grpc").
struct GrpcModule {
  /// Serves the Open Inference Protocol (KServe v2) for MODELS by gRPC, with tensors in REGIONS, on threads of its own.
  /// Both outlive the server. Throws Error: (kIo) naming the address if it cannot be used, (kInvalidFile) naming the
  /// certificate.
  std::unique_ptr<GrpcServer> (*listen)(const GrpcOptions& options, Repository& models, MemoryRegions& regions);
};

}  // namespace saccade::serve
