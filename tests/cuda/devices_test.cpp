#include <gtest/gtest.h>

#include <map>
#include <set>

#include "emulator_calls.hpp"
#include "result_text.hpp"
#include "runtime/cuda_backend.hpp"
#include "saccade/error.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

// One pipeline on two GPUs.
namespace saccade {
namespace {

bool has_two_gpus() {
  try {
    cuda_backend({.ordinal = 1});
    return true;
  } catch (const Error&) {
    return false;
  }
}

class TwoGpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_two_gpus()) GTEST_SKIP() << "there is one GPU";
  }
  Model load(const std::string& path) {
    ModelOptions options;
    options.device = Device::cuda();
    return Model::load(path, options);
  }

  test::TempFolder folder_;
};

TEST_F(TwoGpus, ShareTheStreams) {
  const std::vector<Model> models = {load(test::write_color_classifier(folder_))};
  std::map<std::string, std::vector<std::string>> expected;
  for (const std::vector<Device>& devices : {std::vector<Device>{}, {Device::cuda(0), Device::cuda(1)}}) {
    std::vector<Source> sources;
    // So many that both devices get some, however unevenly they were timed.
    for (int i = 0; i < 24; ++i) sources.push_back(test::scripted_source("s" + std::to_string(i), test::frames(4)));
    Pipeline pipeline(sources, models, {.devices = devices, .batch = 2});
    std::map<std::string, std::vector<std::string>> results;
    while (auto result = pipeline.next()) results[std::string(result->source)].push_back(test::text_of(*result));
    if (devices.empty()) expected = results;
    EXPECT_EQ(results, expected);
    const Summary summary = pipeline.finish();
    EXPECT_EQ(summary.ledger.processed, 96);
    EXPECT_EQ(summary.ledger.in_flight(), 0);
    std::set<int> used;
    for (const StreamSummary& stream : summary.streams)
      if (stream.device) used.insert(stream.device->ordinal);
    EXPECT_EQ(used.size(), devices.size());
  }
}

/// The other one goes on.
TEST_F(TwoGpus, AModelThatFailsOnOneCostsItsFrames) {
  const test::EmulatorCalls calls;
  if (!calls) GTEST_SKIP() << "only the emulated GPU can be made to fail";
  Pipeline pipeline({test::scripted_source("a", test::frames(8)), test::scripted_source("b", test::frames(8))},
                    {load(test::write_box_detector(folder_))}, {.devices = {Device::cuda(0), Device::cuda(1)}});
  ASSERT_TRUE(pipeline.next());
  calls.fail("cuGraphLaunch", 700);
  int failed = 0;
  while (true) {
    const auto result = pipeline.next();
    if (!result && result.failure().status == Status::kEnd) break;
    if (!result) ++failed;
  }
  const Summary summary = pipeline.finish();
  EXPECT_GE(failed, 1);
  EXPECT_EQ(summary.ledger.failed, failed);
  EXPECT_EQ(summary.ledger.processed + summary.ledger.failed, 16);
}

}  // namespace
}  // namespace saccade
