#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;

class Bench : public testing::Test {
 protected:
  /// With the minimum number of runs.
  Finished bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bench");
    arguments.insert(arguments.end(), {"--runs", "40", "--duration", "0"});
    return run_saccade(arguments);
  }

  /// A report of one model whose blocks all took MS.
  std::string report(const std::string& name, double ms) {
    const json model = {{"model", "m"},
                        {"precision", "fp32"},
                        {"input", "tensors"},
                        {"threads", 2},
                        {"block_medians_ms", std::vector(4, std::vector<double>(5, ms))}};
    const json all = {{"device", "d"}, {"settings", {{"batch", 1}, {"streams", 1}}}, {"models", {model}}};
    folder_.write(name, all.dump());
    return folder_ / name;
  }

  std::string peers_python() const {
    if (const char* named = std::getenv("SACCADE_PEERS_PYTHON")) return named;
    return std::string(SACCADE_SOURCE) + "/.venv-peers/bin/python";
  }

  test::TempFolder folder_;
};

TEST_F(Bench, SplitsFramesIntoStages) {
  const Finished finished = bench({test::write_box_detector(folder_), "--json", "--threads", "1"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = json::parse(finished.out);
  const json& model = report["models"][0];
  EXPECT_EQ(model["model"], "boxes");
  EXPECT_EQ(model["precision"], "fp32");
  EXPECT_EQ(model["input"], "frame");
  EXPECT_EQ(model["threads"], 1);
  const json& latency = model["latency_ms"];
  EXPECT_GE(latency["count"], 40);
  EXPECT_GT(latency["min"], 0);
  for (const auto& [less, more] : std::vector<std::pair<const char*, const char*>>{
           {"min", "p50"}, {"p50", "p90"}, {"p90", "p95"}, {"p95", "p99"}, {"p99", "max"}})
    EXPECT_LE(latency[less], latency[more]);
  EXPECT_GE(latency["std"], 0);
  for (const char* stage : {"pre", "model", "post"}) EXPECT_EQ(model["stages_ms"][stage]["count"], latency["count"]);
  const json& slow = model["slow_runs"];
  EXPECT_DOUBLE_EQ(slow["above_ms"], 1.1 * latency["p50"].get<double>());
  EXPECT_EQ(slow["slowest"].size(), std::min<std::size_t>(10, slow["count"]));
  double last = latency["max"];
  for (const json& run : slow["slowest"]) {
    EXPECT_LE(run["ms"], last);
    EXPECT_GT(run["ms"], slow["above_ms"]);
    EXPECT_LT(run["run"], latency["count"]);
    last = run["ms"];
  }
  EXPECT_EQ(slow["count"] != 0, latency["max"] > slow["above_ms"]);
  ASSERT_EQ(model["block_medians_ms"].size(), 5U) << "a list for each load";
  for (const json& load : model["block_medians_ms"]) EXPECT_GE(load.size(), 6U);
  EXPECT_LE(model["median_interval_ms"][0], model["median_interval_ms"][1]);
  EXPECT_GT(model["throughput_per_second"], 0);
  EXPECT_GT(model["peak_memory_bytes"], 1'000'000);
  EXPECT_GT(model["arena_bytes"], 0);
  EXPECT_EQ(report["settings"]["runs"], 40);
  EXPECT_NE(report["versions"]["libraries"].get<std::string>().find("oneDNN"), std::string::npos);
}

TEST_F(Bench, KeepsTensorsWhereTheModelReadsThem) {
  const Finished finished = bench({test::write_color_classifier(folder_), "--resident", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = json::parse(finished.out);
  EXPECT_EQ(report["settings"]["resident"], true);
  EXPECT_EQ(report["models"][0]["input"], "tensors");
  EXPECT_NE(report["models"][0]["covers"].get<std::string>().find("on the device"), std::string::npos);
}

TEST_F(Bench, RunsTensorsInStreams) {
  const Finished finished = bench({test::write_color_classifier(folder_), "--tensors", "--streams", "2", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json model = json::parse(finished.out)["models"][0];
  EXPECT_EQ(model["input"], "tensors");
  EXPECT_FALSE(model.contains("stages_ms"));
  EXPECT_GE(model["latency_ms"]["count"], 80);
}

TEST_F(Bench, RunsModelsTogetherOnTheRequestedFrame) {
  const std::string colors = test::write_color_classifier(folder_);
  const std::string boxes = test::write_box_detector(folder_);
  const Finished finished = bench({colors, boxes, "--together", "--frame", "320x240:YUYV", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = json::parse(finished.out);
  EXPECT_EQ(report["settings"]["frame"], "320x240 yuyv");
  ASSERT_EQ(report["models"].size(), 3U);
  const json& both = report["models"][2];
  EXPECT_EQ(both["model"], "color + boxes");
  EXPECT_EQ(both["covers"], "one 320x240 yuyv frame, pixels to predictions");
  EXPECT_EQ(both["arena_bytes"].get<int>(),
            report["models"][0]["arena_bytes"].get<int>() + report["models"][1]["arena_bytes"].get<int>());
  EXPECT_GE(both["latency_ms"]["count"], report["models"][0]["latency_ms"]["count"].get<int>() / 2);
}

TEST_F(Bench, BindsABatchWhereTheModelLeavesItOpen) {
  onnx_writer::Model open(13);
  open.input("x", {"batch", 4}).output("y");
  open.node({.op = "Neg", .inputs = {"x"}, .outputs = {"y"}});
  open.save(folder_ / "open.onnx");
  EXPECT_EQ(bench({folder_ / "open.onnx", "--batch", "8"}).exit_code, 0);
  const Finished refused = bench({test::write_color_classifier(folder_), "--batch", "8"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("takes no batch of 8"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("dynamic axes"), std::string::npos) << refused.err;
}

TEST_F(Bench, SaysWhatItMeasured) {
  const Finished finished = bench({test::write_box_detector(folder_)});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const char* part : {"pixels to predictions", "runs in", "warm-up runs", "p99", "median, 95 % interval",
                           "throughput", "peak", "arena"})
    EXPECT_NE(finished.out.find(part), std::string::npos) << part;
}

TEST_F(Bench, ComparesTwoReports) {
  const std::string base = report("base.json", 10);
  const Finished slower = run_saccade({"bench", "--compare", base, report("slow.json", 12), "--json"});
  EXPECT_EQ(slower.exit_code, 3);
  EXPECT_EQ(json::parse(slower.out)["models"][0]["verdict"], "slower");
  EXPECT_DOUBLE_EQ(json::parse(slower.out)["models"][0]["ratio"].get<double>(), 1.2);
  EXPECT_EQ(run_saccade({"bench", "--compare", base, report("slow.json", 12), "--tolerance", "0.3"}).exit_code, 0);
  EXPECT_EQ(run_saccade({"bench", "--compare", base, report("same.json", 10.2)}).exit_code, 0);
  const Finished faster = run_saccade({"bench", "--compare", base, report("fast.json", 8)});
  EXPECT_EQ(faster.exit_code, 0);
  EXPECT_NE(faster.out.find("faster"), std::string::npos);
}

TEST_F(Bench, ComparesItsOwnReports) {
  const Finished made = bench({test::write_color_classifier(folder_), "--json"});
  folder_.write("a.json", made.out);
  const Finished same = run_saccade({"bench", "--compare", folder_ / "a.json", folder_ / "a.json"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_NE(same.out.find("1.000"), std::string::npos) << same.out;
}

TEST_F(Bench, RefusesInvalidFlags) {
  const std::string model = test::write_color_classifier(folder_);
  EXPECT_EQ(run_saccade({"bench"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"bench", model, "--against", "abacus"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"bench", model, "--runs", "0"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"bench", model, "--together"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"bench", model, "--frame", "320x240"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"bench", model, "--against", "openvino", "--streams", "2"}).exit_code, 2);
  for (const char* text : {R"({"models": 3})", R"({"models": [], "settings": 3, "device": "x"})", "[1e400]"}) {
    folder_.write("wrong.json", text);
    const Finished wrong = run_saccade({"bench", "--compare", folder_ / "wrong.json", folder_ / "wrong.json"});
    EXPECT_EQ(wrong.exit_code, 1);
    EXPECT_NE(wrong.err.find("wrong.json is not what"), std::string::npos) << wrong.err;
  }
}

TEST_F(Bench, SaysHowToGetThePeers) {
  const Finished finished =
      bench({test::write_color_classifier(folder_), "--against", "onnxruntime", "--peers-python", folder_ / "none"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_NE(finished.err.find("script/bootstrap --peers"), std::string::npos) << finished.err;
}

TEST_F(Bench, RunsPeersOnTheFileThatAPlanWasMadeOf) {
  const std::string model = test::write_color_classifier(folder_);
  const std::string plan = folder_ / "colors.plan";
  ASSERT_EQ(run_saccade({"compile", model, "-o", plan, "--device", "cpu"}).exit_code, 0);
  const Finished unnamed = run_saccade({"bench", plan, "--against", "onnxruntime"});
  EXPECT_EQ(unnamed.exit_code, 2);
  EXPECT_NE(unnamed.err.find("--peers-model"), std::string::npos) << unnamed.err;
  EXPECT_EQ(run_saccade({"bench", plan, plan, "--against", "onnxruntime", "--peers-model", model}).exit_code, 2);
  if (!std::filesystem::exists(peers_python())) GTEST_SKIP() << "needs the peers: script/bootstrap --peers";
  const Finished finished = bench({plan, "--against", "onnxruntime", "--peers-model", model, "--json", "--threads", "1",
                                   "--peers-python", peers_python()});
  if (finished.err.find("script/bootstrap --peers") != std::string::npos)
    GTEST_SKIP() << "needs the peers: script/bootstrap --peers";
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json peer = json::parse(finished.out)["models"][0]["against"][0];
  EXPECT_LT(peer["drift"], 1e-3);
  EXPECT_GT(peer["latency_ms"]["p50"], 0);
}

TEST_F(Bench, MeasuresThePeersInTurn) {
  if (!std::filesystem::exists(peers_python())) GTEST_SKIP() << "needs the peers: script/bootstrap --peers";
  const Finished finished = bench({test::write_color_classifier(folder_), "--against", "onnxruntime,openvino", "--json",
                                   "--threads", "1", "--peers-python", peers_python()});
  if (finished.err.find("script/bootstrap --peers") != std::string::npos)
    GTEST_SKIP() << "needs the peers: script/bootstrap --peers";
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = json::parse(finished.out);
  const json& model = report["models"][0];
  EXPECT_TRUE(model["agrees"]);
  ASSERT_EQ(model["against"].size(), 2U);
  for (const json& peer : model["against"]) {
    EXPECT_LT(peer["drift"], 1e-3);
    EXPECT_GT(peer["latency_ms"]["p50"], 0);
    ASSERT_EQ(peer["block_medians_ms"].size(), model["block_medians_ms"].size());
    for (std::size_t load = 0; load < peer["block_medians_ms"].size(); ++load)
      EXPECT_EQ(peer["block_medians_ms"][load].size(), model["block_medians_ms"][load].size());
    EXPECT_GT(peer["ratio"]["value"], 0);
  }
  EXPECT_TRUE(report["geometric_mean_ratio"].contains("best_peer"));
}

}  // namespace
}  // namespace saccade
