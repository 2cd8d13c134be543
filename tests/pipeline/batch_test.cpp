#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "pipeline/stream/batch_choice.hpp"
#include "pipeline/stream/pipeline_impl.hpp"
#include "support/cpu_model.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;

/// Frames of 16x8 pixels, number I of the colour (I, SEED, 255 - I); a frame whose number is in NARROW is 4x4.
class ColorReader final : public FrameReader {
 public:
  ColorReader(std::string name, int frames, std::uint8_t seed, std::vector<int> narrow = {})
      : frames_(frames), seed_(seed), narrow_(std::move(narrow)) {
    info_.name = std::move(name);
  }
  const SourceInfo& info() const override { return info_; }
  void cancel() noexcept override {}
  Outcome<Frame> read(FrameAllocator& allocator) override {
    if (next_ == frames_) return Failure{Status::kEnd, {}};
    const bool is_narrow = std::ranges::find(narrow_, next_) != narrow_.end();
    const int width = is_narrow ? 4 : 16;
    const int height = is_narrow ? 4 : 8;
    Frame made;
    made.lease = allocator.acquire(frame_bytes(PixelFormat::kRgb24, width, height));
    if (!made.lease) return Failure{Status::kCancelled, {}};
    made.view = lay_out(made.lease.buffer(), PixelFormat::kRgb24, width, height);
    const std::array<int, 3> color = {next_, seed_, 255 - next_};
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < 3 * width; ++x)
        made.lease.buffer().data[y * made.view.pitch_bytes[0] + x] =
            static_cast<std::byte>(color[static_cast<std::size_t>(x % 3)]);
    made.sequence = next_++;
    made.captured = Clock::now();
    return made;
  }

 private:
  SourceInfo info_;
  int frames_;
  std::uint8_t seed_;
  std::vector<int> narrow_;
  int next_ = 0;
};

class BatchTest : public testing::Test {
 protected:
  Model colors(const ModelOptions& options = {}, const std::string& name = "color") {
    return test::load_on_cpu(test::write_color_classifier(folder_, name), options);
  }
  static Source source(const std::string& name, int frames, std::uint8_t seed, std::vector<int> narrow = {}) {
    return source_of(std::make_unique<ColorReader>(name, frames, seed, std::move(narrow)));
  }

  test::TempFolder folder_;
};

/// The scores of a colour by class.
std::map<int, float> scores_of(const Result& result) {
  std::map<int, float> scores;
  for (const Classification& each : result.classes) scores[each.class_id] = each.confidence;
  return scores;
}

TEST_F(BatchTest, EveryFrameHasItsOwnResultInOrder) {
  for (const std::size_t batch : {1U, 2U, 3U, 8U}) {
    Pipeline pipeline({source("a", 21, 10), source("b", 8, 200), source("c", 1, 90)}, {colors(), colors({}, "second")},
                      {.batch = batch});
    std::array<std::int64_t, 3> next{};
    const std::array<int, 3> seeds = {10, 200, 90};
    int results = 0;
    for (const Result& result : pipeline) {
      ++results;
      const auto stream = static_cast<std::size_t>(result.stream);
      EXPECT_EQ(result.frame, next[stream]);
      if (result.model_index == 1) ++next[stream];
      const auto scores = scores_of(result);
      EXPECT_NEAR(scores.at(0), static_cast<float>(result.frame) / 255, 1e-5) << "batch " << batch;
      EXPECT_NEAR(scores.at(1), static_cast<float>(seeds[stream]) / 255, 1e-5);
      EXPECT_NEAR(scores.at(2), static_cast<float>(255 - result.frame) / 255, 1e-5);
    }
    EXPECT_EQ(results, 60);
    EXPECT_EQ(pipeline.summary().ledger.processed, 30);
    EXPECT_EQ(pipeline.summary().ledger.in_flight(), 0);
  }
}

/// The region of interest lies outside of frames 2 and 5.
TEST_F(BatchTest, AFrameThatCannotBeProcessedCostsNoOther) {
  Pipeline pipeline({source("a", 9, 10, {2, 5})}, {colors({.roi = Region{8, 0, 8, 8}}), colors({}, "second")},
                    {.batch = 4});
  std::vector<std::int64_t> processed;
  int failed = 0;
  while (true) {
    const Outcome<Result&> result = pipeline.next();
    if (result && (*result).model_index == 1) processed.push_back((*result).frame);
    if (!result && result.failure().status == Status::kFailed) ++failed;
    if (!result && result.failure().status == Status::kEnd) break;
  }
  EXPECT_EQ(processed, (std::vector<std::int64_t>{0, 1, 3, 4, 6, 7, 8}));
  EXPECT_EQ(failed, 2);
  EXPECT_EQ(pipeline.summary().ledger.failed, 2);
}

TEST_F(BatchTest, InvalidOnesAreErrors) {
  EXPECT_THROW(Pipeline({source("a", 1, 1)}, {colors()}, {.batch = 257}), Error);
  EXPECT_THROW(Pipeline({source("a", 1, 1)}, {colors()}, {.batch = 2, .batch_wait = milliseconds(-1)}), Error);
}

TEST_F(BatchTest, FilesGetTheFastestOne) {
  Pipeline pipeline({source("a", 5, 1)}, {colors()}, {.batch = 0});
  EXPECT_EQ(test::drain(pipeline), 5);
}

TEST_F(BatchTest, AModelOnTilesTakesOneFrameAtATime) {
  const auto tiled = [&] {
    return test::load_on_cpu(test::write_box_detector(folder_, "tiled"), {.tiles = TileOptions{.size = 32}});
  };
  Pipeline pipeline({source("a", 3, 1)}, {tiled()}, {.batch = 0});
  EXPECT_EQ(test::drain(pipeline), 3);
  try {
    Pipeline({source("a", 1, 1)}, {tiled()}, {.batch = 2});
    FAIL() << "it is accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("tiled: a model that runs on tiles"), std::string::npos) << error.what();
  }
}

TEST(ChooseBatch, TheSmallestThatKeepsUp) {
  const std::vector<BatchTime> times = {
      {1, milliseconds(10)}, {2, milliseconds(12)}, {4, milliseconds(16)}, {8, milliseconds(31)}};
  EXPECT_EQ(choose_batch(times, {.rate = 50, .wait = milliseconds(2)}).images, 1U);
  EXPECT_EQ(choose_batch(times, {.rate = 50}).wait.count(), 0);
  EXPECT_EQ(choose_batch(times, {.rate = 60}).images, 2U);
  EXPECT_EQ(choose_batch(times, {.rate = 1000}).images, 4U);  // 8 are hardly faster
  EXPECT_EQ(choose_batch(times, {}).images, 4U);
}

TEST(ChooseBatch, TheGoalHoldsTwoRunsAndTheWait) {
  const std::vector<BatchTime> times = {{1, milliseconds(10)}, {2, milliseconds(12)}, {4, milliseconds(16)}};
  const BatchChoice choice = choose_batch(times, {.rate = 1000, .goal = milliseconds(25), .wait = milliseconds(5)});
  EXPECT_EQ(choice.images, 2U);
  EXPECT_EQ(choice.wait, milliseconds(1));
  EXPECT_EQ(choose_batch(times, {.rate = 1000, .goal = milliseconds(5)}).images, 1U);  // none keeps it
}

/// Without the goal a larger batch of so small a model is faster.
TEST_F(BatchTest, AnUnreachableGoalOfLatencyLeavesOneFrameAtATime) {
  const std::vector<Source> sources = {source("a", 1, 1)};
  const std::vector<Model> models = {colors()};
  EXPECT_EQ(find_batch(models, sources, {.batch = 0, .latency_goal = std::chrono::nanoseconds(1)}).images, 1U);
  EXPECT_EQ(find_batch(models, sources, {.batch = 4, .batch_wait = milliseconds(3)}).images, 4U);
}

class FrameBatcherTest : public testing::Test {
 protected:
  void put(std::size_t lane, Clock::time_point captured = Clock::now()) {
    Frame frame;
    frame.captured = captured;
    frame.sequence = next_++;
    queue_.push(lane, std::move(frame));
  }

  BoundedQueue<Frame> queue_{{{DropPolicy::kWait, 8}, {DropPolicy::kWait, 8}}};
  FrameRunPool runs_{16, 1};
  std::int64_t next_ = 0;
};

TEST_F(FrameBatcherTest, LanesInTurn) {
  FrameBatcher batcher(queue_, runs_, {{}, {.stream = 1}}, {.most = 3});
  for (const std::size_t lane : {0U, 0U, 0U, 1U}) put(lane);
  FrameBatch batch;
  ASSERT_TRUE(batcher.fill(batch));
  ASSERT_EQ(batch.runs.size(), 3U);
  EXPECT_EQ(batch.runs[0]->lane, 0U);
  EXPECT_EQ(batch.runs[1]->lane, 1U);
  EXPECT_EQ(batch.runs[2]->lane, 0U);
}

TEST_F(FrameBatcherTest, DoesNotWaitForFramesThatAreNotDue) {
  FrameBatcher batcher(queue_, runs_,
                       {{.period = std::chrono::hours(1), .is_live = true},
                        {.stream = 1, .period = std::chrono::hours(2), .is_live = true}},
                       {.most = 4, .wait = std::chrono::minutes(10)});
  put(0);
  put(1);
  FrameBatch batch;
  ASSERT_TRUE(batcher.fill(batch));
  EXPECT_EQ(batch.runs.size(), 2U);
}

TEST_F(FrameBatcherTest, AFrameThatHasWaitedForLongEnoughStartsIt) {
  FrameBatcher batcher(queue_, runs_, {{.is_live = true}, {.stream = 1, .is_live = true}},
                       {.most = 4, .wait = std::chrono::minutes(10)});
  put(0, Clock::now() - std::chrono::minutes(11));
  FrameBatch batch;
  EXPECT_TRUE(batcher.try_fill(batch));
  EXPECT_EQ(batch.runs.size(), 1U);
  batch.runs.clear();
  put(0);
  EXPECT_FALSE(batcher.try_fill(batch));  // it may wait for more
  put(1, Clock::now() - std::chrono::minutes(11));
  ASSERT_TRUE(batcher.fill(batch));
  EXPECT_EQ(batch.runs.size(), 2U);
}

TEST_F(FrameBatcherTest, ALateFrameHardlyDelaysWhenTheNextIsExpected) {
  using std::chrono::hours;
  using std::chrono::minutes;
  FrameBatcher batcher(queue_, runs_,
                       {{.period = hours(10), .is_live = true}, {.stream = 1, .period = hours(1), .is_live = true}},
                       {.most = 4, .wait = minutes(4)});
  const auto now = Clock::now();
  FrameBatch batch;
  for (const auto captured : {now - hours(2), now - hours(1) + minutes(8)}) {
    put(1, captured);
    EXPECT_TRUE(batcher.try_fill(batch));
    batch.runs.clear();
  }
  put(0, now);
  EXPECT_FALSE(batcher.try_fill(batch)) << "the other lane's next frame is due within a minute";
}

TEST_F(FrameBatcherTest, EndsOfLanesAreSaidWithTheirLastFrames) {
  FrameBatcher batcher(queue_, runs_, {{}, {.stream = 1}}, {.most = 4, .wait = std::chrono::minutes(10)});
  put(0);
  queue_.close(0);
  queue_.close(1);
  FrameBatch batch;
  std::vector<std::size_t> ended;
  std::size_t frames = 0;
  while (batcher.fill(batch)) {
    ended.insert(ended.end(), batch.ended.begin(), batch.ended.end());
    batch.ended.clear();
    frames += batch.runs.size();
    batch.runs.clear();
  }
  ended.insert(ended.end(), batch.ended.begin(), batch.ended.end());
  std::ranges::sort(ended);
  EXPECT_EQ(frames, 1U);
  EXPECT_EQ(ended, (std::vector<std::size_t>{0, 1}));
}

}  // namespace
}  // namespace saccade
