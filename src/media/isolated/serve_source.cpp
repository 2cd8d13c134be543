#include "media/isolated/serve_source.hpp"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/log.hpp"
#include "media/image_list.hpp"
#include "media/isolated/child_pool.hpp"
#include "media/isolated/frame_message.hpp"
#include "media/isolated/received.hpp"

namespace saccade::isolated {
namespace {

const Channel* log_channel = nullptr;

void send_log(LogLevel level, std::string_view line) noexcept {
  log_channel->send(LogLine{.level = static_cast<std::uint32_t>(level)}, line);
}

/// Where to begin.
struct Progress {
  std::vector<std::int64_t> skipped;
  std::int64_t delivered = 0;
};

pid_t parent = 0;

/// Ends with PROCESS. Terminals and service managers signal all processes of a run: it is the parent's to end this one.
void follow(pid_t process) {
  parent = process;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  // The kernel sends it also when the thread ends that has started this process.
  std::signal(SIGUSR1, [](int) {
    if (getppid() != parent) _exit(0);
  });
  prctl(PR_SET_PDEATHSIG, SIGUSR1);
  if (getppid() != parent) _exit(0);
}

class SourceServer {
 public:
  SourceServer(int socket, const OpenSource& open) : channel_(socket), open_(open), pool_(channel_) {
    log_channel = &channel_;
    set_log_writer(send_log);
    // It ends the process when the parent has ended, whatever the reader is waiting for.
    std::thread([this] { receive_all(); }).detach();
  }

  void run() {
    while (wait([this] { return has_spec_ && spec_.images.size() == images_; })) {
      try {
        serve(take_spec());
      } catch (const Error& error) {
        channel_.send(Fault{.code = static_cast<std::uint32_t>(error.code())}, error.what());
      } catch (const std::bad_alloc&) {
        channel_.send(Fault{.code = static_cast<std::uint32_t>(ErrorCode::kIo)}, "out of memory for its frames");
      } catch (const std::exception& error) {
        channel_.send(Fault{.code = static_cast<std::uint32_t>(ErrorCode::kInternal)}, error.what());
      }
      if (!has_ended_) set_reader(nullptr);
    }
  }

 private:
  // Of the thread that reads.

  /// False if reading was cancelled.
  template <typename Condition>
  bool wait(const Condition& condition) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return cancelled_ || condition(); });
    return !cancelled_;
  }

  SourceSpec take_spec() {
    const std::scoped_lock lock(mutex_);
    has_spec_ = false;
    return std::exchange(spec_, {});
  }

  void set_reader(std::unique_ptr<FrameReader> reader) {
    const std::scoped_lock lock(mutex_);
    std::swap(reader_, reader);
    if (reader_ != nullptr && cancelled_) reader_->cancel();
  }

  void serve(const SourceSpec& spec) {
    const bool is_loop = std::exchange(has_ended_, false);
    // After several deaths at a frame, a round is decoded by one thread.
    const bool is_same = is_loop && spec.options.decode_threads == decode_threads_;
    if (!is_same || !reader_->rewind()) {
      set_reader(nullptr);  // its memory is for the next one
      set_reader(open_(spec));
      decode_threads_ = spec.options.decode_threads;
    }
    say_hello(reader_->info());
    const Progress progress = wait_for_start();
    for (const std::int64_t number : progress.skipped) skip(number);
    if (!pass_over(progress.delivered)) return;
    while (send_next()) {
    }
  }

  /// Passes over the COUNT frames that the parent has. False if the source has ended. A decoder starts at the
  /// beginning.
  bool pass_over(std::int64_t count) {
    if (reader_->pass_over(count)) return true;
    for (std::int64_t i = 0; i < count; ++i) {
      const Outcome<Frame> outcome = reader_->read(pool_);
      if (outcome || outcome.failure().status == Status::kCorrupt) continue;
      send_failure(outcome.failure());
      return false;
    }
    return true;
  }

  Progress wait_for_start() {
    wait([this] { return has_started_; });
    const std::scoped_lock lock(mutex_);
    has_started_ = false;
    return std::exchange(progress_, {});
  }

  void skip(std::int64_t number) {
    if (!reader_->skip(number))
      fail(ErrorCode::kInvalidFile, "{}: frame {} crashes the process that reads it, and can't be skipped",
           reader_->info().name, number);
  }

  void say_hello(const SourceInfo& info) {
    channel_.send(Hello{.files = static_cast<std::uint32_t>(info.files.size()),
                        .width = info.width,
                        .height = info.height,
                        .live = info.live,
                        .endless = info.endless,
                        .frame_rate = info.frame_rate,
                        .frames = info.frames},
                  info.name);
    for (std::uint32_t i = 0; i < info.files.size(); ++i) channel_.send(Name{.index = i}, info.files[i]);
  }

  void send_failure(const Failure& failure) {
    channel_.send(Absence{.status = static_cast<std::uint32_t>(failure.status)}, failure.message);
  }

  /// False if the source has ended.
  bool send_next() {
    if (!reader_->info().live) pool_.wait_for_buffer();
    Outcome<Frame> outcome = reader_->read(pool_);
    send_faults();
    if (outcome) {
      send_frame(*outcome);
      return true;
    }
    send_failure(outcome.failure());
    const Status status = outcome.failure().status;
    has_ended_ = status == Status::kEnd;
    return status == Status::kCorrupt || status == Status::kNoBuffer || status == Status::kBehind ||
           status == Status::kTimeout;
  }

  void send_faults() {
    const SourceFaults faults = reader_->faults();
    if (faults == sent_faults_) return;
    channel_.send(Faults{.counts = faults});
    sent_faults_ = faults;
  }

  void send_frame(Frame& frame) {
    std::optional<ChildPool::Place> place = frame.lease ? pool_.hand_over(frame.lease) : std::nullopt;
    if (!place) {
      // The buffer is a driver's.
      if (!copy_into_pool(frame)) return send_failure({Status::kNoBuffer, {}});
      place = pool_.hand_over(frame.lease);
    }
    channel_.send(head_of(frame, *place), frame.name);
  }

  /// False if there is no buffer, which a live source can't wait for.
  bool copy_into_pool(Frame& frame) {
    const FrameView& from = frame.view;
    const std::size_t bytes = frame_bytes(from.format, from.width, from.height);
    FrameLease lease = reader_->info().live ? pool_.try_acquire(bytes) : pool_.acquire(bytes);
    if (!lease) return false;
    frame.view = copy_of(from, lease.buffer());
    frame.lease = std::move(lease);
    return true;
  }

  // Of the thread that receives.

  [[noreturn]] void receive_all() {
    while (true) {
      const Channel::Receipt receipt = channel_.receive(packet_, true, true);
      if (receipt != Channel::Receipt::kMessage) _exit(receipt == Channel::Receipt::kClosed ? 0 : 1);
      handle();
      changed_.notify_all();
    }
  }

  void handle() {
    const std::scoped_lock lock(mutex_);
    if (packet_.is<Open>()) {
      const auto open = packet_.body<Open>();
      set_log_level(static_cast<LogLevel>(open.log_level));
      spec_ = {.uri = std::string(packet_.text()),
               .images = {},
               .options = {.decode_threads = open.decode_threads,
                           .wait = open.wait != 0,
                           .model_width = open.model_width,
                           .model_height = open.model_height}};
      const int page = std::exchange(packet_.descriptor, -1);
      if (at_)
        close(page);
      else
        at_.emplace(SharedMemory::open(page, 1, page_bytes()));
      spec_.options.at = &word_in(*at_);
      images_ = open.images;
      has_spec_ = true;
    } else if (packet_.is<File>()) {
      spec_.images.emplace_back(packet_.text());
    } else if (packet_.is<Skip>()) {
      progress_.skipped.push_back(packet_.body<Skip>().number);
    } else if (packet_.is<Start>()) {
      progress_.delivered = packet_.body<Start>().delivered;
      has_started_ = true;
    } else if (packet_.is<Pool>()) {
      const auto pool = packet_.body<Pool>();
      pool_.add(pool.generation, SharedMemory::open(std::exchange(packet_.descriptor, -1), pool.buffers, pool.bytes));
    } else if (packet_.is<Release>()) {
      const auto release = packet_.body<Release>();
      pool_.give(release.generation, release.index);
    } else if (packet_.is<Cancel>()) {
      cancelled_ = true;
      pool_.cancel();
      if (reader_ != nullptr) reader_->cancel();
    }
  }

  Channel channel_;
  const OpenSource& open_;
  ChildPool pool_;
  SourceFaults sent_faults_;
  bool has_ended_ = false;  ///< the reader is at its end, and may begin again
  int decode_threads_ = 0;  ///< of the reader
  Packet packet_;
  std::mutex mutex_;  ///< of the following
  std::condition_variable changed_;
  SourceSpec spec_;
  std::size_t images_ = 0;          ///< that it will have
  std::optional<SharedMemory> at_;  ///< a Word of the parent, the same for each kOpen
  bool has_spec_ = false;
  Progress progress_;
  bool has_started_ = false;
  bool cancelled_ = false;
  std::unique_ptr<FrameReader> reader_;  ///< set by the thread that reads, which reads it without the lock
};

}  // namespace

std::unique_ptr<FrameReader> open_spec(const SourceSpec& spec) {
  return spec.images.empty() ? open_reader(spec.uri, spec.options) : open_images(spec.uri, spec.images, spec.options);
}

void serve_source(int count, char** arguments, const OpenSource& open) {
  struct stat facts {};
  if (count != 2 || fstat(kSocket, &facts) != 0 || !S_ISSOCK(facts.st_mode)) {
    log(LogLevel::kError, "this program reads a source for saccade run --isolate, which starts it");
    _exit(2);
  }
  follow(std::atoi(arguments[1]));
  SourceServer server(kSocket, open);
  server.run();
  _exit(0);  // the thread that receives uses the server
}

}  // namespace saccade::isolated
