#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "media/v4l2/system_calls.hpp"

namespace saccade::v4l2 {
namespace {

namespace fs = std::filesystem;

std::size_t reserved_bytes(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + SystemCalls::kSlack + page - 1) / page * page;
}

class LinuxCalls final : public SystemCalls {
 public:
  LinuxCalls() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_ < 0) fail(ErrorCode::kIo, "a camera can't be opened: {}", std::strerror(errno));
  }
  ~LinuxCalls() override { ::close(wake_); }
  LinuxCalls(const LinuxCalls&) = delete;
  LinuxCalls& operator=(const LinuxCalls&) = delete;

  int open(const std::string& path) noexcept override {
    int device = 0;
    do device = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    while (device < 0 && errno == EINTR);
    return device < 0 ? -errno : device;
  }

  void close(int device) noexcept override { ::close(device); }

  int control(int device, std::uint64_t request, void* argument) noexcept override {
    int result = 0;
    do result = ioctl(device, request, argument);
    while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : 0;
  }

  /// The buffer replaces the beginning of an anonymous mapping, whose rest can be read.
  std::byte* map(int device, std::size_t bytes, std::int64_t offset) noexcept override {
    const std::size_t reserved = reserved_bytes(bytes);
    void* place = mmap(nullptr, reserved, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) return nullptr;
    if (mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, device, offset) != MAP_FAILED)
      return static_cast<std::byte*>(place);
    munmap(place, reserved);
    return nullptr;
  }

  void unmap(std::byte* memory, std::size_t bytes) noexcept override { munmap(memory, reserved_bytes(bytes)); }

  Readiness wait(int device, std::chrono::nanoseconds timeout) noexcept override {
    std::array<pollfd, 2> polled = {{{wake_, POLLIN, 0}, {device, POLLIN | POLLPRI, 0}}};
    const auto nanoseconds = std::max<std::chrono::nanoseconds>(timeout, {}).count();
    const timespec time = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    // A signal ends the wait early, as a timeout does: the caller looks at the clock.
    if (ppoll(polled.data(), device < 0 ? 1 : 2, &time, nullptr) <= 0) return {};
    // An unplugged device and a failed stream have POLLERR, and so has a stream without a queued buffer.
    return {.has_frame = (polled[1].revents & (POLLIN | POLLERR | POLLHUP)) != 0,
            .has_event = (polled[1].revents & POLLPRI) != 0,
            .is_interrupted = (polled[0].revents & POLLIN) != 0};
  }

  void interrupt() noexcept override {
    constexpr std::uint64_t kOne = 1;
    // Full, it is set already.
    [[maybe_unused]] const ssize_t written = ::write(wake_, &kOne, sizeof(kOne));
  }

  Clock::time_point now() const noexcept override { return Clock::now(); }

  std::vector<std::string> devices() const override {
    std::vector<std::pair<int, std::string>> found;
    std::error_code error;
    for (fs::directory_iterator entry("/dev", error), end; !error && entry != end; entry.increment(error)) {
      constexpr std::string_view kPrefix = "video";
      const std::string name = entry->path().filename();
      if (!name.starts_with(kPrefix)) continue;
      int number = 0;
      const auto [rest, wrong] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
      if (wrong == std::errc() && rest == name.data() + name.size()) found.emplace_back(number, entry->path());
    }
    std::ranges::sort(found);
    std::vector<std::string> paths;
    std::ranges::transform(found, std::back_inserter(paths), [](const auto& numbered) { return numbered.second; });
    return paths;
  }

  std::string resolve(const std::string& path) const override {
    std::error_code error;
    const fs::path target = fs::canonical(path, error);
    return error ? path : target.string();
  }

  std::string read_text(const std::string& path) const override {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
  }

 private:
  int wake_;
};

}  // namespace

std::shared_ptr<SystemCalls> linux_calls() { return std::make_shared<LinuxCalls>(); }

}  // namespace saccade::v4l2
