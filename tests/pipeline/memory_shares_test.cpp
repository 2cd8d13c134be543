#include "pipeline/stream/memory_shares.hpp"

#include <gtest/gtest.h>

#include "saccade/error.hpp"
#include "saccade/pipeline.hpp"
#include "support/cpu_model.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

constexpr std::size_t kMebi = 1 << 20;

class MemorySharesTest : public testing::Test {
 protected:
  Model boxes() { return test::load_on_cpu(test::write_box_detector(folder_)); }

  test::TempFolder folder_;
};

std::string refusal(const MemoryShares& shares, std::size_t limit) {
  try {
    shares.check(limit);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    return error.what();
  }
}

TEST_F(MemorySharesTest, ListsWhoTakesWhatTheLargestFirst) {
  MemoryShares shares;
  shares.add_frames({.name = "small.mp4", .width = 1024, .height = 1024}, 2);
  shares.add_frames({.name = "large.jpg", .frames = 5, .width = 2048, .height = 1024, .files = {"large.jpg"}}, 9);
  shares.add_frames({.name = "unknown"}, 9);
  EXPECT_EQ(refusal(shares, 33 * kMebi), "");
  EXPECT_EQ(
      refusal(shares, 32 * kMebi),
      "the run needs 33.0 MiB, but its memory is limited to 32.0 MiB: large.jpg (5 frames of 2048x1024) 30.0 MiB, "
      "small.mp4 (2 frames of 1024x1024) 3.0 MiB; use a shorter --queue, fewer sources or models, a smaller model, "
      "or raise the limit with --max-memory SIZE");
  EXPECT_EQ(shares.left_for_frames(64 * kMebi), 64 * kMebi);
}

TEST_F(MemorySharesTest, SumsUpWhatTheListDoesNotName) {
  MemoryShares shares;
  for (int i = 0; i < 10; ++i) shares.add_frames({.name = fmt::format("{}.mp4", i), .width = 1024, .height = 1024}, 2);
  EXPECT_NE(refusal(shares, kMebi).find("7.mp4 (2 frames of 1024x1024) 3.0 MiB, 2 others 6.0 MiB; use"),
            std::string::npos);
}

TEST_F(MemorySharesTest, AModelIsItsPlan) {
  const std::vector<Model> models(2, boxes());
  ModelSet set(models);
  const Plan& plan = *set[0].plan();
  EXPECT_GE(plan.memory_bytes(), plan.arena_bytes());
  MemoryShares shares;
  shares.add_model(set[0]);
  shares.add_model(set[1]);  // which shares its weights
  shares.add_results(set, 3);
  const std::size_t needed = plan.memory_bytes() + plan.arena_bytes() + 6 * set[0].result_bytes();
  EXPECT_EQ(refusal(shares, needed), "");
  EXPECT_NE(refusal(shares, needed - 1).find("the model boxes (weights "), std::string::npos);
  EXPECT_EQ(shares.left_for_frames(needed + 100), 100U);
  EXPECT_EQ(shares.left_for_frames(needed), 1U) << "0 would be no limit";
}

TEST_F(MemorySharesTest, APipelineThatDoesNotFitIsRefused) {
  const Source source = test::scripted_source("a", test::frames(3));
  const std::vector<Source> sources = {source};
  EXPECT_THROW(Pipeline(sources, {boxes()}, {.max_memory = 100}), Error);
  Pipeline pipeline(sources, {boxes()}, {.max_memory = 64 * kMebi});  // the source is still unread
  int results = 0;
  for ([[maybe_unused]] const Result& result : pipeline) ++results;
  EXPECT_EQ(results, 3);
}

/// The scripted source tells no size before its first frame.
TEST_F(MemorySharesTest, FramesThatGrowBeyondItEndTheirSource) {
  const std::vector<Model> models = {boxes()};
  std::size_t least = 0;
  {
    ModelSet set(models);
    MemoryShares shares;
    shares.add_model(set[0]);
    shares.add_results(set, 3);  // two in work, one for next()
    least = kMebi - shares.left_for_frames(kMebi);
  }
  Pipeline pipeline({test::scripted_source("a", test::frames(3))}, models, {.max_memory = least + 100});
  const Outcome<Result&> result = pipeline.next();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().status, Status::kLost);
  EXPECT_NE(result.failure().message.find("raise the limit with --max-memory SIZE"), std::string::npos)
      << result.failure().message;
}

}  // namespace
}  // namespace saccade
