#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/module.hpp"
#include "base/mqtt_module.hpp"
#include "media/network/mqtt_uri.hpp"
#include "media/network/retry_schedule.hpp"
#include "pipeline/sinks/result_lines.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

/// Lines for a broker. Written by the sink's thread, sent by one of its own.
class MqttSink final : public NetworkSink {
 public:
  MqttSink(const network::MqttUri& uri, const JsonlOptions& options)
      : uri_(uri),
        lines_(options),
        schedule_(std::random_device()()),
        connection_(module<MqttModule>("mqtt").open(uri.broker)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_ < 0) fail(ErrorCode::kDevice, "{}: no more files can be opened", uri_.name);
    thread_ = std::thread([this] { send_all(); });
  }
  ~MqttSink() override {
    stop(Clock::now());
    thread_.join();
    ::close(wake_);
  }
  MqttSink(const MqttSink&) = delete;
  MqttSink& operator=(const MqttSink&) = delete;

  const std::string& address() const override { return uri_.name; }
  std::int64_t dropped() const override { return dropped_; }
  bool reads_pixels() const override { return false; }

  void write(const Result& result, const FrameView& /*frame*/) override {
    const JsonBuffer& lines = lines_.of(result);
    std::string text(lines.data(), lines.size());
    if (text.empty()) return;
    {
      const std::scoped_lock lock(mutex_);
      backlog_.push_back({result.stream, std::move(text)});
      if (backlog_.size() > uri_.backlog) {
        backlog_.pop_front();
        ++dropped_;
      }
    }
    wake();
  }

  void close(const Summary& /*summary*/) override {
    stop(Clock::now() + std::chrono::duration_cast<Clock::duration>(uri_.broker.timeout));
    thread_.join();
    thread_ = std::thread([] {});
    const std::scoped_lock lock(mutex_);
    dropped_ += static_cast<std::int64_t>(backlog_.size()) + unconfirmed();
    backlog_.clear();
    if (dropped_ > 0)
      fail(ErrorCode::kIo, "{}: {} results were not published{}{}", uri_.name, dropped_.load(),
           fault_.empty() ? "" : ": ", fault_);
  }

 private:
  /// Results of which the broker has not confirmed all messages. Once the thread has ended.
  std::int64_t unconfirmed() const {
    std::int64_t results = 0;
    int messages = connection_->unconfirmed();
    for (auto each = published_.rbegin(); each != published_.rend() && messages > 0; ++each, ++results)
      messages -= *each;
    return results;
  }

  struct Lines {
    int stream = 0;
    std::string text;  ///< of one result
  };

  void wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
  }

  /// What is in the backlog is sent until DEADLINE, if there is a connection.
  void stop(Clock::time_point deadline) {
    {
      const std::scoped_lock lock(mutex_);
      if (!deadline_) deadline_ = deadline;
    }
    stopping_.notify_all();
    wake();
  }

  void send_all() {
    while (!is_over()) {
      try {
        schedule_.attempt(Clock::now());
        connection_->connect();
        serve();
      } catch (const std::exception& error) {
        lose(error.what());
      }
      if (is_lost_) wait_to_retry();
    }
    connection_->disconnect();
  }

  /// Whether the thread has nothing more to do.
  bool is_over() {
    const std::scoped_lock lock(mutex_);
    if (!deadline_) return false;
    const bool is_sent = backlog_.empty() && (is_lost_ || connection_->is_idle());
    return is_sent || is_lost_ || Clock::now() >= *deadline_;
  }

  void serve() {
    constexpr auto kPatience = std::chrono::milliseconds(500);
    // Of QoS 1 and 2 the confirmation is awaited at the end, too.
    while (!is_over()) {
      connection_->serve(wake_, kPatience);
      std::uint64_t count = 0;
      [[maybe_unused]] const auto taken = ::read(wake_, &count, sizeof count);
      if (connection_->is_connected()) find();
      while (connection_->can_publish() && publish_next()) {
      }
    }
  }

  /// False: the backlog is empty.
  bool publish_next() {
    Lines lines;
    {
      const std::scoped_lock lock(mutex_);
      if (backlog_.empty()) return false;
      lines = std::move(backlog_.front());
      backlog_.pop_front();
    }
    std::string topic = uri_.topic;
    constexpr std::string_view kPlace = "{stream}";
    for (std::size_t at = topic.find(kPlace); at != std::string::npos; at = topic.find(kPlace))
      topic.replace(at, kPlace.size(), std::to_string(lines.stream));
    try {
      publish(topic, lines);
    } catch (const Error&) {
      const std::scoped_lock lock(mutex_);
      backlog_.push_front(std::move(lines));
      throw;
    }
    return true;
  }

  /// Leaves in LINES those that could not be published.
  void publish(const std::string& topic, Lines& lines) {
    constexpr std::size_t kRemembered = 64;  // more than are in flight
    published_.push_back(static_cast<int>(std::ranges::count(lines.text, '\n')));
    if (published_.size() > kRemembered) published_.pop_front();
    while (!lines.text.empty()) {
      const std::size_t end = lines.text.find('\n');
      connection_->publish(topic, lines.text.substr(0, end));
      lines.text.erase(0, end + 1);
    }
  }

  void find() {
    schedule_.arrive(Clock::now());
    if (is_lost_)
      log(LogLevel::kWarning, "{}: connected after {:.1f} s", uri_.name,
          std::chrono::duration<double>(Clock::now() - lost_since_).count());
    is_lost_ = false;
  }

  void lose(const std::string& reason) {
    const std::scoped_lock lock(mutex_);
    fault_ = reason;
    if (is_lost_) return;
    is_lost_ = true;
    lost_since_ = Clock::now();
    log(LogLevel::kWarning, "{}: {}; it is tried again, and the newest {} results are kept", uri_.name, reason,
        uri_.backlog);
  }

  void wait_to_retry() {
    std::unique_lock lock(mutex_);
    stopping_.wait_until(lock, schedule_.next(), [this] { return deadline_.has_value(); });
  }

  network::MqttUri uri_;
  ResultLines lines_;
  network::RetrySchedule schedule_;
  std::unique_ptr<MqttConnection> connection_;  ///< of the thread
  int wake_;

  std::mutex mutex_;
  std::condition_variable stopping_;
  std::deque<Lines> backlog_;
  std::optional<Clock::time_point> deadline_;  ///< set: the sink ends
  std::string fault_;
  std::atomic<std::int64_t> dropped_ = 0;
  // Of the thread.
  std::atomic<bool> is_lost_ = false;
  Clock::time_point lost_since_;
  std::deque<int> published_;  ///< messages of each of the last results
  std::thread thread_;         ///< last member: it uses the others
};

}  // namespace

std::unique_ptr<NetworkSink> open_mqtt(const std::string& url, const JsonlOptions& options) {
  return std::make_unique<MqttSink>(network::parse_mqtt(url), options);
}

}  // namespace saccade
