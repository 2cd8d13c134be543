#include "http/connection.hpp"

#include <array>
#include <atomic>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <future>
#include <optional>
#include <type_traits>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/slow_client.hpp"
#include "http/body_buffer.hpp"
#include "http/credentials.hpp"
#include "http/error_reply.hpp"
#include "http/message.hpp"

namespace saccade::http {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
using beast::error_code;

// Of a connection without a request.
constexpr std::chrono::seconds kIdle{75};
// Of a client that has its reply to close the connection.
constexpr std::chrono::seconds kLinger{2};
constexpr std::size_t kMostDiscarded = 16 << 20;
constexpr std::uint32_t kMostHeaderBytes = 16 << 10;
constexpr std::chrono::seconds kViewerPatience{2};
// What waits in a larger buffer of the kernel is old when a slow viewer gets it.
constexpr int kViewerBytes = 1 << 16;
constexpr std::size_t kBufferBytes = 64 << 10;

using Parser = beast::http::request_parser<beast::http::string_body>;

template <typename Stream>
class Connection : public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(std::shared_ptr<Shared> shared, net::ip::tcp::socket socket)
      : shared_(std::move(shared)), stream_(make_stream(*shared_, std::move(socket))) {
    if (shared_->options.for_browsers) {
      error_code ignored;
      lowest().socket().set_option(net::socket_base::send_buffer_size(kViewerBytes), ignored);
    }
    error_code ignored;
    lowest().socket().set_option(net::ip::tcp::no_delay(true), ignored);
  }
  ~Connection() {
    release();
    if (number_ > 0) shared_->remove(number_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() {
    number_ = shared_->add([weak = this->weak_from_this()](Shared::When when) {
      auto self = weak.lock();
      if (self == nullptr) return;
      const auto executor = self->stream_.get_executor();
      // Moved: the last reference must not end here, as its destructor calls Shared, too.
      net::post(executor, [self = std::move(self), when] { self->end(when); });
    });
    if (number_ == 0) return;
    net::dispatch(stream_.get_executor(), [self = this->shared_from_this()] { self->shake_hands(); });
  }

 private:
  static constexpr bool kIsTls = !std::is_same_v<Stream, beast::tcp_stream>;

  static Stream make_stream(Shared& shared, net::ip::tcp::socket socket) {
    if constexpr (kIsTls)
      return Stream(std::move(socket), *shared.tls);
    else
      return Stream(std::move(socket));
  }
  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }

  void shake_hands() {
    if constexpr (kIsTls) {
      lowest().expires_after(kClientTimeout);
      stream_.async_handshake(net::ssl::stream_base::server, [self = this->shared_from_this()](error_code error) {
        if (!error) self->wait_for_request();
      });
    } else {
      wait_for_request();
    }
  }

  /// An idle connection has no parser, and a buffer of the last request alone.
  void wait_for_request() {
    parser_.reset();
    body_ = {};
    release();
    if (is_ending_) return finish();
    if (buffer_.size() > 0) return read_header();
    is_idle_ = true;
    buffer_.shrink_to_fit();
    lowest().expires_after(kIdle);
    constexpr std::size_t kFirstBytes = 2048;
    stream_.async_read_some(buffer_.prepare(kFirstBytes),
                            [self = this->shared_from_this()](error_code error, std::size_t count) {
                              self->is_idle_ = false;
                              if (error && !self->has_more(error)) return self->close();
                              self->buffer_.commit(count);
                              self->read_header();
                            });
  }

  /// Whether the read that ended with FAILURE was cancelled by end() although a request is here.
  bool has_more(error_code failure) {
    error_code unknown;
    return failure == net::error::operation_aborted && is_ending_ && lowest().socket().available(unknown) > 0;
  }

  void read_header() {
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);  // of a line
    parser_->body_limit(std::max<std::uint64_t>(shared_->routes.most_bytes(), 1));
    header_bytes_ = 0;
    lowest().expires_after(kClientTimeout);
    read_some_header();
  }

  void read_some_header() {
    beast::http::async_read_some(stream_, buffer_, *parser_,
                                 [self = this->shared_from_this()](error_code failure, std::size_t count) {
                                   self->header_bytes_ += count;
                                   if (failure || self->parser_->is_header_done()) return self->on_header(failure);
                                   if (self->header_bytes_ > kMostHeaderBytes) return self->reject(error_reply(431));
                                   self->read_some_header();
                                 });
  }

  void on_header(error_code failure) {
    using Error = beast::http::error;
    if (failure == Error::body_limit) return reject(error_reply(413));
    if (failure == Error::header_limit || failure == Error::buffer_overflow) return reject(error_reply(431));
    if (!failure && header_bytes_ > kMostHeaderBytes) return reject(error_reply(431));
    if (is_malformed(failure)) return reject(error_reply(400));
    if (failure) return close();
    if (std::optional<HttpReply> refused = refusal_of(parser_->get())) return reject(std::move(*refused));
    const std::size_t bytes = parser_->chunked() ? match_.route->most_bytes : parser_->content_length().value_or(0);
    if (bytes > match_.route->most_bytes) return reject(error_reply(413));
    // Only what has come is counted: a client that announces a body and sends nothing does not block others.
    if (!shared_->has_room(bytes)) return reject_for_room();
    if (!parser_->chunked()) take_body_from_buffer(bytes);
    body_began_ = Clock::now();
    lowest().expires_after(kClientTimeout);
    const auto& message = parser_->get();
    const bool is_asked = beast::iequals(message[beast::http::field::expect], "100-continue");
    const bool has_body = parser_->chunked() ? !parser_->is_done() : !body_.is_complete();
    if (is_asked && message.version() > 10 && has_body) return invite();
    read_more();
  }

  /// The begin of a body of BYTES may have come with the headers.
  void take_body_from_buffer(std::size_t bytes) {
    const std::size_t here = std::min(buffer_.size(), bytes);
    body_ = BodyBuffer(bytes, {static_cast<const char*>(buffer_.data().data()), here});
    buffer_.consume(here);
  }

  /// Sets match_, or returns why the request is refused.
  std::optional<HttpReply> refusal_of(const Parser::value_type& message) {
    using beast::http::field;
    const auto value = [&](field name) { return std::string_view(message[name]); };
    if (message.version() > 10 && value(field::host).empty()) return error_reply(400);
    // What Beast takes for a message without a body, a proxy may take for one with a body (RFC 9112, 6.1).
    const bool has_coding = message.find(field::transfer_encoding) != message.end();
    if (has_coding && (message.version() < 11 || !beast::iequals(message[field::transfer_encoding], "chunked")))
      return error_reply(501);
    const std::string_view target(message.target());
    match_ = shared_->routes.find(std::string_view(message.method_string()), target.substr(0, target.find('?')));
    const bool is_public = match_.route != nullptr && match_.route->is_public;
    if (std::optional<HttpReply> refused = refusal(
            shared_->options, is_public,
            {.authorization = value(field::authorization), .host = value(field::host), .origin = value(field::origin)}))
      return refused;
    if (const auto coding = value(field::content_encoding); !coding.empty() && coding != "identity")
      return error_reply(415);
    if (match_.route != nullptr) return std::nullopt;
    HttpReply reply = error_reply(match_.allowed.empty() ? 404 : 405);
    if (!match_.allowed.empty()) reply.headers.emplace_back("Allow", match_.allowed);
    return reply;
  }

  /// A client that asks first waits for this.
  void invite() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    net::async_write(stream_, net::buffer(kContinue),
                     [self = this->shared_from_this()](error_code error, std::size_t /*bytes*/) {
                       if (!error) self->read_more();
                     });
  }

  void read_more() { parser_->chunked() ? read_chunks() : read_body(); }

  /// Counts BYTES of the body, all that have come, and sets the time for the next ones. False: it is too large, and
  /// rejected.
  bool admit(std::size_t bytes) {
    if (!shared_->reserve(bytes - reserved_bytes_)) {
      reject_for_room();
      return false;
    }
    reserved_bytes_ = bytes;
    lowest().expires_at(std::min(Clock::now() + kClientTimeout, body_began_ + transfer_timeout(bytes)));
    return true;
  }

  void read_body() {
    if (!admit(body_.size())) return;
    if (body_.is_complete()) return dispatch(body_.take());
    const std::span<char> tail = body_.tail();
    stream_.async_read_some(net::buffer(tail.data(), tail.size()),
                            [self = this->shared_from_this()](error_code error, std::size_t count) {
                              if (error) return self->close();
                              self->body_.commit(count);
                              self->read_body();
                            });
  }

  void read_chunks() {
    const std::size_t bytes = parser_->get().body().size();
    if (bytes > match_.route->most_bytes) return reject(error_reply(413));
    if (!admit(bytes)) return;
    if (parser_->is_done()) return dispatch(std::move(parser_->get().body()));
    // Large pieces: each read has its own cost.
    buffer_.reserve(kBufferBytes);
    parser_->eager(true);
    beast::http::async_read_some(stream_, buffer_, *parser_,
                                 [self = this->shared_from_this()](error_code error, std::size_t /*bytes*/) {
                                   if (error == beast::http::error::body_limit) return self->reject(error_reply(413));
                                   if (is_malformed(error)) return self->reject(error_reply(400));
                                   if (error) return self->close();
                                   self->read_chunks();
                                 });
  }

  void dispatch(std::string body) {
    lowest().expires_never();
    is_running_ = true;
    is_head_ = parser_->get().method_string() == "HEAD";
    keep_alive_ = parser_->get().keep_alive();
    version_ = parser_->get().version();
    HttpRequest request = request_of(parser_->release(), std::move(match_.names));
    request.body = std::move(body);
    const HttpRoute& route = *match_.route;
    if (route.respond) return respond(route, std::move(request));
    net::post(shared_->workers, [self = this->shared_from_this(), &route, request = std::move(request)] {
      HttpReply reply;
      try {
        reply = route.reply(request);
      } catch (...) {
        reply = failed_reply();
      }
      self->post_reply(std::move(reply));
    });
  }

  /// Sends a reply when the last copy of the route's HttpRespond is gone, too.
  struct Pending {
    std::shared_ptr<Connection> connection;
    std::atomic_flag has_reply = ATOMIC_FLAG_INIT;
    ~Pending() {
      if (!has_reply.test_and_set()) connection->post_reply(error_reply(500));
    }
  };

  void respond(const HttpRoute& route, HttpRequest request) {
    request.has_gone = [socket = lowest().socket().native_handle()] { return is_closed_by_peer(socket); };
    const auto pending = std::make_shared<Pending>();
    pending->connection = this->shared_from_this();
    try {
      route.respond(std::move(request), [pending](HttpReply reply) {
        if (!pending->has_reply.test_and_set()) pending->connection->post_reply(std::move(reply));
      });
    } catch (...) {
      if (!pending->has_reply.test_and_set()) send(failed_reply());
    }
  }

  void post_reply(HttpReply reply) {
    net::dispatch(stream_.get_executor(), [self = this->shared_from_this(), reply = std::move(reply)]() mutable {
      self->send(std::move(reply));
    });
  }

  /// The rest of the request is not read, so that the connection ends.
  void reject(HttpReply reply) {
    is_head_ = parser_->get().method_string() == "HEAD";
    keep_alive_ = false;
    version_ = 11;
    send(std::move(reply));
  }

  void reject_for_room() {
    HttpReply reply = error_reply(503);
    reply.headers.emplace_back("Retry-After", "1");
    reject(std::move(reply));
  }

  void send(HttpReply reply) {
    // A stream has no end that could be waited for.
    is_running_ = reply.stream == nullptr;
    if (is_ending_) keep_alive_ = false;
    response_.emplace(static_cast<beast::http::status>(reply.status), version_);
    if (!reply.type.empty()) response_->set(beast::http::field::content_type, reply.type);
    for (const auto& [name, value] : reply.headers) response_->set(name, value);
    if (shared_->options.for_browsers) {
      // Pages of other sites neither show nor measure what is served here.
      response_->set(beast::http::field::cache_control, "no-store");
      response_->set("Cross-Origin-Resource-Policy", "same-origin");
      response_->set("X-Content-Type-Options", "nosniff");
      response_->set("X-Frame-Options", "DENY");
    }
    if (reply.stream != nullptr && !is_head_) return send_stream(std::move(reply.stream));
    response_->keep_alive(keep_alive_);
    if (reply.stream == nullptr) response_->content_length(reply.body.size());
    lowest().expires_after(transfer_timeout(reply.body.size()));
    if (!is_head_) response_->body() = std::move(reply.body);
    serializer_.emplace(*response_);
    write();
  }

  void write() {
    beast::http::async_write_some(stream_, *serializer_,
                                  [self = this->shared_from_this()](error_code error, std::size_t /*bytes*/) {
                                    if (error && error != beast::http::error::end_of_stream) return self->close();
                                    if (!self->serializer_->is_done() && !self->is_head_done()) return self->write();
                                    self->on_written();
                                  });
  }
  /// A reply to HEAD has the length of a body that does not follow.
  bool is_head_done() { return is_head_ && serializer_->is_header_done(); }

  void on_written() {
    is_running_ = false;
    serializer_.reset();
    response_.reset();
    if (keep_alive_) return wait_for_request();
    finish();
  }

  void finish() {
    if constexpr (kIsTls) {
      lowest().expires_after(kLinger);
      stream_.async_shutdown([self = this->shared_from_this()](error_code /*error*/) { self->linger(); });
    } else {
      linger();
    }
  }

  /// Closing with unread bytes resets the connection, and the client may lose the reply.
  void linger() {
    error_code ignored;
    lowest().socket().shutdown(net::ip::tcp::socket::shutdown_send, ignored);
    buffer_.clear();
    lowest().expires_after(kLinger);
    discard();
  }
  void discard() {
    lowest().async_read_some(buffer_.prepare(kBufferBytes / 2),
                             [self = this->shared_from_this()](error_code error, std::size_t count) {
                               self->discarded_ += count;
                               if (error || self->discarded_ > kMostDiscarded) return self->close();
                               self->discard();
                             });
  }

  /// A worker's thread asks for the bytes and waits until they are sent. The stream ends with the connection.
  void send_stream(std::shared_ptr<HttpStream> stream) {
    keep_alive_ = false;
    response_->keep_alive(false);
    watch_for_end();
    net::post(shared_->workers, [self = this->shared_from_this(), stream = std::move(stream)] {
      try {
        if (!self->write_and_wait(self->header_text())) return self->post_close();
        for (std::string bytes; !self->has_gone_ && stream->next(bytes);)
          if (!bytes.empty() && !self->write_and_wait(bytes)) break;
      } catch (...) {
        (void)failed_reply();
      }
      self->post_close();
    });
  }

  std::string header_text() const {
    std::ostringstream text;
    text << response_->base();
    return text.str();
  }

  bool write_and_wait(const std::string& bytes) {
    const auto written = std::make_shared<std::promise<bool>>();
    net::post(stream_.get_executor(), [this, &bytes, written] {
      if (is_ending_) return written->set_value(false);
      write_some(net::buffer(bytes), written);
    });
    return written->get_future().get();
  }

  /// A viewer that takes nothing is cut off: it holds the place of another one.
  void write_some(net::const_buffer bytes, const std::shared_ptr<std::promise<bool>>& written) {
    if (bytes.size() == 0) return written->set_value(true);
    lowest().expires_after(kViewerPatience);
    stream_.async_write_some(bytes,
                             [self = this->shared_from_this(), bytes, written](error_code error, std::size_t count) {
                               if (error) return written->set_value(false);
                               self->write_some(bytes + count, written);
                             });
  }

  /// Notices a client that goes away while there is nothing to send. What it still sends is not read.
  void watch_for_end() {
    lowest().socket().async_wait(net::socket_base::wait_read, [self = this->shared_from_this()](error_code error) {
      if (error) return;
      std::array<char, 512> ignored{};
      error_code failure;
      // The end of TLS comes as bytes.
      const auto count = kIsTls ? 0 : self->lowest().socket().receive(net::buffer(ignored), 0, failure);
      if (failure || count == 0) {
        self->has_gone_ = true;
        return;
      }
      self->watch_for_end();
    });
  }

  void post_close() {
    net::post(stream_.get_executor(), [self = this->shared_from_this()] { self->finish(); });
  }

  void end(Shared::When when) {
    is_ending_ = true;
    has_gone_ = true;
    const bool is_left_alone =
        when == Shared::When::kAfterReply || (when == Shared::When::kUnlessRunning && is_running_);
    if (!is_left_alone) return close();
    // A request may have come that the read does not know of yet.
    if (is_idle_) lowest().cancel();
  }

  void release() {
    shared_->release(reserved_bytes_);
    reserved_bytes_ = 0;
  }

  void close() {
    error_code ignored;
    lowest().socket().shutdown(net::ip::tcp::socket::shutdown_both, ignored);
    lowest().close();
  }

  std::shared_ptr<Shared> shared_;  // first member: the stream needs it to the last
  Stream stream_;
  beast::flat_buffer buffer_{kBufferBytes};
  std::optional<Parser> parser_;
  BodyBuffer body_;  // of a known length
  Routes::Match match_;
  std::optional<beast::http::response<beast::http::string_body>> response_;
  std::optional<beast::http::response_serializer<beast::http::string_body>> serializer_;
  std::size_t number_ = 0;
  std::size_t discarded_ = 0;
  std::size_t header_bytes_ = 0;
  std::size_t reserved_bytes_ = 0;  // of the body
  Clock::time_point body_began_;
  unsigned version_ = 11;
  bool is_head_ = false;
  bool keep_alive_ = false;
  bool is_idle_ = false;
  bool is_running_ = false;  // a handler has the request, or its reply is being sent
  bool is_ending_ = false;
  std::atomic<bool> has_gone_{false};
};

}  // namespace

void serve(std::shared_ptr<Shared> shared, net::ip::tcp::socket socket) {
  if (shared->tls != nullptr)
    std::make_shared<Connection<beast::ssl_stream<beast::tcp_stream>>>(std::move(shared), std::move(socket))->start();
  else
    std::make_shared<Connection<beast::tcp_stream>>(std::move(shared), std::move(socket))->start();
}

}  // namespace saccade::http
