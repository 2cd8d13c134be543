#include "media/isolated/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace saccade::isolated {
namespace {

/// What posix_spawn() does in the child before the program starts.
class SpawnPlan {
 public:
  explicit SpawnPlan(int socket) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    // Standard error stays: a library's last words before it aborts go there.
    posix_spawn_file_actions_adddup2(&actions_, socket, kSocket);
    posix_spawn_file_actions_addclosefrom_np(&actions_, kSocket + 1);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  int start(pid_t& id, const std::string& program) {
    std::string name = program;
    std::string parent = std::to_string(getpid());
    std::array<char*, 3> arguments = {name.data(), parent.data(), nullptr};
    return posix_spawn(&id, program.c_str(), &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// For a killed process to end: more, and it waits in a driver.
constexpr std::chrono::seconds kLongestEnd{2};
constexpr std::chrono::milliseconds kLook{1};

std::string how_it_ended(int status) {
  if (WIFEXITED(status)) return fmt::format("ended with exit code {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const char* const name = sigdescr_np(signal);
  return fmt::format("was killed by signal {} ({})", signal, name != nullptr ? name : "unknown");
}

}  // namespace

ChildProcess::ChildProcess(const std::filesystem::path& helper) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    fail(ErrorCode::kIo, "no socket can be made for the process that reads a source: {}", std::strerror(errno));
  channel_ = std::make_shared<const Channel>(ends[0]);
  // A child that has been stopped, or taken over, must not block this process.
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const int error = SpawnPlan(ends[1]).start(id_, helper.string());
  close(ends[1]);
  if (error == 0) return;
  id_ = 0;
  if (error == ENOENT)
    fail(ErrorCode::kNotFound, "{}, which reads sources with --isolate, is missing: reinstall Saccade",
         helper.string());
  fail(ErrorCode::kIo, "{} can't be started: {}", helper.string(), std::strerror(error));
}

ChildProcess::~ChildProcess() { end(); }

void ChildProcess::cancel(std::chrono::milliseconds patience) {
  channel_->send(Cancel{});
  const auto deadline = Clock::now() + patience;
  auto packet = std::make_unique<Packet>();
  for (auto left = patience; left.count() > 0;
       left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now())) {
    const Channel::Receipt receipt = channel_->receive(*packet, false, false);
    if (receipt == Channel::Receipt::kClosed) return;
    if (receipt != Channel::Receipt::kNothing) continue;
    pollfd socket{.fd = channel_->socket(), .events = POLLIN, .revents = 0};
    poll(&socket, 1, static_cast<int>(left.count()));
  }
}

std::string ChildProcess::end() {
  if (id_ == 0) return "has ended";
  const pid_t id = std::exchange(id_, 0);
  kill(id, SIGKILL);  // no effect on one that has ended
  const auto deadline = Clock::now() + kLongestEnd;
  int status = 0;
  pid_t waited = 0;
  while ((waited = waitpid(id, &status, WNOHANG)) == 0 || (waited < 0 && errno == EINTR)) {
    if (Clock::now() >= deadline) {
      is_left_ = true;
      std::thread([id] { waitpid(id, nullptr, 0); }).detach();
      return "does not end";
    }
    std::this_thread::sleep_for(kLook);
  }
  return waited == id ? how_it_ended(status) : "has ended";  // a program may wait for all children itself
}

}  // namespace saccade::isolated
