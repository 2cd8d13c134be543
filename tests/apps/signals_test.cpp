#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

// Termination signals end a program: immediately if there is nothing to finish, else after completing its outputs; no
// temporary files are left.
namespace saccade {
namespace {

using test::Finished;
using test::Subprocess;

class Signals : public testing::Test {
 protected:
  // Under nohup the tests' own programs would ignore it, too.
  void SetUp() override { ::signal(SIGHUP, SIG_DFL); }

  /// ARGUMENTS as a program that leaves no core file.
  static std::vector<std::string> without_core(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"/bin/sh", "-c", R"(ulimit -c 0; exec "$0" "$@")"});
    return arguments;
  }

  /// Names in FOLDER that the test did not create.
  static std::vector<std::string> left_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
    return names;
  }

  static void wait_for_first_line(const Subprocess& run) {
    while (run.out_so_far().find('\n') == std::string::npos) std::this_thread::yield();
  }

  test::TempFolder folder_;
};

TEST_F(Signals, EachOfThreeEndsARunInOrder) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Subprocess run({SACCADE_BINARY, "run", "--device", "cpu", test::write_box_detector(folder_), "--source",
                    "synthetic:?size=64x64", "--jsonl", "-"});
    wait_for_first_line(run);
    kill(run.pid(), signal);
    const Finished finished = run.wait();
    EXPECT_EQ(finished.exit_code, 0) << signal << finished.err;
    EXPECT_NE(finished.out.find(R"("event":"summary")"), std::string::npos) << signal;
  }
}

TEST_F(Signals, ASecondOneEndsItAtOnce) {
  // Both are pending when it resumes: it cannot have ended in between.
  Subprocess run({SACCADE_BINARY, "run", "--device", "cpu", test::write_box_detector(folder_), "--source",
                  "synthetic:?size=64x64", "--jsonl", "-"});
  wait_for_first_line(run);
  kill(run.pid(), SIGSTOP);
  kill(run.pid(), SIGINT);
  kill(run.pid(), SIGTERM);
  kill(run.pid(), SIGCONT);
  EXPECT_TRUE((std::set{128 + SIGINT, 128 + SIGTERM}.contains(run.wait().exit_code)));
}

TEST_F(Signals, AHangUpThatIsIgnoredStaysIgnored) {
  const std::string command = std::string("trap '' HUP; exec ") + SACCADE_BINARY + " run --device cpu " +
                              test::write_box_detector(folder_) + " --source 'synthetic:?size=64x64' --jsonl -";
  Subprocess run({"/bin/sh", "-c", command});
  wait_for_first_line(run);
  kill(run.pid(), SIGHUP);
  const std::size_t before = run.out_so_far().size();
  while (run.out_so_far().size() <= before) std::this_thread::yield();  // it continues
  kill(run.pid(), SIGTERM);
  EXPECT_EQ(run.wait().exit_code, 0);
}

/// The snapshots in TEXT, which has other lines, too.
std::vector<nlohmann::json> snapshots_in(const std::string& text) {
  std::vector<nlohmann::json> snapshots;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("{") && line.ends_with("}")) snapshots.push_back(nlohmann::json::parse(line));
  return snapshots;
}

TEST_F(Signals, ASnapshotDoesNotDisturbTheRun) {
  const std::string lines = folder_ / "telemetry.jsonl";
  Subprocess run({SACCADE_BINARY, "run", "--device", "cpu", test::write_box_detector(folder_), "--source",
                  "synthetic:?size=64x64", "--jsonl", "-", "--telemetry", lines});
  wait_for_first_line(run);
  std::int64_t before = 0;
  for (std::size_t count = 1; count <= 3; ++count) {
    kill(run.pid(), SIGUSR1);
    while (snapshots_in(run.err_so_far()).size() < count) std::this_thread::yield();
    const nlohmann::json snapshot = snapshots_in(run.err_so_far()).back();
    EXPECT_EQ(snapshot["event"], "snapshot");
    EXPECT_EQ(snapshot["streams"][0]["state"], "running");
    EXPECT_GE(snapshot["streams"][0]["queue"], 0);
    EXPECT_GT(snapshot["ledger"]["processed"], before);
    EXPECT_GT(snapshot["process"]["rss_bytes"], 1'000'000);
    EXPECT_FALSE(snapshot.contains("gpu"));
    before = snapshot["ledger"]["processed"];
  }
  while (!std::filesystem::exists(lines)) std::this_thread::yield();
  kill(run.pid(), SIGINT);
  const Finished finished = run.wait();
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_NE(finished.out.find(R"("event":"summary")"), std::string::npos);
  // The first line's window begins at the start, not at a snapshot. Latencies are recorded before frames are counted,
  // and read after the ledger.
  const std::string text = test::bytes_of_file(lines);
  const nlohmann::json first = nlohmann::json::parse(text.substr(0, text.find('\n')));
  EXPECT_GE(first["streams"][0]["latency_ms"]["total"]["count"], first["streams"][0]["ledger"]["processed"]);
}

TEST_F(Signals, BeforeTheFirstFrameTheSignalEndsIt) {
  std::filesystem::create_directory(folder_ / "out");
  const std::string page = folder_ / "out/page.html";
  const std::string lines = folder_ / "out/lines.jsonl";
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    // Measuring the ceilings takes seconds.
    Subprocess profile(without_core({SACCADE_BINARY, "profile", "--device", "cpu", test::write_box_detector(folder_),
                                     "--html", page, "--jsonl", lines}));
    while (left_in(folder_ / "out").empty()) std::this_thread::yield();
    kill(profile.pid(), signal);
    EXPECT_EQ(profile.wait().exit_code, 128 + signal);
    EXPECT_EQ(left_in(folder_ / "out"), std::vector<std::string>()) << signal;
  }
}

TEST_F(Signals, TemporaryFoldersGoOnEverySignal) {
  // It never responds, and ends when its input is closed.
  const std::string peer = folder_.write("peer", "#!/bin/sh\nexec cat > /dev/null\n");
  std::filesystem::permissions(peer, std::filesystem::perms::owner_all);
  std::filesystem::create_directory(folder_ / "tmp");
  const std::string tmp = folder_ / "tmp";
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGXCPU}) {
    Subprocess bench(
        without_core({"/usr/bin/env", "TMPDIR=" + tmp, SACCADE_BINARY, "bench", "--device", "cpu",
                      test::write_color_classifier(folder_), "--against", "onnxruntime", "--peers-python", peer}));
    const auto is_written = [&] {
      const auto names = left_in(tmp);
      return !names.empty() && std::filesystem::exists(tmp + "/" + names[0] + "/peer.py");
    };
    while (!is_written()) std::this_thread::yield();
    kill(bench.pid(), signal);
    EXPECT_EQ(bench.wait().exit_code, 128 + signal);
    EXPECT_EQ(left_in(tmp), std::vector<std::string>()) << signal;
  }
}

}  // namespace
}  // namespace saccade
