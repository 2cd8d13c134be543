// Round trips of one request at a time over one connection, beside those of a bare server that returns bytes of the
// same size: what docs/serve.md says about the overhead of a request. bench/serve.py overhead starts the server.
// SACCADE_HTTP and SACCADE_GRPC are its ports on this host, SACCADE_MODEL is a model with an input of 16 floats.
#include <benchmark/benchmark.h>
#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "grpc_predict_v2.grpc.pb.h"

namespace {

using inference::GRPCInferenceService;

constexpr std::size_t kElements = 16;
constexpr std::size_t kBytes = kElements * sizeof(float);

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::abort();
}

std::string setting(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) fail(name);
  return text;
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

/// A socket that sends at once.
class Socket {
 public:
  explicit Socket(int file) : file_(file) {
    const int yes = 1;
    setsockopt(file_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  ~Socket() { close(file_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int file() const { return file_; }
  void send(std::string_view bytes) const {
    if (::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) fail("send");
  }
  /// What arrives, at least one byte; empty: the peer has closed the connection.
  std::string_view receive() {
    const ssize_t count = recv(file_, buffer_.data(), buffer_.size(), 0);
    if (count < 0) fail("recv");
    return {buffer_.data(), static_cast<std::size_t>(count)};
  }

 private:
  int file_;
  std::array<char, 4096> buffer_{};
};

/// Sends REPLY for each piece that it receives over its one connection.
class BareServer {
 public:
  explicit BareServer(std::string reply) : listener_(socket(AF_INET, SOCK_STREAM, 0)), reply_(std::move(reply)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener_.file(), reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_.file(), 1) != 0)
      fail("bind");
    getsockname(listener_.file(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      Socket connection(accept(listener_.file(), nullptr, nullptr));
      while (!connection.receive().empty()) connection.send(reply_);
    });
  }
  ~BareServer() { thread_.join(); }
  BareServer(const BareServer&) = delete;
  BareServer& operator=(const BareServer&) = delete;
  int port() const { return port_; }

 private:
  Socket listener_;
  std::string reply_;
  int port_ = 0;
  std::thread thread_;
};

/// A client of a server that replies to the same request with as many bytes each time.
class HttpClient {
 public:
  explicit HttpClient(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const sockaddr_in address = loopback(port);
    if (connect(socket_.file(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("connect");
    const std::string head =
        R"({"inputs":[{"name":"x","shape":[1,16],"datatype":"FP32","parameters":{"binary_data_size":64}}],)"
        R"("parameters":{"binary_data_output":true}})";
    request_ = "POST /v2/models/" + setting("SACCADE_MODEL") + "/infer HTTP/1.1\r\nHost: localhost\r\n" +
               "Inference-Header-Content-Length: " + std::to_string(head.size()) +
               "\r\nContent-Length: " + std::to_string(head.size() + kBytes) + "\r\n\r\n" + head +
               std::string(kBytes, '\0');
  }

  /// The reply to the first request of a connection.
  std::string first() {
    socket_.send(request_);
    std::string reply;
    for (;;) {
      reply += socket_.receive();
      const std::size_t body = reply.find("\r\n\r\n");
      constexpr std::string_view kLength = "Content-Length: ";
      const std::size_t length = reply.find("\r\n" + std::string(kLength));
      if (body == std::string::npos || length == std::string::npos) continue;
      std::size_t size = 0;
      std::from_chars(reply.data() + length + 2 + kLength.size(), reply.data() + body, size);
      if (reply.size() < body + 4 + size) continue;
      if (!reply.starts_with("HTTP/1.1 200")) fail(reply.c_str());
      return reply;
    }
  }

  void ask(std::size_t reply_bytes) {
    socket_.send(request_);
    for (std::size_t received = 0; received < reply_bytes;) received += socket_.receive().size();
  }

 private:
  Socket socket_;
  std::string request_;
};

void rest(benchmark::State& state) {
  HttpClient client(std::stoi(setting("SACCADE_HTTP")));
  const std::size_t bytes = client.first().size();
  for (auto _ : state) client.ask(bytes);
}

void bare_socket(benchmark::State& state) {
  const std::string reply = HttpClient(std::stoi(setting("SACCADE_HTTP"))).first();
  BareServer server(reply);
  HttpClient client(server.port());
  for (auto _ : state) client.ask(reply.size());
}

inference::ModelInferRequest grpc_request() {
  inference::ModelInferRequest request;
  request.set_model_name(setting("SACCADE_MODEL"));
  auto& input = *request.add_inputs();
  input.set_name("x");
  input.set_datatype("FP32");
  input.add_shape(1);
  input.add_shape(kElements);
  request.add_raw_input_contents(std::string(kBytes, '\0'));
  return request;
}

void ask_by_grpc(benchmark::State& state, const std::string& address) {
  const auto stub = GRPCInferenceService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  const inference::ModelInferRequest request = grpc_request();
  inference::ModelInferResponse response;
  for (auto _ : state) {
    grpc::ClientContext context;
    const grpc::Status status = stub->ModelInfer(&context, request, &response);
    if (!status.ok()) fail(status.error_message().c_str());
  }
}

void grpc_served(benchmark::State& state) { ask_by_grpc(state, "127.0.0.1:" + setting("SACCADE_GRPC")); }

/// Returns its input at once.
class BareService final : public GRPCInferenceService::CallbackService {
  grpc::ServerUnaryReactor* ModelInfer(grpc::CallbackServerContext* context,
                                       const inference::ModelInferRequest* request,
                                       inference::ModelInferResponse* response) override {
    response->set_model_name(request->model_name());
    auto& output = *response->add_outputs();
    output.set_name("y");
    output.set_datatype("FP32");
    output.add_shape(1);
    output.add_shape(kElements);
    response->add_raw_output_contents(request->raw_input_contents(0));
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

void bare_grpc(benchmark::State& state) {
  BareService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ask_by_grpc(state, "127.0.0.1:" + std::to_string(port));
  server->Shutdown();
}

BENCHMARK(rest)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(bare_socket)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(grpc_served)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(bare_grpc)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
