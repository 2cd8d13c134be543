#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "command_fixture.hpp"
#include "support/children.hpp"

// saccade run --isolate
namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;

class IsolateFlag : public test::CommandTest {
 protected:
  std::vector<json> results_of(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"run", test::write_box_detector(folder_), "--jsonl", "-", "--quiet"});
    const Finished finished = run_saccade(flags);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(finished.err.find("warning"), std::string::npos) << finished.err;
    std::vector<json> lines = test::lines_of(finished.out);
    lines.pop_back();  // the summary
    for (json& line : lines) line.erase("latency_ms");
    return lines;
  }

  void expect_the_same(const std::vector<std::string>& flags) {
    std::vector<std::string> isolated = flags;
    isolated.emplace_back("--isolate");
    EXPECT_EQ(results_of(isolated), results_of(flags)) << flags.back();
  }
};

TEST_F(IsolateFlag, ResultsAreTheSame) {
  expect_the_same({"--source", video(8)});
  expect_the_same({"--source", images()});
  expect_the_same({"--source", folder_ / "images/7.png"});
  expect_the_same({"--source", folder_ / "images/*.png"});
  expect_the_same({"--source", "synthetic:?size=64x48&frames=5"});
  expect_the_same({"--max-frames", "12", "--loop", "--source", video(5)});
}

TEST_F(IsolateFlag, AnOutputDoesNotOverwriteASource) {
  const std::string path = video(5);
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), "--source", path, "--isolate", "--jsonl", path});
  EXPECT_NE(finished.exit_code, 0);
  EXPECT_EQ(open_reader(path)->info().frames, 5);
}

TEST_F(IsolateFlag, ASourceThatCannotBeOpenedIsTheSameError) {
  for (const std::string source : {"/nowhere.mp4", "rtsp://127.0.0.1:1/a", "synthetic:?x=1"}) {
    const Finished with = run_saccade({"run", test::write_box_detector(folder_), "--source", source, "--isolate"});
    const Finished without = run_saccade({"run", test::write_box_detector(folder_), "--source", source});
    EXPECT_EQ(with.exit_code, 1);
    EXPECT_EQ(with.err, without.err);
  }
}

TEST_F(IsolateFlag, AKilledChildIsReportedAndCounted) {
  test::Subprocess run({SACCADE_BINARY, "run", "--device", "cpu", test::write_box_detector(folder_), "--source",
                        "synthetic:?size=64x48&fps=100&frames=400", "--realtime", "--isolate", "--quiet", "--json",
                        "--jsonl", folder_ / "out.jsonl"});
  const auto wait_for_lines = [&](std::size_t bytes) {
    std::error_code error;
    while (std::filesystem::file_size(folder_ / "out.jsonl", error) < bytes || error) std::this_thread::yield();
  };
  wait_for_lines(1);
  for (const pid_t child : test::children(run.pid())) kill(child, SIGKILL);
  const Finished finished = run.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(finished.err.find("the process that reads it was killed by signal 9 (Killed)"), std::string::npos)
      << finished.err;
  EXPECT_NE(finished.err.find("frames arrive again"), std::string::npos) << finished.err;
  const json summary = test::lines_of(finished.out).at(0);
  EXPECT_EQ(summary["ledger"]["unaccounted"], 0);
  EXPECT_EQ(summary["ledger"]["captured"], 400);
  EXPECT_EQ(summary["streams"][0]["outages"]["count"], 1) << summary["streams"][0];
  EXPECT_EQ(summary["streams"][0]["outages"]["missed"], 0) << "it goes on with the next frame";
}

TEST_F(IsolateFlag, AChildEndsWithItsParent) {
  test::Subprocess run({SACCADE_BINARY, "run", "--device", "cpu", test::write_box_detector(folder_), "--source",
                        "synthetic:?size=64x48", "--isolate", "--quiet", "--jsonl", "-"});
  while (run.out_so_far().empty()) std::this_thread::yield();
  const std::vector<pid_t> children = test::children(run.pid());
  ASSERT_EQ(children.size(), 1U);
  kill(run.pid(), SIGKILL);
  run.wait();
  // It belongs to another process now, which may not have read its exit code yet.
  const auto lives = [&] {
    std::ifstream stat("/proc/" + std::to_string(children[0]) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(stat), {}};
    return text.find("saccade-source") != std::string::npos && text.find(") Z ") == std::string::npos;
  };
  while (lives()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_F(IsolateFlag, TheProgramThatReadsExplainsItself) {
  const Finished finished = test::Subprocess({SACCADE_SOURCE_READER}).wait();
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.err.find("--isolate"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace saccade
