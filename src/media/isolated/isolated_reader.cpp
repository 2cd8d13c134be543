#include "media/isolated/isolated_reader.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/file_registry.hpp"
#include "base/log.hpp"
#include "base/module.hpp"
#include "media/isolated/child_clock.hpp"
#include "media/isolated/shared_pool.hpp"
#include "media/isolated/source_child.hpp"
#include "media/network/uri.hpp"

namespace saccade {
namespace isolated {
namespace {

/// How long a child may take to exit.
constexpr std::chrono::milliseconds kExitPatience{500};
/// Polls into which the patience with a silent child is divided.
constexpr int kPolls = 10;
/// Of a live source, before it counts as away.
constexpr std::chrono::seconds kMostSilence{3};

class Event {
 public:
  Event() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) fail(ErrorCode::kIo, "no event can be made: {}", std::strerror(errno));
  }
  ~Event() { close(descriptor_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void set() noexcept { static_cast<void>(eventfd_write(descriptor_, 1)); }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

class IsolatedReader final : public FrameReader {
 public:
  IsolatedReader(SourceSpec spec, std::filesystem::path helper, std::chrono::milliseconds patience)
      : spec_(std::move(spec)), helper_(std::move(helper)), restarts_(false), patience_(patience) {
    open_first();
    restarts_ = Restarts(info_.live);
    note_input(spec_.uri);
    for (const std::string& file : info_.files) note_input(file);
  }

  ~IsolatedReader() override {
    if (child_) child_->process().cancel(kExitPatience);
    if (pool_) pool_->disconnect();
  }

  const SourceInfo& info() const override { return info_; }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    while (true) {
      if (is_cancelled_) return Failure{Status::kCancelled, info_.name + ": reading was cancelled"};
      if (last_) return *last_;
      if (!child_) {
        if (auto failure = start_again()) return std::move(*failure);
        if (!child_) continue;
      }
      if (child_->phase() == Phase::kOpen) child_->start(restarts_);
      if (pool_) pool_->flush();
      try {
        if (auto outcome = receive(allocator)) return std::move(*outcome);
      } catch (const BadMessage& bad) {
        return died(fmt::format("sent an invalid message ({})", bad.what()));
      }
    }
  }

  int held_buffers() const override { return static_cast<int>(SharedPool::ahead(info_.live)); }

  SourceFaults faults() const override {
    const std::scoped_lock lock(faults_mutex_);
    SourceFaults all = faults_before_;
    return all += faults_;
  }

  void cancel() noexcept override {
    is_cancelled_ = true;
    cancelled_.set();
  }

  bool rewind() override {
    last_.reset();
    restarts_.rewind();
    if (child_) open_spec();
    return true;
  }

 private:
  using Phase = SourceChild::Phase;

  void start_child() {
    child_ = std::make_unique<SourceChild>(helper_);
    silent_polls_ = 0;
    open_spec();
  }

  void open_spec() {
    SourceSpec spec = spec_;
    // The files of a folder stay those that it had: their frames are numbered.
    if (!info_.files.empty()) spec.images = info_.files;
    // One thread decodes the packet that it was given last.
    if (restarts_.deaths() >= Restarts::kMostDeaths - 1) spec.options.decode_threads = 1;
    // A stream may be away when it is opened again.
    spec.options.wait = spec.options.wait || (restarts_.deaths() > 0 && is_network(spec.uri));
    child_->open(spec);
  }

  /// Throws what opening throws.
  void open_first() {
    for (int attempt = 1;; ++attempt) {
      start_child();
      SourceInfo info;
      const std::string end = receive_description(info);
      if (end.empty()) {
        info_ = std::move(info);
        return;
      }
      child_.reset();
      if (attempt == Restarts::kMostDeaths)
        fail(ErrorCode::kInvalidFile, "'{}': the process that opens it {}", network::redact(spec_.uri), end);
    }
  }

  /// Why the child has ended; empty if the source is open.
  std::string receive_description(SourceInfo& info) {
    try {
      while (child_->phase() != Phase::kOpen) {
        pollfd event{.fd = child_->channel()->socket(), .events = POLLIN, .revents = 0};
        if (poll(&event, 1, static_cast<int>(patience_.count())) == 0) return hung();
        const Channel::Receipt receipt = child_->channel()->receive(packet_, true, false);
        if (receipt == Channel::Receipt::kClosed) return child_->process().end();
        if (receipt != Channel::Receipt::kMessage) throw BadMessage("it is of another version");
        if (packet_.header.kind == Kind::kError) throw read_error(packet_);
        if (!child_->handle(packet_, &info)) throw BadMessage("it comes too early");
      }
    } catch (const BadMessage& bad) {
      return fmt::format("sent an invalid message ({})", bad.what());
    }
    return {};
  }

  /// Why the child can't be started. Nothing if it was, if its pause is not over, or if reading was cancelled.
  std::optional<Failure> start_again() {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(restart_at_ - Clock::now());
    if (left.count() > 0) {
      pollfd event{.fd = cancelled_.descriptor(), .events = POLLIN, .revents = 0};
      poll(&event, 1, static_cast<int>(left.count()));
      return std::nullopt;
    }
    try {
      start_child();
    } catch (const Error& error) {
      restarts_.die();
      restart_at_ = Clock::now() + std::max(restarts_.pause(), std::chrono::milliseconds(100));
      return Failure{Status::kTimeout, fmt::format("{}: {}", info_.name, error.what())};
    }
    return std::nullopt;
  }

  /// The outcome of one message; nothing if another one is needed.
  std::optional<Outcome<Frame>> receive(FrameAllocator& allocator) {
    switch (child_->channel()->receive(packet_, false, false)) {
      case Channel::Receipt::kMessage: silent_polls_ = 0; return handle(allocator);
      case Channel::Receipt::kInvalid: throw BadMessage("it is of another version");
      case Channel::Receipt::kClosed: return died(child_->process().end());
      case Channel::Receipt::kNothing: break;
    }
    std::array<pollfd, 2> events = {{{.fd = child_->channel()->socket(), .events = POLLIN, .revents = 0},
                                     {.fd = cancelled_.descriptor(), .events = POLLIN, .revents = 0}}};
    const auto slice = std::max<std::int64_t>(1, patience_.count() / kPolls);
    if (poll(events.data(), events.size(), static_cast<int>(slice)) != 0) return std::nullopt;
    note_silent_poll();
    if (silent_polls_ >= kPolls) return died(hung());
    const std::chrono::milliseconds silence(silent_polls_ * slice);
    if (!info_.live || silence < kMostSilence) return std::nullopt;
    // The same message while it lasts.
    return Failure{Status::kTimeout,
                   fmt::format("{}: its process has sent nothing for {} s", info_.name, kMostSilence.count())};
  }

  std::string hung() const {
    return fmt::format("has done nothing for {} s", std::chrono::duration<double>(patience_).count());
  }

  /// A child that decodes, or that waits for a buffer, is not hung. Polls are counted instead of time, which passes
  /// also while both processes are stopped.
  void note_silent_poll() {
    const std::int64_t at = child_->at();
    const bool is_waiting = pool_ && pool_->is_child_waiting();
    silent_polls_ = std::exchange(last_at_, at) != at || is_waiting ? 0 : silent_polls_ + 1;
  }

  std::optional<Outcome<Frame>> handle(FrameAllocator& allocator) {
    if (child_->handle(packet_, nullptr)) return std::nullopt;
    switch (packet_.header.kind) {
      case Kind::kNeed: provide(read_need(packet_), allocator); return std::nullopt;
      case Kind::kFrame: return deliver();
      case Kind::kFailure: return pass_on(read_failure(packet_));
      case Kind::kFaults: set_faults(read_faults(packet_)); return std::nullopt;
      case Kind::kError: return fail_by(read_error(packet_));
      default: throw BadMessage("its kind is unknown");
    }
  }

  void provide(std::size_t bytes, FrameAllocator& allocator) {
    if (!pool_ || pool_->capacity() < bytes || std::exchange(is_pool_lost_, false)) {
      const std::size_t ahead = SharedPool::ahead(info_.live);
      const std::size_t buffers = std::max(allocator.buffers(), ahead + 1);  // with held_buffers()
      if (pool_) allocator.give_back(pool_->bytes());
      pool_.reset();
      allocator.take(buffers * bytes);
      std::shared_ptr<SharedPool> made = SharedPool::create(++generation_, buffers, ahead, bytes, allocator.memory());
      allocator.take(made->bytes() - buffers * bytes);
      pool_ = std::move(made);
    }
    pool_->connect(child_->channel());
  }

  Outcome<Frame> deliver() {
    if (!pool_ || child_->phase() != Phase::kReading) throw BadMessage("a frame has no memory");
    ReceivedFrame received = read_frame(packet_,
                                        {.generation = pool_->generation(),
                                         .buffers = pool_->buffers(),
                                         .capacity = pool_->capacity(),
                                         .next = restarts_.next_of_child()},
                                        Clock::now());
    Frame& frame = received.frame;
    frame.lease = pool_->lease(received.index);
    if (!frame.lease) throw BadMessage("a buffer is not the child's");
    const FrameBuffer& buffer = frame.lease.buffer();
    frame.view.memory = buffer.memory;
    const auto sizes = plane_sizes(frame.view.format, frame.view.width, frame.view.height);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i].rows > 0)
        frame.view.planes[i] = reinterpret_cast<const std::uint8_t*>(buffer.data) + received.offset[i];
    frame.name = kept(packet_.text());
    frame.sequence = restarts_.deliver(frame.sequence);
    if (info_.live) frame.timestamp_ns = clock_.stamp(frame.timestamp_ns, Clock::now());
    return std::move(frame);
  }

  void set_faults(const SourceFaults& faults) {
    const std::scoped_lock lock(faults_mutex_);
    faults_ = faults;
  }

  /// The next child counts from 0.
  void keep_faults() {
    const std::scoped_lock lock(faults_mutex_);
    faults_before_ += std::exchange(faults_, {});
  }

  /// NAME for as long as the source.
  std::string_view kept(std::string_view name) {
    if (name.empty()) return {};
    const auto known = names_.find(name);
    return known != names_.end() ? *known : *names_.emplace(name).first;
  }

  Failure pass_on(Failure failure) {
    if (child_->phase() != Phase::kReading) throw BadMessage("a failure is unexpected");
    switch (failure.status) {
      case Status::kCorrupt:
      case Status::kNoBuffer:
      case Status::kBehind: restarts_.deliver_nothing(); break;
      case Status::kTimeout: break;
      case Status::kEnd:
      case Status::kLost: last_ = failure; break;
      default: throw BadMessage("a status is unexpected");
    }
    return failure;
  }

  /// The source could not be opened again, or its reader has thrown ERROR.
  Outcome<Frame> fail_by(const Error& error) {
    if (child_->phase() == Phase::kReading) {
      last_ = Failure{Status::kLost, error.what()};
      return *last_;
    }
    return died(fmt::format("can't open it again ({})", error.what()));
  }

  /// The child has ended, or must; HOW completes the sentence. Each death is reported: whoever reads says it once.
  Failure died(const std::string& how) {
    const bool was_reading = child_->phase() == Phase::kReading;
    const std::int64_t at = child_->at();
    static_cast<void>(child_->process().end());
    is_pool_lost_ = is_pool_lost_ || child_->process().is_left();
    child_.reset();
    if (pool_) pool_->disconnect();
    keep_faults();
    restarts_.die();
    clock_.restart();
    restart_at_ = Clock::now() + restarts_.pause();
    const std::string what = fmt::format("{}: the process that reads it {}", info_.name, how);
    if (restarts_.is_stuck()) return give_up(what, was_reading, at);
    const std::string message =
        info_.live ? what + "; it is started again"
                   : fmt::format("{}; it is started again and goes on after {} frames", what, restarts_.delivered());
    return Failure{Status::kTimeout, message};
  }

  /// After several deaths at one frame.
  Failure give_up(const std::string& what, bool was_reading, std::int64_t at) {
    if (!was_reading || !restarts_.may_skip()) {
      last_ = Failure{Status::kLost, fmt::format("{}, {} times", what, Restarts::kMostDeaths)};
      return *last_;
    }
    const std::int64_t frame = restarts_.skip(at);
    return {Status::kCorrupt,
            fmt::format("{}, {} times at frame {}: it is skipped", what, Restarts::kMostDeaths, frame)};
  }

  SourceSpec spec_;
  std::filesystem::path helper_;
  SourceInfo info_;
  std::set<std::string, std::less<>> names_;
  std::unique_ptr<SourceChild> child_;
  std::shared_ptr<SharedPool> pool_;
  bool is_pool_lost_ = false;  ///< to a child that does not end
  std::uint32_t generation_ = 0;
  Restarts restarts_;
  ChildClock clock_;  ///< of a live source
  Clock::time_point restart_at_;
  std::chrono::milliseconds patience_;
  int silent_polls_ = 0;         ///< in a row
  std::int64_t last_at_ = -1;    ///< what the child decoded at the last one
  std::optional<Failure> last_;  ///< the end
  std::atomic<bool> is_cancelled_ = false;
  Event cancelled_;
  Packet packet_;
  mutable std::mutex faults_mutex_;
  SourceFaults faults_;         ///< of this child
  SourceFaults faults_before_;  ///< of those before it
};

}  // namespace
}  // namespace isolated

std::unique_ptr<FrameReader> open_isolated(isolated::SourceSpec spec, std::filesystem::path helper,
                                           std::chrono::milliseconds patience) {
  return std::make_unique<isolated::IsolatedReader>(std::move(spec), std::move(helper), patience);
}

std::unique_ptr<FrameReader> open_isolated(isolated::SourceSpec spec) {
  return open_isolated(std::move(spec), helper_program("saccade-source"));
}

}  // namespace saccade
