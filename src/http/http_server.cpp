#include "http/http_server.hpp"

#include <httplib.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>

#include "base/error.hpp"
#include "base/log.hpp"
#include "http/host_name.hpp"

namespace saccade::http {
namespace {

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

/// In a time that does not tell how much of it is right.
bool equals_secret(std::string_view given, std::string_view secret) {
  return given.size() == secret.size() && CRYPTO_memcmp(given.data(), secret.data(), secret.size()) == 0;
}

bool has_token(const httplib::Request& request, const std::string& token) {
  return equals_secret(request.get_header_value("Authorization"), "Bearer " + token);
}

/// Whether the password of REQUEST's Basic authentication is TOKEN; any user has it.
bool has_password(const httplib::Request& request, const std::string& token) {
  constexpr std::string_view kScheme = "Basic ";
  constexpr std::size_t kLongest = 8192;
  const std::string given = request.get_header_value("Authorization");
  if (!given.starts_with(kScheme) || given.size() > kLongest) return false;
  std::string login(given.size(), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(login.data()),
                                   reinterpret_cast<const unsigned char*>(given.data()) + kScheme.size(),
                                   static_cast<int>(given.size() - kScheme.size()));
  if (size < 0) return false;
  // Padding decodes to zeros.
  std::size_t end = static_cast<std::size_t>(size);
  while (end > 0 && login[end - 1] == '\0') --end;
  login.resize(end);
  const std::size_t colon = login.find(':');
  return colon != std::string::npos && equals_secret(std::string_view(login).substr(colon + 1), token);
}

/// Sends REPLY, whose stream ends with the connection.
void send(HttpReply reply, httplib::Response& response) {
  response.status = reply.status;
  if (reply.stream == nullptr) {
    response.set_content(reply.body, reply.type);
    return;
  }
  const auto provide = [stream = std::move(reply.stream), bytes = std::string()](std::size_t,
                                                                                 httplib::DataSink& sink) mutable {
    if (!stream->next(bytes)) {
      sink.done();
      return true;
    }
    // A client that has gone away is noticed here while there is nothing to send.
    return bytes.empty() ? sink.is_writable() : sink.write(bytes.data(), bytes.size());
  };
  response.set_content_provider(reply.type, provide);
}

/// The library reads paths as regular expressions.
std::string pattern_of(const std::string& path) {
  std::string pattern;
  for (const char c : path) pattern += c == '.' ? std::string("\\.") : std::string(1, c);
  return pattern;
}

class Server final : public HttpServer {
 public:
  Server(const HttpOptions& options, std::vector<HttpRoute> routes) : server_(make_server(options)) {
    configure(options);
    if (options.for_browsers)
      guard_browsers(options.token);
    else if (!options.token.empty())
      require(options.token);
    for (HttpRoute& route : routes)
      server_->Get(pattern_of(route.path),
                   [reply = std::move(route.reply)](const httplib::Request&, httplib::Response& response) {
                     send(reply(), response);
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
  void configure(const HttpOptions& options) {
    server_->new_task_queue = [count = options.connections] { return new httplib::ThreadPool(count); };
    // The library's own options let a second process listen on the same port.
    server_->set_socket_options([for_browsers = options.for_browsers](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      // Connections inherit it. What waits in a larger one is old when a slow viewer gets it.
      const int bytes = 1 << 16;
      if (for_browsers) setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
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

  void guard_browsers(const std::string& token) {
    // Pages of other sites neither show nor measure what is served here.
    server_->set_default_headers({{"Cache-Control", "no-store"},
                                  {"Cross-Origin-Resource-Policy", "same-origin"},
                                  {"X-Content-Type-Options", "nosniff"},
                                  {"X-Frame-Options", "DENY"}});
    server_->set_pre_routing_handler([token](const httplib::Request& request, httplib::Response& response) {
      if (token.empty()) {
        if (names_this_machine(request.get_header_value("Host"))) return httplib::Server::HandlerResponse::Unhandled;
        response.status = 403;
        response.set_content("this host name is not that of the machine: use its address\n", "text/plain");
        return httplib::Server::HandlerResponse::Handled;
      }
      if (has_token(request, token) || has_password(request, token)) return httplib::Server::HandlerResponse::Unhandled;
      response.status = 401;
      response.set_header("WWW-Authenticate", "Basic realm=\"saccade: the token is the password\"");
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
