#include "media/v4l2/fake_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace saccade::test {
namespace {

using State = FakeCamera::Buffer::State;

std::chrono::nanoseconds period_of(const FakeCamera& camera) {
  return std::chrono::nanoseconds(std::int64_t{1'000'000'000} * camera.interval.numerator /
                                  std::max(camera.interval.denominator, 1U));
}

template <std::size_t N>
void put(unsigned char (&to)[N], const std::string& text) {
  text.copy(reinterpret_cast<char*>(to), N);
}

void stop_stream(FakeCamera& camera) {
  camera.is_streaming = false;
  camera.queued.clear();
  camera.done.clear();
  for (FakeCamera::Buffer& buffer : camera.buffers) buffer.state = State::kFree;
}

void free_buffers(FakeCamera& camera) {
  stop_stream(camera);
  camera.buffers.clear();
  camera.owner = -1;
}

}  // namespace

FakeCalls::~FakeCalls() {
  EXPECT_TRUE(descriptors_.empty()) << "a device was not closed";
  EXPECT_TRUE(mappings_.empty()) << "a buffer was not unmapped";
}

void FakeCalls::plug(const std::string& path, std::shared_ptr<FakeCamera> camera) {
  const std::scoped_lock lock(mutex_);
  nodes_[path] = std::move(camera);
}

void FakeCalls::unplug(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  const auto node = nodes_.find(path);
  ++node->second->generation;
  free_buffers(*node->second);
  nodes_.erase(node);
}

void FakeCalls::at(std::chrono::nanoseconds time, std::function<void()> act) {
  const std::scoped_lock lock(mutex_);
  actions_.emplace(kStart + time, std::move(act));
}

void FakeCalls::announce_format(FakeCamera& camera) {
  const std::scoped_lock lock(mutex_);
  v4l2_event event{};
  event.type = V4L2_EVENT_SOURCE_CHANGE;
  event.u.src_change.changes = V4L2_EVENT_SRC_CH_RESOLUTION;
  camera.events.push_back(event);
}

int FakeCalls::open(const std::string& path) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto node = nodes_.find(resolve(path));
  if (node == nodes_.end()) return -ENOENT;
  FakeCamera& camera = *node->second;
  if (camera.open_error != 0) return camera.open_error;
  descriptors_[next_descriptor_] = {node->second, camera.generation};
  return next_descriptor_++;
}

void FakeCalls::close(int device) noexcept {
  const std::scoped_lock lock(mutex_);
  if (FakeCamera* camera = alive(device); camera != nullptr && camera->owner == device) free_buffers(*camera);
  EXPECT_EQ(descriptors_.erase(device), 1U);
}

FakeCamera* FakeCalls::alive(int device) {
  const auto found = descriptors_.find(device);
  if (found == descriptors_.end()) return nullptr;
  return found->second.generation == found->second.camera->generation ? found->second.camera.get() : nullptr;
}

int FakeCalls::control(int device, std::uint64_t request, void* argument) noexcept {
  std::function<void()> hook;
  int result = 0;
  {
    const std::scoped_lock lock(mutex_);
    FakeCamera* camera = alive(device);
    if (camera == nullptr) return descriptors_.contains(device) ? -ENODEV : -EBADF;
    ++camera->calls[request];
    if (const auto found = camera->hooks.find(request); found != camera->hooks.end()) hook = found->second;
    std::deque<int>& errors = camera->next_errors[request];
    if (!errors.empty()) {
      result = errors.front();
      errors.pop_front();
    } else if (const auto error = camera->all_errors.find(request); error != camera->all_errors.end()) {
      result = error->second;
    }
    if (result == 0) result = handle(*camera, device, request, argument);
  }
  if (hook) hook();
  return result;
}

int FakeCalls::handle(FakeCamera& camera, int device, std::uint64_t request, void* argument) {
  switch (request) {
    case VIDIOC_QUERYCAP: {
      auto& capability = *static_cast<v4l2_capability*>(argument);
      put(capability.driver, camera.driver);
      put(capability.card, camera.card);
      put(capability.bus_info, camera.bus);
      capability.capabilities = camera.capabilities | V4L2_CAP_DEVICE_CAPS | V4L2_CAP_VIDEO_CAPTURE;
      capability.device_caps = camera.capabilities;
      return 0;
    }
    case VIDIOC_ENUM_FMT: return enumerate(camera, *static_cast<v4l2_fmtdesc*>(argument));
    case VIDIOC_ENUM_FRAMESIZES: return enumerate(camera, *static_cast<v4l2_frmsizeenum*>(argument));
    case VIDIOC_ENUM_FRAMEINTERVALS: return enumerate(camera, *static_cast<v4l2_frmivalenum*>(argument));
    case VIDIOC_QUERY_EXT_CTRL: return query(camera, *static_cast<v4l2_query_ext_ctrl*>(argument));
    case VIDIOC_QUERYMENU: return query(camera, *static_cast<v4l2_querymenu*>(argument));
    case VIDIOC_S_EXT_CTRLS: return set_controls(camera, *static_cast<v4l2_ext_controls*>(argument));
    case VIDIOC_S_FMT: return set_format(camera, device, *static_cast<v4l2_format*>(argument));
    case VIDIOC_G_FMT: {
      auto& pixels = static_cast<v4l2_format*>(argument)->fmt.pix;
      pixels.width = camera.formats.front().sizes.empty() ? 640 : camera.formats.front().sizes.front().width;
      pixels.height = camera.formats.front().sizes.empty() ? 480 : camera.formats.front().sizes.front().height;
      return 0;
    }
    case VIDIOC_S_PARM:
      if (!camera.has_interval) return -ENOTTY;
      camera.interval = static_cast<v4l2_streamparm*>(argument)->parm.capture.timeperframe;
      return 0;
    case VIDIOC_G_PARM:
      if (!camera.has_interval) return -ENOTTY;
      static_cast<v4l2_streamparm*>(argument)->parm.capture.timeperframe = camera.interval;
      return 0;
    case VIDIOC_SUBSCRIBE_EVENT: return 0;
    case VIDIOC_DQEVENT:
      if (camera.events.empty()) return -ENOENT;
      *static_cast<v4l2_event*>(argument) = camera.events.front();
      camera.events.pop_front();
      return 0;
    case VIDIOC_REQBUFS: return request_buffers(camera, device, *static_cast<v4l2_requestbuffers*>(argument));
    case VIDIOC_QUERYBUF: {
      auto& buffer = *static_cast<v4l2_buffer*>(argument);
      if (buffer.index >= camera.buffers.size()) return -EINVAL;
      buffer.length = camera.buffers[buffer.index].length;
      buffer.m.offset = buffer.index << 16;
      return 0;
    }
    case VIDIOC_QBUF: return queue(camera, *static_cast<v4l2_buffer*>(argument));
    case VIDIOC_DQBUF: return dequeue(camera, *static_cast<v4l2_buffer*>(argument));
    case VIDIOC_STREAMON: return start(camera);
    case VIDIOC_STREAMOFF: stop_stream(camera); return 0;
    default: return -ENOTTY;
  }
}

int FakeCalls::set_format(FakeCamera& camera, int device, v4l2_format& format) {
  if (camera.owner != -1 && camera.owner != device) return -EBUSY;
  if (!camera.buffers.empty()) return -EBUSY;
  complete(camera, format.fmt.pix);
  camera.pixels = format.fmt.pix;
  return 0;
}

int FakeCalls::request_buffers(FakeCamera& camera, int device, v4l2_requestbuffers& request) {
  if (camera.owner != -1 && camera.owner != device) return -EBUSY;
  if (camera.is_streaming) return -EBUSY;
  if (request.memory == V4L2_MEMORY_USERPTR && !camera.has_user_memory) return -EINVAL;
  request.count = std::clamp(request.count, camera.fewest_buffers, camera.most_buffers);
  free_buffers(camera);
  camera.owner = device;
  camera.memory = request.memory;
  camera.buffers.resize(request.count);
  for (FakeCamera::Buffer& buffer : camera.buffers) {
    buffer.length = camera.pixels.sizeimage;
    if (request.memory != V4L2_MEMORY_MMAP) continue;
    buffer.memory = std::make_shared<std::vector<std::byte>>(buffer.length + kSlack);
    buffer.data = buffer.memory->data();
  }
  return 0;
}

int FakeCalls::queue(FakeCamera& camera, v4l2_buffer& buffer) {
  if (buffer.index >= camera.buffers.size() || buffer.memory != camera.memory) return -EINVAL;
  FakeCamera::Buffer& own = camera.buffers[buffer.index];
  if (own.state != State::kFree) return -EINVAL;
  if (camera.memory == V4L2_MEMORY_USERPTR) {
    if (buffer.length < camera.pixels.sizeimage) return -EINVAL;
    own.data = reinterpret_cast<std::byte*>(buffer.m.userptr);
    own.length = buffer.length;
    camera.user_pointers.push_back(buffer.m.userptr);
  }
  std::memset(own.data, FakeCamera::kPoison, own.length);
  own.state = State::kQueued;
  camera.queued.push_back(buffer.index);
  return 0;
}

int FakeCalls::start(FakeCamera& camera) {
  ++camera.starts;
  camera.is_streaming = true;
  camera.is_stalled = camera.dead_starts > 0 && camera.dead_starts-- > 0;
  camera.sequence = 0;
  camera.last_number = -1;
  camera.was_dry = false;
  camera.next_frame = now_ + period_of(camera);
  return 0;
}

/// The sensor's next frame.
void FakeCalls::produce(FakeCamera& camera) {
  FakeFrame frame;
  frame.number = camera.produced++;
  frame.sequence = camera.sequence++;
  frame.stamp_ns = (now_ - std::chrono::milliseconds(1)).time_since_epoch().count();
  frame.bytes = camera.pixels.sizeimage;
  camera.next_frame += period_of(camera);
  if (std::ranges::find(camera.stalls, frame.number) != camera.stalls.end()) camera.is_stalled = true;
  if (camera.change) camera.change(frame);
  // The change may have unplugged it.
  if (camera.is_stalled || frame.is_lost || camera.queued.empty()) return;
  const std::uint32_t index = camera.queued.front();
  camera.queued.pop_front();
  FakeCamera::Buffer& buffer = camera.buffers[index];
  if (frame.image.empty()) {
    std::memset(buffer.data, FakeCamera::byte_of(frame.number), std::min(frame.bytes, buffer.length));
  } else {
    frame.bytes = static_cast<std::uint32_t>(frame.image.size());
    std::memcpy(buffer.data, frame.image.data(), std::min<std::size_t>(frame.image.size(), buffer.length));
  }
  buffer.state = State::kDone;
  buffer.frame = std::move(frame);
  camera.done.push_back(index);
}

int FakeCalls::dequeue(FakeCamera& camera, v4l2_buffer& buffer) {
  if (!camera.is_streaming) return -EINVAL;
  if (camera.done.empty()) return -EAGAIN;
  FakeCamera::Buffer& own = camera.buffers[camera.done.front()];
  const FakeFrame& frame = own.frame;
  buffer.index = frame.index.value_or(camera.done.front());
  buffer.bytesused = frame.bytes;
  buffer.sequence = frame.sequence;
  buffer.flags = frame.flags;
  buffer.timestamp.tv_sec = frame.stamp_ns / 1'000'000'000;
  buffer.timestamp.tv_usec = frame.stamp_ns % 1'000'000'000 / 1000;
  own.state = State::kFree;
  camera.done.pop_front();

  FakeCamera::Truth& truth = camera.truth;
  const std::int64_t missing = camera.last_number < 0 ? 0 : frame.number - camera.last_number - 1;
  camera.last_number = frame.number;
  (std::exchange(camera.was_dry, false) ? camera.pending : camera.pending_lost) += missing;
  if (camera.queued.empty() && camera.done.empty()) camera.was_dry = true;
  const bool is_whole = frame.bytes == camera.pixels.sizeimage && !frame.index;
  if ((frame.flags & V4L2_BUF_FLAG_ERROR) != 0 || !is_whole) {
    ++truth.corrupt;
    return 0;
  }
  ++truth.good;
  truth.no_buffer += std::exchange(camera.pending, 0);
  truth.lost += std::exchange(camera.pending_lost, 0);
  return 0;
}

std::byte* FakeCalls::map(int device, std::size_t bytes, std::int64_t offset) noexcept {
  const std::scoped_lock lock(mutex_);
  FakeCamera* camera = alive(device);
  const auto index = static_cast<std::size_t>(offset >> 16);
  if (camera == nullptr || index >= camera->buffers.size() || camera->buffers[index].length != bytes) return nullptr;
  if (camera->unmappable == static_cast<int>(index)) return nullptr;
  std::byte* memory = camera->buffers[index].data;
  mappings_[memory] = camera->buffers[index].memory;
  return memory;
}

void FakeCalls::unmap(std::byte* memory, std::size_t bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  EXPECT_EQ(mappings_.at(memory)->size(), bytes + kSlack);
  mappings_.erase(memory);
}

v4l2::Readiness FakeCalls::readiness(int device) {
  v4l2::Readiness ready{.is_interrupted = is_interrupted_};
  if (device < 0) return ready;
  FakeCamera* camera = alive(device);
  ready.has_frame = camera == nullptr || !camera->done.empty() || camera->is_always_ready || !camera->is_streaming;
  ready.has_event = camera == nullptr || !camera->events.empty();
  return ready;
}

/// Lets time pass until TIME, or until DEVICE has something.
void FakeCalls::run_until(Clock::time_point time, int device) {
  for (;;) {
    const v4l2::Readiness ready = readiness(device);
    if (ready.has_frame || ready.has_event || ready.is_interrupted) return;
    Clock::time_point next = time;
    FakeCamera* due = nullptr;
    for (const auto& [path, camera] : nodes_)
      if (camera->is_streaming && !camera->is_stalled && camera->next_frame <= next) {
        next = camera->next_frame;
        due = camera.get();
      }
    if (!actions_.empty() && actions_.begin()->first <= next) {
      now_ = std::max(now_, actions_.begin()->first);
      const std::function<void()> act = std::move(actions_.begin()->second);
      actions_.erase(actions_.begin());
      act();
      continue;
    }
    now_ = std::max(now_, next);
    if (due == nullptr) return;
    produce(*due);
  }
}

v4l2::Readiness FakeCalls::wait(int device, std::chrono::nanoseconds timeout) noexcept {
  std::unique_lock lock(mutex_);
  // A reader that never ends would hang the test.
  if (++waits_ > 3'000'000) is_interrupted_ = true;
  if (is_blocking_) {
    is_waiting_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_interrupted_; });
    return readiness(-1);
  }
  // A call takes time, too.
  run_until(now_ + std::max<std::chrono::nanoseconds>(timeout, std::chrono::microseconds(1)), device);
  return readiness(device);
}

void FakeCalls::advance(std::chrono::nanoseconds time) {
  const std::scoped_lock lock(mutex_);
  run_until(now_ + time, -1);
}

void FakeCalls::interrupt() noexcept {
  const std::scoped_lock lock(mutex_);
  is_interrupted_ = true;
  changed_.notify_all();
}

void FakeCalls::block() {
  const std::scoped_lock lock(mutex_);
  is_blocking_ = true;
  is_waiting_ = false;
}

void FakeCalls::wait_for_waiter() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_waiting_; });
}

Clock::time_point FakeCalls::now() const noexcept {
  const std::scoped_lock lock(mutex_);
  return now_;
}

std::vector<std::string> FakeCalls::devices() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [path, camera] : nodes_) paths.push_back(path);
  return paths;
}

std::string FakeCalls::resolve(const std::string& path) const {
  const std::scoped_lock lock(mutex_);
  const auto link = links_.find(path);
  return link == links_.end() ? path : link->second;
}

std::string FakeCalls::read_text(const std::string& path) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& [node, camera] : nodes_) {
    const std::string folder = "/sys/class/video4linux/" + node.substr(node.rfind('/') + 1) + "/";
    if (path == folder + "index") return camera->index;
    if (path == folder + "device/../serial") return camera->serial;
  }
  return {};
}

}  // namespace saccade::test
