#include <mosquitto.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/mqtt_module.hpp"

namespace saccade::mqtt {
namespace {

/// Of messages with a quality of service above 0 that the broker has yet to confirm.
constexpr int kMostInFlight = 20;

struct Library {
  Library() { mosquitto_lib_init(); }
  ~Library() { mosquitto_lib_cleanup(); }
};

std::string reason_of(int code) { return code == MOSQ_ERR_ERRNO ? std::strerror(errno) : mosquitto_strerror(code); }

[[noreturn]] void fail_with(const std::string& reason) { fail(ErrorCode::kIo, "{}", reason); }

class Connection final : public MqttConnection {
 public:
  explicit Connection(MqttOptions options) : options_(std::move(options)) {
    static const Library library;
    const char* client = options_.client.empty() ? nullptr : options_.client.c_str();
    client_ = mosquitto_new(client, true, this);
    if (client_ == nullptr) fail_with(std::strerror(errno));
    // The broker closes the connection of a client that is silent for longer, and the client that of a silent broker.
    mosquitto_connect_callback_set(
        client_, [](mosquitto*, void* self, int code) { static_cast<Connection*>(self)->welcome(code); });
    mosquitto_publish_callback_set(client_,
                                   [](mosquitto*, void* self, int) { --static_cast<Connection*>(self)->in_flight_; });
    if (!options_.user.empty())
      check(mosquitto_username_pw_set(client_, options_.user.c_str(), options_.password.c_str()));
    if (options_.tls) check(mosquitto_int_option(client_, MOSQ_OPT_TLS_USE_OS_CERTS, 1));
    check(mosquitto_int_option(client_, MOSQ_OPT_TCP_NODELAY, 1));
  }
  ~Connection() override { mosquitto_destroy(client_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void connect() override {
    const int keep_alive =
        std::max(5, static_cast<int>(std::chrono::ceil<std::chrono::seconds>(options_.timeout).count()));
    is_connected_ = false;
    refusal_ = 0;
    loss_.clear();
    started_ = Clock::now();
    if (options_.qos == 0) in_flight_ = 0;  // the library sends others again
    check(mosquitto_connect_async(client_, options_.host.c_str(), options_.port, keep_alive));
  }

  bool is_connected() const override { return is_connected_; }
  bool can_publish() const override {
    return is_connected_ && !mosquitto_want_write(client_) && in_flight_ < kMostInFlight;
  }
  bool is_idle() const override { return !mosquitto_want_write(client_) && in_flight_ <= 0; }
  int unconfirmed() const override { return options_.qos == 0 ? 0 : std::max(in_flight_, 0); }

  void publish(const std::string& topic, const std::string& message) override {
    const int code = mosquitto_publish(client_, nullptr, topic.c_str(), static_cast<int>(message.size()),
                                       message.data(), options_.qos, false);
    // The library queues a message of QoS 1 or 2 before it writes to the socket.
    const bool is_queued = options_.qos > 0 && (code == MOSQ_ERR_ERRNO || code == MOSQ_ERR_CONN_LOST ||
                                                code == MOSQ_ERR_NO_CONN || code == MOSQ_ERR_TLS);
    if (code == MOSQ_ERR_SUCCESS || is_queued) ++in_flight_;
    if (!is_queued) return check(code);
    is_connected_ = false;
    loss_ = reason_of(code);
  }

  void serve(int wake, std::chrono::milliseconds patience) override {
    if (!loss_.empty()) lose(std::exchange(loss_, {}));
    const int socket = mosquitto_socket(client_);
    if (socket < 0) lose("the connection is closed");
    const bool writes = !is_connected_ || mosquitto_want_write(client_);
    const auto wanted = static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN);
    std::array<pollfd, 2> files = {pollfd{socket, wanted, 0}, pollfd{wake, POLLIN, 0}};
    poll(files.data(), files.size(), static_cast<int>(patience.count()));
    if ((files[0].revents & (POLLOUT | POLLERR | POLLHUP)) != 0) check(mosquitto_loop_write(client_, 1));
    if ((files[0].revents & (POLLIN | POLLERR | POLLHUP)) != 0) check(mosquitto_loop_read(client_, 1));
    check(mosquitto_loop_misc(client_));
    if (refusal_ != 0) lose(mosquitto_connack_string(refusal_));
    if (!is_connected_ && Clock::now() - started_ > options_.timeout)
      lose(fmt::format("no response for {:g} s", std::chrono::duration<double>(options_.timeout).count()));
  }

  void disconnect() noexcept override {
    mosquitto_disconnect(client_);
    is_connected_ = false;
  }

 private:
  void welcome(int code) {
    is_connected_ = code == 0;
    refusal_ = code;
  }

  void check(int code) {
    if (code != MOSQ_ERR_SUCCESS) lose(reason_of(code));
  }

  [[noreturn]] void lose(const std::string& reason) {
    is_connected_ = false;
    fail_with(reason);
  }

  MqttOptions options_;
  mosquitto* client_ = nullptr;
  bool is_connected_ = false;
  int refusal_ = 0;   ///< the broker's code
  std::string loss_;  ///< why publish() lost the connection; empty: it did not
  int in_flight_ = 0;
  Clock::time_point started_;
};

constexpr MqttModule kModule{.open = [](const MqttOptions& options) -> std::unique_ptr<MqttConnection> {
  return std::make_unique<Connection>(options);
}};

}  // namespace
}  // namespace saccade::mqtt

extern "C" const saccade::MqttModule* saccade_module_mqtt() { return &saccade::mqtt::kModule; }
