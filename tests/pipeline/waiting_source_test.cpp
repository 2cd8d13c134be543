#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "media/waiting_reader.hpp"
#include "saccade/error.hpp"
#include "saccade/pipeline.hpp"
#include "support/cpu_model.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

TEST(WaitingSource, IsConnectingUntilItArrivesWhileOthersRun) {
  const test::TempFolder folder;
  std::atomic<bool> is_there = false;
  const auto open = [&]() -> std::unique_ptr<FrameReader> {
    if (!is_there) fail(ErrorCode::kNotFound, "there is no camera");
    return std::make_unique<test::ScriptedReader>("camera", test::frames(1), true);
  };
  const std::vector<Source> sources = {source_of(open_or_wait("camera", open, std::chrono::milliseconds(1))),
                                       test::scripted_source("file", test::frames(1))};
  Pipeline pipeline(sources, {test::load_on_cpu(test::write_box_detector(folder))});
  Outcome<Result&> first = pipeline.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->source, "file");
  while (pipeline.telemetry().streams[0].state != StreamState::kConnecting) std::this_thread::yield();
  is_there = true;
  Outcome<Result&> second = pipeline.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->source, "camera");
  EXPECT_EQ(second->width, 16);
  EXPECT_EQ(pipeline.next().failure().status, Status::kEnd);
  const Summary summary = pipeline.summary();
  EXPECT_EQ(summary.streams[0].outages.count, 1);
  EXPECT_EQ(summary.streams[0].ledger.processed, 1);
}

}  // namespace
}  // namespace saccade
