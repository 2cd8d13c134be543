#pragma once

#include <condition_variable>
#include <map>
#include <mutex>

#include "media/v4l2/fake_camera.hpp"
#include "media/v4l2/system_calls.hpp"

namespace saccade::test {

/// V4L2 without devices: a clock that only wait() and advance() move, and cameras that a test connects to nodes.
/// Buffers are poisoned when the driver gets them.
class FakeCalls final : public v4l2::SystemCalls {
 public:
  static constexpr const char* kNode = "/dev/video0";

  /// With CAMERA at kNode.
  explicit FakeCalls(FakeCamera camera = {}) { plug(kNode, std::make_shared<FakeCamera>(std::move(camera))); }
  FakeCalls(const FakeCalls&) = delete;
  FakeCalls& operator=(const FakeCalls&) = delete;
  ~FakeCalls() override;

  int open(const std::string& path) noexcept override;
  void close(int device) noexcept override;
  int control(int device, std::uint64_t request, void* argument) noexcept override;
  std::byte* map(int device, std::size_t bytes, std::int64_t offset) noexcept override;
  void unmap(std::byte* memory, std::size_t bytes) noexcept override;
  v4l2::Readiness wait(int device, std::chrono::nanoseconds timeout) noexcept override;
  void interrupt() noexcept override;
  Clock::time_point now() const noexcept override;
  std::vector<std::string> devices() const override;
  std::string resolve(const std::string& path) const override;
  std::string read_text(const std::string& path) const override;

  FakeCamera& camera() const { return *nodes_.at(kNode); }
  std::shared_ptr<FakeCamera> share() const { return nodes_.at(kNode); }
  void plug(const std::string& path, std::shared_ptr<FakeCamera> camera);
  /// Its descriptors fail from now on.
  void unplug(const std::string& path);
  void link(const std::string& path, const std::string& target) { links_[path] = target; }
  /// Does ACT when the clock reaches TIME after the start.
  void at(std::chrono::nanoseconds time, std::function<void()> act);
  /// Moves the clock on, without a call of wait().
  void advance(std::chrono::nanoseconds time);
  /// Time since the start.
  std::chrono::nanoseconds elapsed() const { return now() - kStart; }
  /// Tells CAMERA's program that its input's signal has another format.
  void announce_format(FakeCamera& camera);
  /// Makes wait() wait until interrupt(), for tests with a second thread.
  void block();
  /// Waits until a thread is in wait().
  void wait_for_waiter();

  int open_descriptors() const { return static_cast<int>(descriptors_.size()); }
  int mappings() const { return static_cast<int>(mappings_.size()); }
  /// Calls of wait().
  std::int64_t waits() const { return waits_; }

 private:
  static constexpr Clock::time_point kStart{std::chrono::hours(1)};

  struct Descriptor {
    std::shared_ptr<FakeCamera> camera;
    std::uint64_t generation = 0;
  };

  FakeCamera* alive(int device);
  int handle(FakeCamera& camera, int device, std::uint64_t request, void* argument);
  int queue(FakeCamera& camera, v4l2_buffer& buffer);
  int dequeue(FakeCamera& camera, v4l2_buffer& buffer);
  int request_buffers(FakeCamera& camera, int device, v4l2_requestbuffers& request);
  int start(FakeCamera& camera);
  int set_format(FakeCamera& camera, int device, v4l2_format& format);
  void produce(FakeCamera& camera);
  void run_until(Clock::time_point time, int device);
  v4l2::Readiness readiness(int device);

  mutable std::recursive_mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, std::shared_ptr<FakeCamera>> nodes_;
  std::map<std::string, std::string> links_;
  std::map<int, Descriptor> descriptors_;
  std::map<std::byte*, std::shared_ptr<std::vector<std::byte>>> mappings_;
  std::multimap<Clock::time_point, std::function<void()>> actions_;
  Clock::time_point now_ = kStart;
  std::int64_t waits_ = 0;
  int next_descriptor_ = 100;
  bool is_interrupted_ = false;
  bool is_blocking_ = false;
  bool is_waiting_ = false;
};

/// Of formats as a driver lists them. Negative error numbers.
int enumerate(const FakeCamera& camera, v4l2_fmtdesc& description);
int enumerate(const FakeCamera& camera, v4l2_frmsizeenum& size);
int enumerate(const FakeCamera& camera, v4l2_frmivalenum& interval);
int query(const FakeCamera& camera, v4l2_query_ext_ctrl& control);
int query(const FakeCamera& camera, v4l2_querymenu& item);
int set_controls(FakeCamera& camera, const v4l2_ext_controls& settings);
/// Fills PIXELS' pitch, size of a buffer and colours for its format and size.
void complete(const FakeCamera& camera, v4l2_pix_format& pixels);

}  // namespace saccade::test
