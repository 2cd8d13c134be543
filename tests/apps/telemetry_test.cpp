#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "apps/command_fixture.hpp"
#include "telemetry_file.hpp"

namespace saccade {
namespace {

using app::TelemetryFile;
using nlohmann::json;
using test::Finished;

class TelemetryFileTest : public testing::Test {
 protected:
  std::string fifo() {
    mkfifo((folder_ / "fifo").c_str(), 0600);
    return folder_ / "fifo";
  }
  static void wait_for(const std::function<bool()>& condition) {
    while (!condition()) std::this_thread::yield();
  }
  /// The next BYTES of the FIFO with this descriptor.
  static std::string read_from(int fifo, std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t at = 0; at < bytes;) {
      const ssize_t count = read(fifo, text.data() + at, bytes - at);
      if (count <= 0) return text.substr(0, at);
      at += static_cast<std::size_t>(count);
    }
    return text;
  }

  test::TempFolder folder_;
};

TEST_F(TelemetryFileTest, AFifoThatIsNotReadBlocksItsThreadAlone) {
  const std::string path = fifo();
  TelemetryFile file({path});
  EXPECT_TRUE(file.is_ready());
  file.write("one\n");
  EXPECT_FALSE(file.is_ready()) << "its thread waits for a reader";
  testing::internal::CaptureStderr();
  file.skip();
  file.skip();
  const int reader = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(read_from(reader, 4), "one\n");
  wait_for([&] { return file.is_ready(); });
  file.write("two\n");
  EXPECT_EQ(read_from(reader, 4), "two\n");
  EXPECT_EQ(file.close(), "");
  EXPECT_EQ(read_from(reader, 1), "") << "its end";
  close(reader);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("fifo is not read"), std::string::npos) << said;
  EXPECT_NE(said.find("2 lines of telemetry are missing"), std::string::npos) << said;
}

TEST_F(TelemetryFileTest, AnErrorEndsItUnlessItIsTriedAgain) {
  testing::internal::CaptureStderr();
  TelemetryFile once({.path = "/dev/full"});
  once.write("one\n");
  wait_for([&] { return once.has_ended(); });
  EXPECT_EQ(once.close(), "can't write /dev/full: No space left on device");
  TelemetryFile again({.path = "/dev/full", .retry = true});
  for (int i = 0; i < 2; ++i) {
    again.write("one\n");
    wait_for([&] { return again.is_ready(); });
  }
  EXPECT_FALSE(again.has_ended());
  EXPECT_EQ(again.close(), "can't write /dev/full: No space left on device");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 2) << said;
}

TEST_F(TelemetryFileTest, IsCompleteOrAbandoned) {
  const std::string path = folder_ / "lines";
  {
    TelemetryFile file({path});
    EXPECT_EQ(file.close(), "");
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove(path);
  { const TelemetryFile file({path}); }
  EXPECT_FALSE(std::filesystem::exists(path)) << "the run has failed before";
}

class TelemetryCommand : public test::CommandTest {
 protected:
  std::string telemetry_to(const std::string& path) {
    return std::string(SACCADE_BINARY) + " run --device cpu " + test::write_box_detector(folder_) +
           " --source 'synthetic:?size=64x48' --quiet --duration 2.5 --jsonl " + (folder_ / "out.jsonl") +
           " --telemetry " + path;
  }
  static Finished shell(const std::string& line) { return test::Subprocess({"/bin/sh", "-c", line}).wait(); }

  /// Whether the last line of the results is the summary.
  bool has_summary() const {
    const std::string text = test::bytes_of_file(folder_ / "out.jsonl");
    return text.find("\n{\"event\":\"summary\"") != std::string::npos && text.ends_with("\n");
  }
};

TEST_F(TelemetryCommand, AFullDiskDoesNotEndTheRun) {
  const Finished finished = shell(telemetry_to("/dev/full") + " --json");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_TRUE(has_summary());
  EXPECT_EQ(json::parse(finished.out)["event"], "summary") << "printed as well";
  EXPECT_NE(finished.err.find("warning: can't write /dev/full: No space left on device; the run goes on"),
            std::string::npos)
      << finished.err;
  EXPECT_NE(finished.err.find("error: can't write /dev/full"), std::string::npos) << finished.err;
}

TEST_F(TelemetryCommand, AReaderThatGoesAwayDoesNotEndTheOtherOutputs) {
  const Finished finished = shell("{ " + telemetry_to("-") + "; echo $? >" + (folder_ / "code") + "; } | true");
  EXPECT_EQ(test::bytes_of_file(folder_ / "code"), "1\n");
  EXPECT_TRUE(has_summary());
  EXPECT_NE(finished.err.find(" captured = "), std::string::npos) << "the summary: " << finished.err;
}

TEST_F(TelemetryCommand, ARunWithoutAnotherOutputEndsWithItsReader) {
  const Finished finished =
      shell("{ " + std::string(SACCADE_BINARY) + " run --device cpu " + test::write_box_detector(folder_) +
            " --source 'synthetic:?size=64x48' --quiet --no-save --telemetry -; echo $? >" + (folder_ / "code") +
            "; } | true");
  EXPECT_EQ(test::bytes_of_file(folder_ / "code"), "1\n");
  EXPECT_NE(finished.err.find("error: can't write standard output: Broken pipe"), std::string::npos) << finished.err;
}

TEST_F(TelemetryCommand, AFifoWithoutAReaderDoesNotStopTheRun) {
  const std::string fifo = folder_ / "fifo";
  mkfifo(fifo.c_str(), 0600);
  test::Subprocess run({"/bin/sh", "-c", "exec " + telemetry_to(fifo)});
  while (!has_summary()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // All results are written. The last lines are taken now.
  const int reader = open(fifo.c_str(), O_RDONLY | O_CLOEXEC);
  char byte = 0;
  while (read(reader, &byte, 1) > 0) {
  }
  close(reader);
  const Finished finished = run.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(finished.err.find("fifo is not read: no telemetry until it is"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace saccade
