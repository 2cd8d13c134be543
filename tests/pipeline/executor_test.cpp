#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "pipeline/stream/pipeline_impl.hpp"
#include "support/cpu_model.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using test::Act;
using test::drain;
using test::scripted_source;

/// Counts results and calls BEFORE for each.
class CountingSink final : public Sink {
 public:
  CountingSink(std::atomic<std::int64_t>& count, std::function<void()> before)
      : count_(count), before_(std::move(before)) {}
  void write(const Result& result, const FrameView& frame) override {
    before_();
    // The pixels are there as long as the result.
    if (frame.planes[0][0] == 255 && frame.width == result.width) ++count_;
  }
  void close(const Summary& /*summary*/) override {}

 private:
  std::atomic<std::int64_t>& count_;
  std::function<void()> before_;
};

PipelineSink counting(
    std::atomic<std::int64_t>& count, std::function<void()> before = [] {}) {
  return {.name = "counter", .sink = std::make_unique<CountingSink>(count, std::move(before)), .queue = 2};
}

template <typename... Each>
std::vector<PipelineSink> sinks_of(Each... each) {
  std::vector<PipelineSink> sinks;
  (sinks.push_back(std::move(each)), ...);
  return sinks;
}

class ExecutorTest : public testing::Test {
 protected:
  Model boxes() { return test::load_on_cpu(test::write_box_detector(folder_)); }
  Model colors() { return test::load_on_cpu(test::write_color_classifier(folder_)); }

  test::TempFolder folder_;
};

TEST_F(ExecutorTest, EverySinkGetsEveryResultOfFiles) {
  std::atomic<std::int64_t> fast = 0;
  std::atomic<std::int64_t> slow = 0;
  Pipeline pipeline({scripted_source("a", test::frames(40)), scripted_source("b", test::frames(10))},
                    {boxes(), colors()}, {},
                    sinks_of(counting(fast), counting(slow, [] { std::this_thread::yield(); })));
  EXPECT_EQ(drain(pipeline), 100);
  const Summary summary = pipeline.finish();
  EXPECT_EQ(fast, 100);
  EXPECT_EQ(slow, 100);
  ASSERT_EQ(summary.sinks.size(), 2U);
  EXPECT_EQ(summary.sinks[1].written, 100);
  EXPECT_EQ(summary.ledger.processed, 50);
  EXPECT_EQ(summary.ledger.in_flight(), 0);
}

/// A frame that a sink has is processed, whether next() returns its results or not.
TEST_F(ExecutorTest, ASinkGetsWhatNextMisses) {
  auto script = test::frames(30);
  script.push_back(Act::kHang);
  std::atomic<std::int64_t> written = 0;
  Pipeline pipeline(
      {scripted_source("camera", script, true)}, {boxes()}, {.queue = 30},
      sinks_of(PipelineSink{.name = "all", .sink = std::make_unique<CountingSink>(written, [] {}), .queue = 30}));
  ASSERT_TRUE(pipeline.next());
  while (written < 30) std::this_thread::yield();
  const Summary summary = pipeline.finish();
  EXPECT_EQ(summary.ledger.processed, 30);
  EXPECT_EQ(summary.ledger.dropped(), 0);
  EXPECT_EQ(summary.streams[0].stages.back().time.count, 30);
}

TEST_F(ExecutorTest, ALiveResultGivesWayToANewerOne) {
  auto script = test::frames(30);
  script.push_back(Act::kHang);
  Pipeline pipeline(scripted_source("camera", script, true), boxes());
  // The models start; its result may be there at once.
  const std::int64_t taken = pipeline.next(std::chrono::nanoseconds(0)) ? 1 : 0;
  const auto gone = [&] { return pipeline.summary().ledger.queue_full; };
  // All but the last one, which waits for next().
  while (gone() < 29 - taken) std::this_thread::yield();
  std::int64_t last = 29;
  if (const auto newest = pipeline.next(std::chrono::milliseconds(100))) last = newest->frame;
  EXPECT_EQ(last, 29);
  const Ledger ledger = pipeline.finish().ledger;
  EXPECT_EQ(ledger.processed + ledger.queue_full, 30);
  EXPECT_EQ(ledger.in_flight(), 0);
}

TEST_F(ExecutorTest, CountsFramesWithoutABufferAndOutages) {
  Pipeline pipeline(
      scripted_source("camera", {Act::kFrame, Act::kNoBuffer, Act::kNoBuffer, Act::kFrame, Act::kQuiet, Act::kAway,
                                 Act::kAway, Act::kFrame, Act::kGap, Act::kFrame, Act::kQuiet, Act::kFrame}),
      boxes());
  EXPECT_EQ(drain(pipeline), 5);
  const Summary summary = pipeline.summary();
  EXPECT_EQ(summary.ledger.captured, 8);
  EXPECT_EQ(summary.ledger.no_buffer, 2);
  EXPECT_EQ(summary.ledger.lost, 1);
  EXPECT_EQ(summary.ledger.dropped(), 2);
  EXPECT_EQ(summary.ledger.in_flight(), 0);
  EXPECT_EQ(summary.streams[0].outages.count, 1) << "a quiet source is not away";
}

TEST_F(ExecutorTest, FramesOfADecoderThatIsBehindAreDropped) {
  Pipeline pipeline(scripted_source("rtsp://camera", {Act::kFrame, Act::kAway, Act::kBehind, Act::kBehind, Act::kFrame,
                                                      Act::kCorrupt, Act::kBehind, Act::kFrame}),
                    boxes());
  EXPECT_EQ(drain(pipeline), 3);
  const Summary summary = pipeline.summary();
  EXPECT_EQ(summary.ledger.captured, 7);
  EXPECT_EQ(summary.ledger.decoder_behind, 3);
  EXPECT_EQ(summary.ledger.dropped(), 3);
  EXPECT_EQ(summary.ledger.lost, 0) << "they have consumed their numbers";
  EXPECT_EQ(summary.ledger.in_flight(), 0);
  EXPECT_EQ(summary.streams[0].outages.count, 1) << "it has ended with a frame, decoded or not";
}

TEST_F(ExecutorTest, ASourceThatIsAwayIsConnecting) {
  Pipeline pipeline(scripted_source("camera", {Act::kFrame, Act::kAway, Act::kHang}, true), boxes());
  ASSERT_TRUE(pipeline.next());
  while (pipeline.telemetry().streams[0].state != StreamState::kConnecting) std::this_thread::yield();
  EXPECT_EQ(pipeline.summary().streams[0].outages.count, 1) << "it goes on";
}

/// Blocks until the test lets it go on.
class BlockingSink final : public Sink {
 public:
  BlockingSink(std::atomic<bool>& is_open, std::atomic<int>& closed) : is_open_(is_open), closed_(closed) {}
  void write(const Result& /*result*/, const FrameView& /*frame*/) override {
    while (!is_open_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void close(const Summary& /*summary*/) override { ++closed_; }

 private:
  std::atomic<bool>& is_open_;
  std::atomic<int>& closed_;
};

/// The others are completed first, and stopping does not wait for room in its queue.
TEST_F(ExecutorTest, ASinkThatBlocksKeepsNoOtherOpen) {
  std::atomic<bool> is_open = false;
  std::atomic<int> closed = 0;
  std::atomic<int> others_closed = 0;
  std::atomic<bool> others_open = true;
  Pipeline pipeline(
      {scripted_source("file", test::frames(40))}, {boxes()}, {},
      sinks_of(PipelineSink{.name = "pipe", .sink = std::make_unique<BlockingSink>(is_open, closed), .queue = 1},
               PipelineSink{
                   .name = "file", .sink = std::make_unique<BlockingSink>(others_open, others_closed), .queue = 1}));
  ASSERT_TRUE(pipeline.next());
  std::thread opener([&] {
    while (others_closed == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(closed, 0);
    is_open = true;
  });
  const Summary summary = pipeline.finish();
  opener.join();
  EXPECT_EQ(closed, 1);
  EXPECT_EQ(others_closed, 1);
  EXPECT_EQ(summary.ledger.in_flight(), 0);
  EXPECT_EQ(pipeline.finish().ledger.processed, summary.ledger.processed) << "once more changes nothing";
  EXPECT_EQ(closed, 1);
}

TEST_F(ExecutorTest, ALostSourceSaysWhyWhileOthersGoOn) {
  Pipeline pipeline(
      {scripted_source("lost", {Act::kFrame, Act::kLost}), scripted_source("camera", {Act::kFrame, Act::kHang}, true)},
      {boxes()});
  while (pipeline.summary().streams[0].state != StreamState::kLost)
    static_cast<void>(pipeline.next(std::chrono::milliseconds(1)));
  EXPECT_EQ(pipeline.summary().streams[0].fault, "unplugged");
}

TEST_F(ExecutorTest, DamagedFramesEndAnOutage) {
  Pipeline pipeline(scripted_source("camera", {Act::kFrame, Act::kAway, Act::kCorrupt, Act::kHang}, true), boxes());
  while (pipeline.summary().ledger.corrupt == 0) static_cast<void>(pipeline.next(std::chrono::milliseconds(1)));
  EXPECT_EQ(pipeline.telemetry().streams[0].state, StreamState::kRunning);
  EXPECT_EQ(pipeline.summary().streams[0].outages.count, 1);
}

/// Has no frame before the test lets it go on.
class GatedReader final : public FrameReader {
 public:
  GatedReader(std::vector<Act> script, std::atomic<bool>& is_open)
      : reader_("file", std::move(script)), is_open_(is_open) {}
  const SourceInfo& info() const override { return reader_.info(); }
  Outcome<Frame> read(FrameAllocator& allocator) override {
    while (!is_open_) std::this_thread::sleep_for(std::chrono::microseconds(100));
    return reader_.read(allocator);
  }
  void cancel() noexcept override { reader_.cancel(); }

 private:
  test::ScriptedReader reader_;
  std::atomic<bool>& is_open_;
};

/// However often next() has timed out before.
TEST_F(ExecutorTest, NothingIsBegunBesideAResultInLockstep) {
  std::atomic<bool> is_open = false;
  std::vector<Source> sources;
  sources.push_back(source_of(std::make_unique<GatedReader>(test::frames(20), is_open)));
  Pipeline pipeline(std::move(sources), {boxes()}, {.queue = 1});
  impl_of(pipeline).run_one_by_one();
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(pipeline.next(std::chrono::milliseconds(1)));
  is_open = true;
  ASSERT_TRUE(pipeline.next());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  // The one that was returned, one in the queue and one in capture.
  EXPECT_LE(pipeline.summary().ledger.captured, 3);
}

/// Early, in time, late and not at all.
TEST_F(ExecutorTest, TakesFramesWheneverTheyArrive) {
  constexpr std::chrono::milliseconds kPeriod(1);
  constexpr std::int64_t kFrames = 60;
  ModelSet models({boxes()});
  BoundedQueue<Frame> queue({{DropPolicy::kWait, 4}});
  FrameRunPool runs(4, models.size());
  std::atomic<std::int64_t> next = 0;
  FrameBatcher batcher(queue, runs, {{.period = kPeriod, .is_live = true}}, {});
  batcher.stay_awake();
  Executor executor(models, batcher, runs, Clock::time_point::max(),
                    {.complete = [&](FrameRunRef run) { EXPECT_EQ(run->frame.sequence, next++); },
                     .lane_ended = [](std::size_t) {},
                     .failed = [] { ADD_FAILURE(); }});
  executor.request();
  test::ScriptedReader reader("camera", test::frames(kFrames), true);
  FramePool pool(8);
  std::mt19937 random(1);
  for (std::int64_t i = 0; i < kFrames; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2200));
    Outcome<Frame> frame = reader.read(pool);
    ASSERT_TRUE(frame);
    frame->captured = Clock::now();
    queue.push(0, std::move(*frame));
  }
  while (next < kFrames) std::this_thread::yield();
  queue.cancel();
  executor.join();
}

/// The frames that a source with SCRIPT has captured once it has been read to its end. A gap shows with a later frame.
std::int64_t captured_by(const std::vector<Act>& script) {
  std::int64_t captured = 0;
  std::int64_t missing = 0;
  for (const Act act : script) {
    if (act == Act::kLost || act == Act::kHang) break;
    if (act == Act::kGap) ++missing;
    if (act == Act::kFrame) captured += 1 + std::exchange(missing, 0);
    if (act == Act::kCorrupt || act == Act::kNoBuffer || act == Act::kBehind) ++captured;
  }
  return captured;
}

/// Whatever the order of the threads, every frame and every result is counted once.
TEST_F(ExecutorTest, RandomSchedulesAreAccountedFor) {
  const std::vector<Model> models = {boxes(), colors()};
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&random](int in) { return static_cast<int>(random() % static_cast<unsigned>(in)); };
    std::vector<Source> sources;
    std::vector<std::int64_t> captured;
    const int count = 1 + chance(3);
    const bool is_read_to_end = chance(2) == 0;
    for (int i = 0; i < count; ++i) {
      std::vector<Act> script;
      constexpr std::array kActs = {Act::kFrame, Act::kFrame,   Act::kFrame, Act::kFrame,    Act::kFrame,
                                    Act::kGap,   Act::kCorrupt, Act::kAway,  Act::kNoBuffer, Act::kBehind};
      for (int k = chance(40); k >= 0; --k) script.push_back(kActs[static_cast<std::size_t>(chance(kActs.size()))]);
      if (chance(4) == 0) script.push_back(Act::kLost);
      if (!is_read_to_end && chance(3) == 0) script.push_back(Act::kHang);
      captured.push_back(captured_by(script));
      sources.push_back(scripted_source("s" + std::to_string(i), script, chance(2) == 0));
    }
    constexpr std::array kPolicies = {DropPolicy::kAuto, DropPolicy::kWait, DropPolicy::kOldest, DropPolicy::kNewest};
    PipelineOptions options{.drop = kPolicies[static_cast<std::size_t>(chance(4))],
                            .queue = static_cast<std::size_t>(chance(4))};
    if (chance(3) == 0) options.every = 2;
    if (chance(4) == 0) options.devices = {Device::cpu(), Device::reference()};
    std::atomic<std::int64_t> written = 0;
    std::vector<PipelineSink> sinks;
    if (chance(2) == 0)
      sinks.push_back(counting(written, [seed] {
        if (seed % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      }));
    const bool has_sink = !sinks.empty();
    Pipeline pipeline(sources, models, options, std::move(sinks));
    std::int64_t results = 0;
    const int calls = chance(60);
    bool has_ended = false;
    for (int i = 0; i < calls && !has_ended; ++i) {
      const auto result = pipeline.next(std::chrono::microseconds(chance(2000)));
      if (result) ++results;
      has_ended = !result && result.failure().status == Status::kEnd;
      if (chance(5) == 0) std::this_thread::sleep_for(std::chrono::microseconds(chance(500)));
      if (chance(7) == 0) static_cast<void>(pipeline.telemetry());
    }
    while (is_read_to_end && !has_ended) {
      const auto result = pipeline.next();
      if (result) ++results;
      has_ended = !result && result.failure().status == Status::kEnd;
    }
    const Summary summary = pipeline.finish();
    for (std::size_t i = 0; i < captured.size(); ++i) {
      const Ledger& ledger = summary.streams[i].ledger;
      EXPECT_EQ(ledger.in_flight(), 0) << "seed " << seed << ", " << to_json(summary);
      EXPECT_LE(ledger.captured, captured[i]) << "seed " << seed;
      EXPECT_TRUE(!is_read_to_end || ledger.captured == captured[i]) << "seed " << seed << ", " << to_json(summary);
    }
    if (!has_sink) {
      EXPECT_EQ(results / 2, summary.ledger.processed) << "seed " << seed;
    } else {
      const SinkSummary& sink = summary.sinks[0];
      EXPECT_EQ(sink.written + sink.dropped, 2 * summary.ledger.processed) << "seed " << seed;
      EXPECT_EQ(sink.written, written);
    }
  }
}

}  // namespace
}  // namespace saccade
