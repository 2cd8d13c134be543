#include "pipeline/stream/sink_runner.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <thread>

#include "saccade/error.hpp"

namespace saccade {
namespace {

/// Remembers the frames that it wrote.
class MemorySink final : public Sink {
 public:
  explicit MemorySink(std::vector<std::int64_t>& frames, std::function<void(const Result&)> before = {})
      : frames_(frames), before_(std::move(before)) {}
  void write(const Result& result, const FrameView& /*frame*/) override {
    if (before_) before_(result);
    frames_.push_back(result.frame);
  }
  void close(const Summary& /*summary*/) override {
    if (frames_.empty()) fail(ErrorCode::kIo, "nothing to close");
  }

 private:
  std::vector<std::int64_t>& frames_;
  std::function<void(const Result&)> before_;
};

/// A gate that threads wait at until it is opened.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void await_visitor() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }
  void open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

/// A run with the frame's number NUMBER and one result.
FrameRunRef run_of(FrameRunPool& pool, std::int64_t number) {
  FrameRunRef run = pool.take();
  run->outputs[0].result.frame = number;
  run->done = 1;
  return run;
}

using Frames = std::vector<std::int64_t>;

TEST(SinkRunner, WritesEveryResultInOrder) {
  FrameRunPool pool(8, 1);
  Frames frames;
  SinkRunner runner({.name = "memory", .sink = std::make_unique<MemorySink>(frames)}, true);
  for (std::int64_t i = 0; i < 100; ++i) runner.push(run_of(pool, i));
  runner.finish();
  runner.close({});
  ASSERT_EQ(frames.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(frames));
  const SinkSummary summary = runner.summary();
  EXPECT_EQ(summary.name, "memory");
  EXPECT_FALSE(summary.failing);
  EXPECT_EQ(summary.written, 100);
  EXPECT_EQ(summary.dropped, 0);
  EXPECT_EQ(summary.time.count, 100);
  EXPECT_EQ(summary.fault, "");
}

TEST(SinkRunner, ASlowSinkDropsTheOldestWithoutWaiting) {
  FrameRunPool pool(8, 1);
  Frames frames;
  Gate gate;
  SinkRunner runner(
      {.name = "slow", .sink = std::make_unique<MemorySink>(frames, [&](const Result&) { gate.pass(); }), .queue = 2},
      false);
  runner.push(run_of(pool, 0));
  gate.await_visitor();
  for (std::int64_t i = 1; i < 10; ++i) runner.push(run_of(pool, i));
  EXPECT_EQ(runner.telemetry().dropped, 7);
  EXPECT_EQ(runner.telemetry().queued, 2U);
  gate.open();
  runner.finish();
  EXPECT_EQ(frames, (Frames{0, 8, 9}));
}

TEST(SinkRunner, AFailingSinkIsTriedAgain) {
  FrameRunPool pool(8, 1);
  Frames frames;
  const auto fail_at_first = [](const Result& result) {
    if (result.frame < 3) fail(ErrorCode::kIo, "the disk is full at {}", result.frame);
  };
  SinkRunner runner({.name = "disk", .sink = std::make_unique<MemorySink>(frames, fail_at_first)}, true,
                    std::chrono::nanoseconds(0));
  for (std::int64_t i = 0; i < 10; ++i) runner.push(run_of(pool, i));
  runner.finish();
  EXPECT_EQ(frames.size(), 7U);
  const SinkSummary summary = runner.summary();
  EXPECT_EQ(summary.written, 7);
  EXPECT_EQ(summary.failed, 3);
  EXPECT_EQ(summary.fault, "the disk is full at 0");
  EXPECT_FALSE(runner.telemetry().failing);
}

TEST(SinkRunner, ResultsBetweenTwoTriesAreCounted) {
  FrameRunPool pool(8, 1);
  Frames frames;
  int tries = 0;
  const auto fail_always = [&tries](const Result& /*result*/) {
    ++tries;
    throw std::runtime_error("closed");
  };
  SinkRunner runner({.name = "pipe", .sink = std::make_unique<MemorySink>(frames, fail_always)}, true,
                    std::chrono::hours(1));
  for (std::int64_t i = 0; i < 10; ++i) runner.push(run_of(pool, i));
  runner.finish();
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(runner.summary().failed, 10);
  EXPECT_TRUE(runner.telemetry().failing);
}

TEST(SinkRunner, AnErrorAtTheEndIsAFault) {
  Frames frames;
  SinkRunner runner({.name = "empty", .sink = std::make_unique<MemorySink>(frames)}, true);
  runner.finish();
  runner.close({});
  EXPECT_EQ(runner.summary().fault, "nothing to close");
}

TEST(SinkRunner, EndsWithResultsInItsQueue) {
  FrameRunPool pool(8, 1);
  Frames frames;
  Gate gate;
  SinkRunner* self = nullptr;
  // The first result takes until the queue, which is full before, is cancelled: a push that waited for room returns.
  const auto write_until_the_end = [&](const Result&) {
    gate.pass();
    for (std::int64_t i = 1; self->telemetry().dropped == 0; ++i) self->push(run_of(pool, i));
  };
  {
    SinkRunner runner({.name = "slow", .sink = std::make_unique<MemorySink>(frames, write_until_the_end)}, true);
    self = &runner;
    runner.push(run_of(pool, 0));
    gate.await_visitor();
    gate.open();
  }
  EXPECT_EQ(frames, Frames{0}) << "those in its queue are dropped";
}

TEST(SinkRunner, NeedsASink) { EXPECT_THROW(SinkRunner({.name = "none"}, true), Error); }

/// Says itself what became of the results that it has accepted.
class LosingSink final : public Sink {
 public:
  struct Lost {
    std::atomic<std::int64_t> dropped = 0;
    std::atomic<std::int64_t> failed = 0;
  };
  explicit LosingSink(Lost& lost) : lost_(lost) {}
  void write(const Result& /*result*/, const FrameView& /*frame*/) override {}
  void close(const Summary& /*summary*/) override {}
  std::int64_t dropped() const override { return lost_.dropped; }
  std::int64_t failed() const override { return lost_.failed; }

 private:
  Lost& lost_;
};

/// It is a counter for whoever reads it while the sink runs.
TEST(SinkRunner, TheNumberOfWrittenResultsNeverFalls) {
  FrameRunPool pool(8, 1);
  LosingSink::Lost lost;
  SinkRunner runner({.name = "broker", .sink = std::make_unique<LosingSink>(lost)}, true);
  const auto write = [&](std::int64_t count) {
    const std::int64_t before = runner.telemetry().written;
    for (std::int64_t i = 0; i < count; ++i) runner.push(run_of(pool, i));
    while (runner.telemetry().written < before + count) std::this_thread::yield();
  };
  write(4);
  lost.dropped = 2;
  lost.failed = 1;
  EXPECT_EQ(runner.telemetry().written, 4);
  EXPECT_EQ(runner.summary().written, 4);
  runner.finish();
  runner.close({});
  const SinkSummary summary = runner.summary();
  EXPECT_EQ(summary.written, 1) << "exact at the end";
  EXPECT_EQ(summary.dropped, 2);
  EXPECT_EQ(summary.failed, 1);
  EXPECT_EQ(runner.telemetry().written, 1);
  EXPECT_EQ(runner.telemetry().failed, 1);
}

/// Accepts every result, and drops each second one later.
class ForgetfulSink final : public Sink {
 public:
  void write(const Result& /*result*/, const FrameView& /*frame*/) override { ++count_; }
  void close(const Summary& /*summary*/) override {}
  std::int64_t dropped() const override { return count_ / 2; }

 private:
  std::atomic<std::int64_t> count_ = 0;
};

TEST(SinkRunner, CountsWhatItsSinkDropsLater) {
  FrameRunPool pool(8, 1);
  SinkRunner runner({.name = "forgetful", .sink = std::make_unique<ForgetfulSink>()}, true);
  for (std::int64_t i = 0; i < 10; ++i) runner.push(run_of(pool, i));
  runner.finish();
  EXPECT_EQ(runner.summary().written, 5);
  EXPECT_EQ(runner.summary().dropped, 5);
  EXPECT_EQ(runner.telemetry().written, 5);
  EXPECT_EQ(runner.telemetry().dropped, 5);
}

}  // namespace
}  // namespace saccade
