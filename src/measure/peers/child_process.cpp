#include "measure/peers/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.hpp"

extern char** environ;

namespace saccade {
namespace {

constexpr std::size_t kLongestLine = std::size_t{64} << 20U;

std::string reason(int number) { return std::strerror(number); }

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, std::string error_file)
    : error_file_(std::move(error_file)) {
  std::array<int, 2> sockets{};
  // A socket, not a pipe: writing to a program that has ended must not raise SIGPIPE.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    fail(ErrorCode::kIo, "can't create a socket for {}: {}", arguments[0], reason(errno));
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error_file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int error = posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(sockets[1]);
  socket_ = sockets[0];
  if (error == 0) return;
  close(socket_);
  fail(error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "can't start {}: {}", arguments[0], reason(error));
}

ChildProcess::~ChildProcess() {
  close(socket_);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ChildProcess::write_line(std::string_view line) {
  std::string text(line);
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_as_ended();
    sent += static_cast<std::size_t>(count);
  }
}

std::string ChildProcess::read_line(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd entry{.fd = socket_, .events = POLLIN, .revents = 0};
    const int ready = left.count() > 0 ? poll(&entry, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0)
      fail(ErrorCode::kIo, "it did not respond within {:.3g} s{}", std::chrono::duration<double>(timeout).count(),
           last_words());
    std::array<char, 4096> buffer{};
    const ssize_t count = recv(socket_, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_as_ended();
    received_.append(buffer.data(), static_cast<std::size_t>(count));
    if (received_.size() > kLongestLine) fail(ErrorCode::kIo, "its response is too long");
  }
}

void ChildProcess::fail_as_ended() {
  int status = 0;
  kill(pid_, SIGKILL);  // no effect if it has ended; a program that only closed its output must not be waited for
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFEXITED(status)) fail(ErrorCode::kIo, "it ended with exit code {}{}", WEXITSTATUS(status), last_words());
  fail(ErrorCode::kIo, "it was ended by signal {}{}", WTERMSIG(status), last_words());
}

std::string ChildProcess::last_words() const {
  std::ifstream file(error_file_);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) last = line;
  return last.empty() ? "" : ": " + last.substr(0, 500);
}

}  // namespace saccade
