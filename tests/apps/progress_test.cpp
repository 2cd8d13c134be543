// The progress display on a terminal.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "progress.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

/// Appends the available output of FILE to TEXT; false at its end, which is an error on a terminal without a writer.
bool take(int file, std::string& text) {
  std::array<char, 4096> bytes{};
  const ssize_t count = read(file, bytes.data(), bytes.size());
  if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0;
}

/// Starts saccade with standard output to OUT and standard error to the terminal of that name.
pid_t start(std::vector<std::string> arguments, int out, const char* terminal) {
  arguments.insert(arguments.begin() + 1, {"--device", "cpu"});
  arguments.insert(arguments.begin(), SACCADE_BINARY);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, terminal, O_WRONLY | O_NOCTTY, 0);
  pid_t pid = -1;
  EXPECT_EQ(posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

TEST(Progress, SaysThePercentAndTheTimeLeft) {
  using std::chrono::seconds;
  EXPECT_EQ(app::share_text("a.onnx", 0.25, seconds(10)), "a.onnx [=======>                      ]  25 %, 30 s left");
  EXPECT_EQ(app::share_text("a", 0.5, std::chrono::milliseconds(300)), "a [===============>              ]  50 %");
  EXPECT_EQ(app::share_text("a", 0.001, seconds(5)), "a [>                             ]   0 %") << "too early to tell";
  EXPECT_EQ(app::share_text("a", 1, seconds(5)), "a [==============================] 100 %");
}

TEST(Progress, IsWipedBeforeAnErrorIsPrinted) {
  const test::TempFolder folder;
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  std::array<int, 2> results{};
  ASSERT_EQ(pipe2(results.data(), O_CLOEXEC), 0);
  const pid_t pid =
      start({"run", test::write_box_detector(folder), "--source", "synthetic:", "--jsonl", "-", "--color", "never"},
            results[1], ptsname(terminal));
  ASSERT_GT(pid, 0);
  close(results[1]);

  // Once there is progress, the reader closes its end: the next result cannot be written.
  std::string seen;
  std::string lines;
  bool is_reading = true;
  while (true) {
    std::array<pollfd, 2> files = {{{terminal, POLLIN, 0}, {is_reading ? results[0] : -1, POLLIN, 0}}};
    ASSERT_GT(poll(files.data(), files.size(), -1), 0);
    if (files[1].revents != 0) is_reading = take(results[0], lines);
    if (files[0].revents != 0 && !take(terminal, seen)) break;
    if (is_reading && seen.find("frames/s") != std::string::npos) {
      close(results[0]);
      is_reading = false;
    }
  }
  close(terminal);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 1);
  const std::size_t error = seen.find("saccade: error: ");
  ASSERT_NE(error, std::string::npos) << seen;
  EXPECT_TRUE(std::string_view(seen).substr(0, error).ends_with("\r\033[K")) << seen;
}

}  // namespace
}  // namespace saccade
