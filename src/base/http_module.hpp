#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace saccade {

struct RunState;
namespace serve {
struct ServeState;
}

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;              ///< "POST"
  std::string path;                ///< as sent, without the query
  std::vector<std::string> names;  ///< what stands for each "{}" of the route, decoded
  std::string query;               ///< as sent, without "?"
  HttpHeaders headers;
  std::string body;
  /// Whether the client has closed the connection, or its half of it. Any thread, until the reply is sent. Only of a
  /// request to HttpRoute::respond.
  std::function<bool()> has_gone;

  /// Of the first header NAME, whose case does not matter; empty if there is none.
  std::string_view header(std::string_view name) const;
  /// Of NAME=VALUE in the query, decoded, or as sent if an escape is not valid; nullopt if it is not there.
  std::optional<std::string> parameter(std::string_view name) const;
  /// The first name in the query, as sent, that is none of NAMES; empty: there is none.
  std::string_view parameter_besides(std::initializer_list<std::string_view> names) const;
};

/// A body without an end. Used by one thread.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  /// Sets BYTES to what comes next; empty if that takes more than half a second. False: the body has ended.
  virtual bool next(std::string& bytes) = 0;
};

struct HttpReply {
  int status = 200;
  std::string type;  ///< of the body
  std::string body;
  std::shared_ptr<HttpStream> stream;  ///< the body instead, until it ends or the client goes away
  HttpHeaders headers;                 ///< besides those of the type and the length
};

/// A page for people. POLICY is its Content-Security-Policy.
HttpReply page_reply(std::string page, std::string_view policy);

/// Sends a reply, once, from any thread. Destroyed without a reply: 500.
using HttpRespond = std::function<void(HttpReply)>;

/// What a method of a path does. One of the functions is set.
struct HttpRoute {
  std::string path;  ///< "/metrics"; a part "{}" stands for any name
  /// Called by one of HttpOptions::workers, several at a time. It may wait.
  std::function<HttpReply(const HttpRequest&)> reply;
  std::string method = "GET";  ///< GET serves HEAD, too
  /// Called by the thread that serves the connection. It must not wait.
  std::function<void(HttpRequest, HttpRespond)> respond;
  std::size_t most_bytes = 0;  ///< of a request's body; 413 beyond
  bool is_public = false;      ///< it needs no token
};

struct HttpOptions {
  std::string host;         ///< an IP address of this machine; "0.0.0.0" and "::": all of them
  int port = 0;             ///< 0: any free one
  std::string certificate;  ///< PEM file: TLS with this chain of certificates; empty: no TLS
  std::string key;          ///< PEM file of its private key, without password
  std::string client_ca;    ///< PEM file: clients must have a certificate of this authority; empty: they need none
  std::string token;        ///< clients send "Authorization: Bearer TOKEN"; empty: they need not
  /// For people: the token is also the password of HTTP's Basic authentication. Without a token, a request must name
  /// this machine by an address or its own name, so that no web page can read what only a browser here can reach.
  bool for_browsers = false;
  std::size_t workers = 4;          ///< threads of HttpRoute::reply and of streams
  std::size_t threads = 1;          ///< that serve all connections
  std::size_t connections = 16384;  ///< open at a time; others are closed at once
  /// Without a token, a request must name this machine, as with for_browsers.
  bool own_names_only = false;
  /// Of what has come of the bodies of all requests that have no reply yet; 503 beyond.
  std::size_t most_pending_bytes = std::size_t{1} << 30;
};

/// Serves until it is destroyed, which waits at most seconds for clients in the middle of a request.
class HttpServer {
 public:
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
  /// Takes no more connections and requests, and returns once those that were taken have their replies.
  virtual void drain() = 0;
};

/// Interface of the http module (Boost.Beast, prometheus-cpp); get it with module<HttpModule>("http").
struct HttpModule {
  /// Serves ROUTES on threads of its own. Throws Error: (kIo) naming the address if it cannot be used, (kInvalidFile)
  /// naming the certificate or key.
  std::unique_ptr<HttpServer> (*listen)(const HttpOptions& options, std::vector<HttpRoute> routes);
  /// STATE in Prometheus' text format 0.0.4. Any thread.
  HttpReply (*metrics)(const RunState& state);
  /// The same of a server.
  HttpReply (*serve_metrics)(const serve::ServeState& state);
  /// The bytes of TEXT, base64 of RFC 4648 with padding; nullopt: it is none. Any thread.
  std::optional<std::string> (*decode_base64)(std::string_view text);
};

}  // namespace saccade
