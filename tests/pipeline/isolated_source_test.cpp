#include <gtest/gtest.h>

#include <csignal>

#include "media/isolated/isolated_reader.hpp"
#include "pipeline/stream/source_impl.hpp"
#include "saccade/error.hpp"
#include "saccade/pipeline.hpp"
#include "support/children.hpp"
#include "support/cpu_model.hpp"
#include "support/temp_folder.hpp"
#include "support/tiny_models.hpp"

// A pipeline whose sources are read in children: every frame is accounted for, whatever becomes of them.
namespace saccade {
namespace {

Source isolated_source(const std::string& uri) {
  return source_of(open_isolated({.uri = uri, .images = {}, .options = {}}, SACCADE_CRASHING_SOURCE));
}

class IsolatedSource : public testing::Test {
 protected:
  Model model() const { return test::load_on_cpu(test::write_box_detector(folder_)); }
  test::TempFolder folder_;
};

TEST_F(IsolatedSource, ACrashOfAFileLosesNoFrame) {
  Pipeline pipeline(isolated_source("frames=40 crash=17 once=" + (folder_ / "crashed")), model());
  std::int64_t next = 0;
  for (Result& result : pipeline) EXPECT_EQ(result.frame, next++);
  const Summary summary = pipeline.finish();
  EXPECT_EQ(next, 40);
  EXPECT_EQ(summary.ledger.processed, 40);
  EXPECT_EQ(summary.ledger.lost, 0);
  EXPECT_EQ(summary.ledger.in_flight(), 0);
  EXPECT_EQ(summary.streams[0].outages.count, 1);
  EXPECT_EQ(summary.streams[0].fault, "");
}

TEST_F(IsolatedSource, AFrameThatAlwaysCrashesIsCorrupt) {
  Pipeline pipeline(isolated_source("frames=9 crash=4 skips=1"), model());
  for ([[maybe_unused]] Result& result : pipeline) {
  }
  const Summary summary = pipeline.finish();
  EXPECT_EQ(summary.ledger.captured, 9);
  EXPECT_EQ(summary.ledger.processed, 8);
  EXPECT_EQ(summary.ledger.corrupt, 1);
  EXPECT_EQ(summary.ledger.in_flight(), 0);
}

TEST_F(IsolatedSource, ACamerasLostFrameIsCounted) {
  Pipeline pipeline(
      {isolated_source("live=1 crash=8 how=segv once=" + (folder_ / "crashed")), isolated_source("live=1")}, {model()},
      {.max_frames = 150});
  for ([[maybe_unused]] Result& result : pipeline) {
  }
  const Summary summary = pipeline.finish();
  EXPECT_EQ(summary.streams[0].ledger.lost, 101) << "the camera's first number is 100";
  EXPECT_EQ(summary.streams[1].ledger.lost, 100);
  EXPECT_EQ(summary.streams[0].outages.count, 1);
  EXPECT_EQ(summary.streams[1].outages.count, 0) << "the other one has a child of its own";
  EXPECT_EQ(summary.ledger.in_flight(), 0);
}

TEST_F(IsolatedSource, ChildrenThatAreKilledAnyTimeComeBack) {
  Pipeline pipeline({isolated_source("live=1"), isolated_source("frames=1000")}, {model()});
  std::int64_t next = 0;
  for (Result& result : pipeline) {
    if (result.stream != 1) continue;
    EXPECT_EQ(result.frame, next++);
    if (next == 1000) break;
    if (next % 100 == 50)
      for (const pid_t child : test::children()) kill(child, SIGKILL);
  }
  pipeline.stop();
  const Summary summary = pipeline.finish();
  EXPECT_EQ(next, 1000);
  EXPECT_EQ(summary.streams[1].ledger.lost, 0);
  EXPECT_EQ(summary.ledger.in_flight(), 0);
}

TEST_F(IsolatedSource, StoppingEndsAllChildren) {
  Pipeline pipeline({isolated_source("live=1"), isolated_source("frames=9 hang=3")}, {model()});
  EXPECT_TRUE(pipeline.next());
  pipeline.stop();
  EXPECT_EQ(pipeline.finish().ledger.in_flight(), 0);
}

TEST_F(IsolatedSource, AFrameOfAnEarlierPipelineOutlivesIt) {
  std::unique_ptr<Result> kept;
  {
    Pipeline pipeline(isolated_source("frames=5"), model());
    kept = std::make_unique<Result>(pipeline.next()->clone());
  }
  EXPECT_EQ(kept->frame, 0);
  EXPECT_TRUE(test::children().empty());
}

}  // namespace
}  // namespace saccade
