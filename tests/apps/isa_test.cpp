#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/subprocess.hpp"

namespace saccade {
namespace {

using Json = nlohmann::json;

const std::string kModel = SACCADE_SOURCE "/models/scene_model.onnx";

Json inspected(const std::string& isa) {
  const test::Finished finished = test::run_saccade({"inspect", kModel, "--json", "--isa", isa});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return Json::parse(finished.out);
}

TEST(IsaFlag, LimitsOneDnnAndOurKernels) {
  const std::string sse4 = inspected("sse4").dump();
  EXPECT_NE(sse4.find("(sse4)"), std::string::npos) << sse4;
  EXPECT_NE(sse4.find("sse41"), std::string::npos) << sse4;
  EXPECT_EQ(sse4.find("avx"), std::string::npos) << sse4;
  // Highway's kernels with AVX2's vectors lead.
  EXPECT_EQ(sse4.find("vector.convolution"), std::string::npos) << sse4;
  EXPECT_EQ(inspected("avx2").dump().find("avx512"), std::string::npos);
}

/// The models' predictions don't depend on it.
TEST(IsaFlag, ChangesNoPrediction) {
  const auto predictions = [](const std::string& isa) {
    const test::Finished finished =
        test::run_saccade({"run", kModel, "--source", "synthetic:?frames=3&size=320x240", "--isa", isa, "--precision",
                           "fp32", "--no-save", "--quiet", "--jsonl", "-"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    std::vector<std::vector<std::string>> classes_by_frame;
    std::istringstream lines(finished.out);
    for (std::string line; std::getline(lines, line);) {
      const Json entry = Json::parse(line);
      if (!entry.contains("detections")) continue;  // the summary
      auto& classes = classes_by_frame.emplace_back();
      for (const Json& detection : entry.at("detections")) classes.push_back(detection.at("class"));
    }
    return classes_by_frame;
  };
  const auto all = predictions("amx");
  EXPECT_EQ(all.size(), 3U);
  EXPECT_EQ(predictions("avx2"), all);
  EXPECT_EQ(predictions("sse4"), all);
}

TEST(IsaFlag, NamesTheChoices) {
  const test::Finished finished = test::run_saccade({"inspect", kModel, "--isa", "neon"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.err.find("avx512"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace saccade
