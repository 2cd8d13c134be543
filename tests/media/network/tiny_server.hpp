#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace saccade::test {

/// One request that TinyServer handles.
struct TinyRequest {
  int socket = -1;
  int number = 0;    ///< of the connection, from 0
  std::string head;  ///< what the client has sent

  bool asks(std::string_view path) const { return head.starts_with("GET " + std::string(path)); }
  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// A response without an announced length, which ends with the connection.
  void respond(std::string_view type, std::string_view body) const {
    send("HTTP/1.0 200 OK\r\nContent-Type: " + std::string(type) + "\r\n\r\n");
    send(body);
  }
  void refuse(std::string_view status) const {
    send("HTTP/1.0 " + std::string(status) + "\r\nContent-Length: 0\r\n\r\n");
  }
  /// Until the client closes the connection, or the server ends.
  void wait_for_end() const {
    char byte = 0;
    while (recv(socket, &byte, 1, 0) > 0) {
    }
  }
};

/// An HTTP server on this machine: each connection has one request, which HANDLE gets on a thread of its own.
class TinyServer {
 public:
  using Handle = std::function<void(const TinyRequest& request)>;

  /// PORT 0: any.
  explicit TinyServer(Handle handle, int port = 0)
      : handle_(std::move(handle)), stop_(eventfd(0, EFD_CLOEXEC)), socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const int yes = 1;
    setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    socklen_t size = sizeof address;
    if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(socket_, 8) != 0)
      throw std::runtime_error("the server has no port");
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { accept_all(); });
  }
  ~TinyServer() {
    eventfd_write(stop_, 1);
    thread_.join();
    {
      const std::scoped_lock lock(mutex_);
      for (const Connection& each : connections_) shutdown(each.socket, SHUT_RDWR);
    }
    for (Connection& each : connections_) {
      each.thread.join();
      close(each.socket);
    }
    close(socket_);
    close(stop_);
  }
  TinyServer(const TinyServer&) = delete;
  TinyServer& operator=(const TinyServer&) = delete;

  int port() const { return port_; }
  /// "http://127.0.0.1:PORT" and PATH; LOGIN ("user:password@") before the host.
  std::string url(const std::string& path, const std::string& login = {}) const {
    return "http://" + login + "127.0.0.1:" + std::to_string(port_) + path;
  }

 private:
  struct Connection {
    int socket = -1;
    std::thread thread;
  };

  void accept_all() {
    for (int number = 0;; ++number) {
      pollfd events[] = {{.fd = stop_, .events = POLLIN, .revents = 0},
                         {.fd = socket_, .events = POLLIN, .revents = 0}};
      poll(events, 2, -1);
      if (events[0].revents != 0) return;
      const int connection = accept(socket_, nullptr, nullptr);
      if (connection < 0) continue;
      const std::scoped_lock lock(mutex_);
      connections_.push_back({connection, std::thread([this, connection, number] { serve(connection, number); })});
    }
  }

  void serve(int connection, int number) {
    TinyRequest request{.socket = connection, .number = number, .head = {}};
    char byte = 0;
    while (!request.head.ends_with("\r\n\r\n") && recv(connection, &byte, 1, 0) > 0) request.head.push_back(byte);
    handle_(request);
    shutdown(connection, SHUT_RDWR);
  }

  Handle handle_;
  int stop_;
  int socket_;
  int port_ = 0;
  std::mutex mutex_;
  std::list<Connection> connections_;
  std::thread thread_;
};

}  // namespace saccade::test
