#include "http/http_server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <cstring>
#include <thread>

#include "base/descriptors.hpp"
#include "base/error.hpp"
#include "base/host_port.hpp"
#include "base/log.hpp"
#include "http/connection.hpp"

namespace saccade::http {
namespace {

namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;

// The end of a run waits no longer for clients in the middle of a request.
constexpr std::chrono::milliseconds kEndPatience{2000};
// Of requests that were coming in when the server was drained.
constexpr std::chrono::milliseconds kDrainPatience{10'000};

class Server final : public HttpServer {
 public:
  Server(const HttpOptions& options, std::vector<HttpRoute> routes)
      : shared_(std::make_shared<Shared>(options, std::move(routes))),
        work_(net::make_work_guard(shared_->io)),
        acceptor_(net::make_strand(shared_->io)),
        retry_(acceptor_.get_executor()) {
    bind(options);
    accept();
    for (std::size_t i = 0; i < std::max<std::size_t>(options.threads, 1); ++i)
      threads_.emplace_back([this] { run(); });
  }
  ~Server() override {
    stop_accepting();
    if (!shared_->end_all(Shared::When::kAfterReply, kEndPatience))
      shared_->end_all(Shared::When::kAtOnce, kEndPatience);
    shared_->workers.join();
    shared_->io.stop();
    for (std::thread& thread : threads_) thread.join();
    // What is left refers to connections, and these to the queue that it is in.
    shared_->io.restart();
    shared_->io.poll();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const override { return port_; }

  void drain() override {
    stop_accepting();
    if (shared_->end_all(Shared::When::kAfterReply, kDrainPatience)) return;
    while (!shared_->end_all(Shared::When::kUnlessRunning, kEndPatience)) {
    }
  }

 private:
  void run() {
    for (;;) {
      try {
        shared_->io.run();
        return;
      } catch (const std::exception& error) {  // the connection that it belongs to ends
        log(LogLevel::kWarning, "a connection has failed: {}", error.what());
      }
    }
  }

  void bind(const HttpOptions& options) {
    error_code error;
    const auto address = net::ip::make_address(options.host, error);
    const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(options.port));
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(net::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(net::socket_base::max_listen_connections, error);
    if (error)
      fail(ErrorCode::kIo, "can't listen on {}: {}", host_port(options.host, options.port),
           std::strerror(error.value()));
    port_ = acceptor_.local_endpoint().port();
  }

  void accept() {
    acceptor_.async_accept(net::make_strand(shared_->io), [this](error_code error, tcp::socket socket) {
      if (error == net::error::operation_aborted || shared_->is_ending()) return;
      if (!error) {
        try {
          if (!is_reserved(socket.native_handle())) serve(shared_, std::move(socket));
        } catch (const std::exception& failure) {
          log(LogLevel::kWarning, "a connection can't be served: {}", failure.what());
        }
        return accept();
      }
      // Without descriptors it would fail again at once.
      constexpr std::chrono::milliseconds kPause{100};
      retry_.expires_after(kPause);
      retry_.async_wait([this](error_code ended) {
        if (!ended) accept();
      });
    });
  }

  void stop_accepting() {
    net::post(acceptor_.get_executor(), [this] {
      error_code ignored;
      acceptor_.close(ignored);
      retry_.cancel();
    });
  }

  std::shared_ptr<Shared> shared_;
  // A connection that waits for a handler's reply has no operation of its own.
  net::executor_work_guard<net::io_context::executor_type> work_;
  tcp::acceptor acceptor_;
  net::steady_timer retry_;
  int port_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<HttpServer> listen(const HttpOptions& options, std::vector<HttpRoute> routes) {
  return std::make_unique<Server>(options, std::move(routes));
}

}  // namespace saccade::http
