#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace saccade {

struct RunState;

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
};

/// What GET and HEAD of PATH return.
struct HttpRoute {
  std::string path;                  ///< "/metrics"
  std::function<HttpReply()> reply;  ///< called by the server's threads, several at a time
};

struct HttpOptions {
  std::string host;         ///< an IP address of this machine; "0.0.0.0" and "::": all of them
  int port = 0;             ///< 0: any free one
  std::string certificate;  ///< PEM file: TLS with this chain of certificates; empty: no TLS
  std::string key;          ///< PEM file of its private key, without password
  std::string token;        ///< clients send "Authorization: Bearer TOKEN"; empty: they need not
  /// For people: the token is also the password of HTTP's Basic authentication. Without a token, a request must name
  /// this machine by an address or its own name, so that no web page can read what only a browser here can reach.
  bool for_browsers = false;
  std::size_t connections = 4;  ///< that are served at a time, on a thread each; others wait
};

/// Serves until it is destroyed, which waits at most seconds for clients in the middle of a request.
class HttpServer {
 public:
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
};

/// Interface of the http module (cpp-httplib, prometheus-cpp); get it with module<HttpModule>("http").
struct HttpModule {
  /// Serves ROUTES on threads of its own. Throws Error: (kIo) naming the address if it cannot be used, (kInvalidFile)
  /// naming the certificate or key.
  std::unique_ptr<HttpServer> (*listen)(const HttpOptions& options, std::vector<HttpRoute> routes);
  /// STATE in Prometheus' text format 0.0.4. Any thread.
  HttpReply (*metrics)(const RunState& state);
};

}  // namespace saccade
