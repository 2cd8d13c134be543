#include "http/http_server.hpp"

#include <httplib.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/error.hpp"
#include "base/log.hpp"

namespace saccade::http {
namespace {

// Enough for a few scrapers: each connection holds a thread.
constexpr std::size_t kThreads = 4;
// A client that is slower is cut off. The end of a run waits for it.
constexpr int kPatience = 2;

std::string address_of(const HttpOptions& options) {
  const bool is_v6 = options.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", options.host, is_v6 ? "]" : "", options.port);
}

/// The reason of OpenSSL's first error.
std::string tls_reason() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (ERR_GET_LIB(error) == ERR_LIB_SYS) return std::strerror(ERR_GET_REASON(error));
  const char* reason = ERR_reason_error_string(error);
  return reason == nullptr ? "it is not a PEM file of that content" : reason;
}

/// Reads the files of OPTIONS. Throws Error.
void set_up_tls(SSL_CTX& context, const HttpOptions& options) {
  SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
  // OpenSSL would ask for a password on the terminal.
  SSL_CTX_set_default_passwd_cb(&context, [](char*, int, int, void*) { return 0; });
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(&context, options.certificate.c_str()) != 1)
    fail(ErrorCode::kInvalidFile, "can't use the certificate {}: {}", options.certificate, tls_reason());
  if (SSL_CTX_use_PrivateKey_file(&context, options.key.c_str(), SSL_FILETYPE_PEM) != 1)
    fail(ErrorCode::kInvalidFile, "can't use the private key {} with the certificate {}: {}", options.key,
         options.certificate, tls_reason());
}

std::unique_ptr<httplib::Server> make_server(const HttpOptions& options) {
  if (options.certificate.empty()) return std::make_unique<httplib::Server>();
  std::optional<Error> failure;  // must not pass through the library's constructor, which would leak
  auto server = std::make_unique<httplib::SSLServer>([&](SSL_CTX& context) {
    try {
      set_up_tls(context, options);
    } catch (const Error& error) {
      failure = error;
    }
    return !failure;
  });
  if (failure) throw *failure;
  if (!server->is_valid()) fail(ErrorCode::kDevice, "TLS can't be used: {}", tls_reason());
  return server;
}

/// Whether REQUEST has TOKEN, in a time that does not tell how much of it is right.
bool has_token(const httplib::Request& request, const std::string& token) {
  const std::string wanted = "Bearer " + token;
  const std::string given = request.get_header_value("Authorization");
  return given.size() == wanted.size() && CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) == 0;
}

class Server final : public HttpServer {
 public:
  Server(const HttpOptions& options, std::vector<HttpRoute> routes) : server_(make_server(options)) {
    configure();
    if (!options.token.empty()) require(options.token);
    for (HttpRoute& route : routes)
      server_->Get(route.path, [reply = std::move(route.reply)](const httplib::Request&, httplib::Response& response) {
        const HttpReply made = reply();
        response.status = made.status;
        response.set_content(made.body, made.type);
      });
    bind(options);
    thread_ = std::thread([this] {
      server_->listen_after_bind();
      has_ended_ = true;
    });
    // stop() has no effect before.
    while (!server_->is_running() && !has_ended_) std::this_thread::yield();
  }
  ~Server() override {
    server_->stop();
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const override { return port_; }

 private:
  void configure() {
    server_->new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    // The library's own options let a second process listen on the same port.
    server_->set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    // A connection that waits for its next request would hold a thread, and the end of a run.
    server_->set_keep_alive_max_count(1);
    server_->set_keep_alive_timeout(kPatience);
    server_->set_read_timeout(kPatience);
    server_->set_write_timeout(kPatience);
    server_->set_payload_max_length(0);
    server_->set_exception_handler([](const auto&, httplib::Response& response, const std::exception_ptr& thrown) {
      response.status = 500;
      try {
        std::rethrow_exception(thrown);
      } catch (const std::exception& error) {
        log(LogLevel::kWarning, "a request can't be served: {}", error.what());
      }
    });
  }

  void require(const std::string& token) {
    server_->set_pre_routing_handler([token](const httplib::Request& request, httplib::Response& response) {
      if (has_token(request, token)) return httplib::Server::HandlerResponse::Unhandled;
      response.status = 401;
      response.set_header("WWW-Authenticate", "Bearer");
      return httplib::Server::HandlerResponse::Handled;
    });
  }

  void bind(const HttpOptions& options) {
    errno = 0;
    if (options.port == 0)
      port_ = server_->bind_to_any_port(options.host);
    else
      port_ = server_->bind_to_port(options.host, options.port) ? options.port : -1;
    if (port_ > 0) return;
    fail(ErrorCode::kIo, "can't listen on {}: {}", address_of(options),
         errno != 0 ? std::strerror(errno) : "the address can't be used");
  }

  std::unique_ptr<httplib::Server> server_;
  int port_ = 0;
  std::atomic<bool> has_ended_{false};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<HttpServer> listen(const HttpOptions& options, std::vector<HttpRoute> routes) {
  return std::make_unique<Server>(options, std::move(routes));
}

}  // namespace saccade::http
