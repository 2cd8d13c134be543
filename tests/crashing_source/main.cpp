// A saccade-source whose reader fails as its URI says: words NAME=VALUE, separated by spaces.
//
//   frames=N      its length; frame I has 32x16 pixels of value I (RGB)
//   live=1        it is live: frames are numbered from 100 in every process
//   crash=I       frame I crashes the process: how=segv|abort|exit|kill
//   once=FILE     crash and hang only while there is no FILE, which they create
//   skips=1       frames can be skipped
//   corrupt=I     frame I is corrupt
//   hang=I        at frame I it waits until it is cancelled
//   foreign=1     frames lie in memory of its own, as those of a camera's driver
//   grow=I        frames from I on are larger
//   send=WHAT     at frame crash=I it sends: noise, index, pitch, twice, version, kind
//   video=FILE    the frames of FILE; crash=I is one of its packets
//   open=WHAT     opening it: crash, hang, error
//   gone=FILE     it can be opened once: creates FILE, and fails where it is
//
// A camera's URI is read from test::fake_cameras().
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "media/isolated/channel.hpp"
#include "media/isolated/serve_source.hpp"
#include "media/v4l2/camera.hpp"
#include "media/v4l2/fake_cameras.hpp"
#include "saccade/cameras.hpp"

namespace saccade {
namespace {

class Words {
 public:
  explicit Words(const std::string& uri) {
    std::istringstream stream(uri);
    for (std::string word; stream >> word;) {
      const std::size_t at = word.find('=');
      words_[word.substr(0, at)] = at == std::string::npos ? "" : word.substr(at + 1);
    }
  }
  std::string text(const std::string& name) const {
    const auto found = words_.find(name);
    return found == words_.end() ? "" : found->second;
  }
  std::int64_t number(const std::string& name, std::int64_t otherwise) const {
    const std::string found = text(name);
    return found.empty() ? otherwise : std::stoll(found);
  }

 private:
  std::map<std::string, std::string> words_;
};

[[noreturn]] void crash(const std::string& how) {
  if (how == "abort") std::abort();
  if (how == "exit") _exit(7);
  raise(how == "segv" ? SIGSEGV : SIGKILL);
  std::abort();
}

void send_bad(const std::string& what, std::int64_t sequence) {
  const int other = dup(isolated::kSocket);
  const isolated::Channel channel(other);
  isolated::FrameHead head{
      .generation = 1, .width = 32, .height = 16, .pitch_bytes = {128, 0, 0}, .sequence = sequence};
  if (what == "index") head.index = 1'000'000;
  if (what == "pitch") head.pitch_bytes = {0x7FFFFFFF, 0, 0};
  if (what == "version") {
    const isolated::Header header{.version = isolated::kVersion + 1};
    send(other, &header, sizeof header, 0);
  } else if (what == "kind") {
    channel.send(isolated::Start{});
  } else if (what == "noise") {
    std::array<unsigned char, 700> noise{};
    for (unsigned char& byte : noise) byte = static_cast<unsigned char>(std::rand());
    send(other, noise.data(), noise.size(), 0);
  } else {
    channel.send(head);
    if (what == "twice") channel.send(head);
  }
}

/// Memory that is not the pool's.
class ForeignMemory final : public FrameAllocator {
 public:
  FrameLease acquire(std::size_t bytes) override {
    memory_.resize(bytes + 64);
    buffer_ = {.data = memory_.data() + 3, .capacity = bytes};
    return {*this, buffer_};
  }
  FrameLease try_acquire(std::size_t bytes) override { return acquire(bytes); }
  void release(FrameBuffer&) noexcept override {}

 private:
  std::vector<std::byte> memory_;
  FrameBuffer buffer_;
};

class CrashingReader final : public FrameReader {
 public:
  explicit CrashingReader(const std::string& uri) : words_(uri), is_foreign_(words_.number("foreign", 0) == 1) {
    if (words_.text("open") == "crash" && is_due()) crash("segv");
    if (words_.text("open") == "hang" && is_due()) std::this_thread::sleep_for(std::chrono::hours(1));
    if (words_.text("open") == "error" && is_due()) fail(ErrorCode::kUnsupported, "'{}': no such camera", uri);
    if (!is_here()) fail(ErrorCode::kNotFound, "there is no such camera");
    info_ = {
        .name = uri, .live = words_.number("live", 0) == 1, .frame_rate = 100, .frames = words_.number("frames", -1)};
    log(LogLevel::kWarning, "{} is open", uri);
  }

  const SourceInfo& info() const override { return info_; }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    if (next_ == info_.frames) return Failure{Status::kEnd, {}};
    if (skipped_.contains(next_)) return Failure{Status::kCorrupt, fmt::format("frame {} is skipped", next_++)};
    if (next_ == words_.number("hang", -1) && is_due())
      while (!is_cancelled_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (is_cancelled_) return Failure{Status::kCancelled, {}};
    if (next_ == words_.number("corrupt", -1)) return Failure{Status::kCorrupt, fmt::format("frame {}", next_++)};
    if (next_ == words_.number("crash", -1) && is_due()) {
      if (words_.text("send").empty()) crash(words_.text("how"));
      send_bad(words_.text("send"), next_);
      std::this_thread::sleep_for(std::chrono::seconds(60));
    }
    if (info_.live) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return frame(allocator);
  }

  bool skip(std::int64_t number) override {
    skipped_.insert(number);
    return words_.number("skips", 0) == 1;
  }

  void cancel() noexcept override { is_cancelled_ = true; }

 private:
  bool is_due() const {
    const std::string marker = words_.text("once");
    if (marker.empty()) return true;
    if (access(marker.c_str(), F_OK) == 0) return false;
    std::ofstream(marker) << "crashed";
    return true;
  }

  bool is_here() const {
    const std::string marker = words_.text("gone");
    if (marker.empty()) return true;
    if (access(marker.c_str(), F_OK) == 0) return false;
    std::ofstream(marker) << "opened";
    return true;
  }

  Outcome<Frame> frame(FrameAllocator& allocator) {
    FrameAllocator& storage = is_foreign_ ? foreign_ : allocator;
    const int side = next_ >= words_.number("grow", 1 << 30) ? 8 : 1;
    const std::size_t bytes = frame_bytes(PixelFormat::kRgb24, 32 * side, 16 * side);
    Frame made;
    made.lease = info_.live ? storage.try_acquire(bytes) : storage.acquire(bytes);
    if (!made.lease) return Failure{info_.live ? Status::kNoBuffer : Status::kCancelled, {}};
    made.view = lay_out(made.lease.buffer(), PixelFormat::kRgb24, 32 * side, 16 * side);
    std::fill_n(made.lease.buffer().data, bytes, static_cast<std::byte>(next_));
    made.sequence = next_ + (info_.live ? 100 : 0);
    made.timestamp_ns = next_ * 10'000'000;
    made.image_id = next_;
    made.name = "a frame";
    made.captured = Clock::now();
    made.exposed = made.captured - std::chrono::milliseconds(1);
    ++next_;
    return made;
  }

  Words words_;
  bool is_foreign_;
  ForeignMemory foreign_;
  SourceInfo info_;
  std::int64_t next_ = 0;
  std::set<std::int64_t> skipped_;
  std::atomic<bool> is_cancelled_ = false;
};

/// A video whose decoder crashes at a packet.
class CrashingVideo final : public FrameReader {
 public:
  CrashingVideo(const Words& words, const ReaderOptions& options)
      : reader_(open_reader(words.text("video"), options)), at_(*options.at), crash_(words.number("crash", -1)) {}

  const SourceInfo& info() const override { return reader_->info(); }
  Outcome<Frame> read(FrameAllocator& allocator) override {
    Outcome<Frame> outcome = reader_->read(allocator);
    if (at_ >= crash_ && !skipped_.contains(crash_)) crash("kill");
    return outcome;
  }
  bool skip(std::int64_t number) override {
    skipped_.insert(number);
    return reader_->skip(number);
  }
  void cancel() noexcept override { reader_->cancel(); }

 private:
  std::unique_ptr<FrameReader> reader_;
  std::atomic<std::int64_t>& at_;
  std::int64_t crash_;
  std::set<std::int64_t> skipped_;
};

std::unique_ptr<FrameReader> open(const isolated::SourceSpec& spec) {
  if (is_camera(spec.uri))
    return v4l2::open_camera(spec.uri, {spec.options.model_width, spec.options.model_height}, test::fake_cameras());
  const Words words(spec.uri);
  if (!words.text("video").empty()) return std::make_unique<CrashingVideo>(words, spec.options);
  return std::make_unique<CrashingReader>(spec.uri);
}

}  // namespace
}  // namespace saccade

int main(int count, char** arguments) { saccade::isolated::serve_source(count, arguments, saccade::open); }
