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
#include <new>

#include "base/error.hpp"
#include "base/log.hpp"
#include "grpc/access.hpp"
#include "grpc/connections.hpp"
#include "grpc/listener.hpp"
#include "grpc/service.hpp"

namespace saccade::serve {
namespace {

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
  Server(const GrpcOptions& options, Repository& models, MemoryRegions& regions)
      : service_(options, models, regions,
                 [this](const std::string& peer) { return connections_.received_bytes(peer); }),
        listener_(options.host, options.port) {
    using Builder = grpc::ServerBuilder::experimental_type;
    prepare_libraries();
    grpc::ServerBuilder builder;
    limit(builder, options);
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(Builder::ExternalConnectionType::FROM_FD,
                                                                     credentials(options));
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr && !options.certificate.empty())
      fail(ErrorCode::kInvalidFile, "can't use the certificate {} with the private key {}", options.certificate,
           options.key);
    if (server_ == nullptr) fail(ErrorCode::kInternal, "gRPC does not start");
    listener_.start([this](int descriptor) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.fd = descriptor;
      try {
        connections_.add(descriptor);
      } catch (const std::bad_alloc&) {  // its messages have the time of the largest
      }
      acceptor_->HandleNewConnection(&connection);
    });
  }
  ~Server() override {
    listener_.close();
    // Has no effect after drain().
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const override { return listener_.port(); }

  void drain() override {
    server_->GetHealthCheckService()->SetServingStatus(false);
    service_.drain();
    listener_.close();
    // What is left are streams of the services of gRPC, and clients in the middle of a request.
    constexpr std::chrono::seconds kPatience{1};
    server_->Shutdown(std::chrono::system_clock::now() + kPatience);
  }

 private:
  Connections connections_;
  InferenceService service_;
  Listener listener_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

std::unique_ptr<GrpcServer> listen(const GrpcOptions& options, Repository& models, MemoryRegions& regions) {
  return std::make_unique<Server>(options, models, regions);
}

}  // namespace saccade::serve
