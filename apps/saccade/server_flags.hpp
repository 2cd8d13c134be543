#pragma once

#include <saccade/sinks.hpp>
#include <string>
#include <vector>

#include "flags/binder.hpp"

namespace saccade {
struct HttpOptions;
}  // namespace saccade
namespace saccade::serve {
struct GrpcOptions;
}  // namespace saccade::serve

namespace saccade::app {

/// Where a server of the run listens.
struct ServerAddress {
  std::string host;
  int port = -1;  ///< negative: nowhere

  bool is_given() const { return port >= 0; }
};

/// The values of --metrics and --preview, and of the flags that protect them.
struct ServerFlags {
  ServerAddress metrics;
  ServerAddress preview;
  std::vector<std::string> tls;  ///< the files of the certificate and its key
  std::string token_file;
  bool insecure = false;

  void bind(FlagBinder& binder);
  /// Throws UsageError if others could reach a server without protection, or there is none to protect.
  void check() const;
  /// The token in the file; empty without --token-file. Throws Error, also if a file of --tls can't be read.
  std::string token() const;
  /// Of the preview, which is given. Throws Error.
  PreviewOptions preview_options() const;
};

/// The values of the flags of `serve` that say where it listens and who may use it.
struct ServeAddressFlags {
  ServerAddress http;
  ServerAddress grpc;
  std::vector<std::string> tls;  ///< the files of the certificate and its key
  std::string client_ca;
  std::string token_file;
  bool insecure = false;

  void bind(FlagBinder& binder);
  /// Throws UsageError if others could reach the server without protection.
  void check() const;
  /// Throws Error if a file can't be read or holds no token.
  HttpOptions options() const;
  /// Of gRPC, which is given. Throws Error as options().
  serve::GrpcOptions grpc_options() const;
};

}  // namespace saccade::app
