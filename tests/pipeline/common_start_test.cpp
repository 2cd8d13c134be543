#include "media/common_start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "media/paced_reader.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "saccade/error.hpp"
#include "support/cpu_model.hpp"
#include "support/frames.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;
using test::Act;

/// Frames at 25 per second. The first read begins when FIRST is set.
class LateReader final : public FrameReader {
 public:
  LateReader(std::vector<Act> script, std::shared_future<void> first)
      : reader_("late", std::move(script)), info_(reader_.info()), first_(std::move(first)) {
    info_.frame_rate = 25;
  }

  const SourceInfo& info() const override { return info_; }
  Outcome<Frame> read(FrameAllocator& allocator) override {
    first_.wait();
    return reader_.read(allocator);
  }
  void cancel() noexcept override { reader_.cancel(); }

 private:
  test::ScriptedReader reader_;
  SourceInfo info_;
  std::shared_future<void> first_;
};

std::shared_future<void> at_once() {
  std::promise<void> now;
  now.set_value();
  return now.get_future().share();
}

std::unique_ptr<FrameReader> paced(std::vector<Act> script, std::shared_future<void> first = at_once()) {
  return pace(std::make_unique<LateReader>(std::move(script), std::move(first)));
}

/// A frame of READER, by another thread.
std::future<Outcome<Frame>> read_beside(FrameReader& reader, test::FramePool& pool) {
  return std::async(std::launch::async, [&] { return reader.read(pool); });
}

constexpr milliseconds kWhile(50);
constexpr std::chrono::seconds kLong(20);  // less than the longest wait for other sources

bool comes(const std::future<Outcome<Frame>>& frame) { return frame.wait_for(kLong) == std::future_status::ready; }

TEST(CommonStart, NoneBeginsBeforeAllHaveAFrame) {
  std::promise<void> decoded;
  test::FramePool pool;
  const auto early = paced(test::frames(2));
  const auto late = paced(test::frames(2), decoded.get_future().share());
  const auto start = std::make_shared<CommonStart>();
  for (FrameReader* reader : {early.get(), late.get()}) reader->begin_with(start);
  auto first = read_beside(*early, pool);
  EXPECT_EQ(first.wait_for(kWhile), std::future_status::timeout);
  const auto released = Clock::now();
  decoded.set_value();
  const Outcome<Frame> other = late->read(pool);
  const Outcome<Frame> frame = first.get();
  ASSERT_TRUE(frame);
  ASSERT_TRUE(other);
  EXPECT_GE(frame->captured, released);
  // They deliver in turn: one of them half a period after the start.
  EXPECT_GE(std::max(frame->captured, other->captured) - released, milliseconds(20));
}

TEST(CommonStart, WhatWillHaveNoFrameIsNotAwaited) {
  test::FramePool pool;
  const auto good = paced(test::frames(2));
  const auto lost = paced({Act::kQuiet, Act::kCorrupt, Act::kLost});
  auto gone = paced(test::frames(2));
  const auto start = std::make_shared<CommonStart>();
  for (FrameReader* reader : {good.get(), lost.get(), gone.get()}) reader->begin_with(start);
  auto first = read_beside(*good, pool);
  gone.reset();
  // A frame may follow these two.
  for (const Status status : {Status::kTimeout, Status::kCorrupt}) EXPECT_EQ(lost->read(pool).failure().status, status);
  EXPECT_EQ(first.wait_for(kWhile), std::future_status::timeout);
  EXPECT_EQ(lost->read(pool).failure().status, Status::kLost);
  EXPECT_TRUE(comes(first));
  EXPECT_TRUE(first.get());
}

TEST(CommonStart, ASourceThatExceedsTheMemoryLimitIsNotAwaited) {
  test::FramePool pool;
  const auto good = paced(test::frames(2));
  const auto refused = paced(test::frames(2));
  const auto start = std::make_shared<CommonStart>();
  for (FrameReader* reader : {good.get(), refused.get()}) reader->begin_with(start);
  auto first = read_beside(*good, pool);
  FramePool limited(1, plain_frame_memory(), 1, "--max-memory");
  EXPECT_THROW(static_cast<void>(refused->read(limited)), Error);
  EXPECT_TRUE(comes(first));
  EXPECT_TRUE(first.get());
}

TEST(CommonStart, CancellingEndsTheWait) {
  test::FramePool pool;
  const auto reader = paced(test::frames(2));
  const auto never = paced(test::frames(2));
  const auto start = std::make_shared<CommonStart>();
  for (FrameReader* each : {reader.get(), never.get()}) each->begin_with(start);
  auto first = read_beside(*reader, pool);
  EXPECT_EQ(first.wait_for(kWhile), std::future_status::timeout);
  reader->cancel();
  EXPECT_TRUE(comes(first));
  EXPECT_EQ(first.get().failure().status, Status::kCancelled);
}

TEST(CommonStart, IsThatOfTheSourcesOfAPipeline) {
  const test::TempFolder folder;
  std::promise<void> decoded;
  std::vector<Source> sources;
  sources.push_back(source_of(paced(test::frames(3))));
  sources.push_back(source_of(paced(test::frames(3), decoded.get_future().share())));
  Pipeline pipeline(std::move(sources), {test::load_on_cpu(test::write_box_detector(folder))});
  EXPECT_EQ(pipeline.next(kWhile).failure().status, Status::kTimeout);
  decoded.set_value();
  test::drain(pipeline);  // a busy machine drops some
  EXPECT_EQ(pipeline.summary().ledger.captured, 6);
}

}  // namespace
}  // namespace saccade
