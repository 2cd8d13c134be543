#include "grpc/grpc_server.hpp"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/error.hpp"
#include "base/log.hpp"
#include "grpc/access.hpp"
#include "grpc/bind_failure.hpp"
#include "grpc/service.hpp"

namespace saccade::serve {
namespace {

std::string address_of(const GrpcOptions& options) {
  const bool is_v6 = options.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", options.host, is_v6 ? "]" : "", options.port);
}

/// Once per process. What a client sends badly is an error to these libraries, which write it to standard error.
void prepare_libraries() {
  static const bool kIsPrepared = [] {
    gpr_set_log_function([](gpr_log_func_args* args) { log(LogLevel::kDebug, "gRPC: {}", args->message); });
    google::protobuf::SetLogHandler([](google::protobuf::LogLevel /*level*/, const char* /*file*/, int /*line*/,
                                       const std::string& message) { log(LogLevel::kDebug, "protobuf: {}", message); });
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    return true;
  }();
  (void)kIsPrepared;
}

/// The bounds on what clients may take of the machine.
void limit(grpc::ServerBuilder& builder, const GrpcOptions& options) {
  constexpr int kMostStreams = 1024;  // of a connection
  constexpr int kMostThreads = 8;     // of the reflection service, which has one per stream
  constexpr int kIdle = 75'000;
  constexpr int kHandshake = 10'000;
  constexpr int kPing = 20'000;
  builder.SetMaxReceiveMessageSize(static_cast<int>(
      std::min<std::size_t>(options.most_bytes, static_cast<std::size_t>(std::numeric_limits<int>::max()))));
  builder.SetResourceQuota(
      grpc::ResourceQuota("saccade").Resize(options.most_pending_bytes).SetMaxThreads(kMostThreads));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreams);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdle);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshake);
  // Finds clients that have gone without a word.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kIdle);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPing);
  // A compressed message may become a thousand times as long.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
}

class Server final : public GrpcServer {
 public:
  Server(const GrpcOptions& options, Repository& models, MemoryRegions& regions) : service_(options, models, regions) {
    prepare_libraries();
    grpc::ServerBuilder builder;
    limit(builder, options);
    // Otherwise a second server takes a part of the connections.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort(address_of(options), credentials(options), &port_);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ != nullptr) return;
    const std::string reason = bind_failure(options.host, options.port);
    if (reason.empty() && !options.certificate.empty())
      fail(ErrorCode::kInvalidFile, "can't use the certificate {} with the private key {}", options.certificate,
           options.key);
    fail(ErrorCode::kIo, "can't listen on {}: {}", address_of(options), reason.empty() ? "gRPC refuses it" : reason);
  }
  ~Server() override {
    // Has no effect after drain().
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const override { return port_; }

  void drain() override {
    server_->GetHealthCheckService()->SetServingStatus(false);
    service_.drain();
    // What is left are streams of the services of gRPC, and clients in the middle of a request.
    constexpr std::chrono::seconds kPatience{1};
    server_->Shutdown(std::chrono::system_clock::now() + kPatience);
  }

 private:
  InferenceService service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

std::unique_ptr<GrpcServer> listen(const GrpcOptions& options, Repository& models, MemoryRegions& regions) {
  return std::make_unique<Server>(options, models, regions);
}

}  // namespace saccade::serve
