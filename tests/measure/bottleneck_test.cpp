#include "measure/profile/bottleneck.hpp"

#include <gtest/gtest.h>

#include "measure/times.hpp"

namespace saccade {
namespace {

using test::ms;

/// 10 ms per frame: 1 before, 8.3 in the model, 0.7 after; two launches at 80 % of compute bounds.
RunFacts facts() {
  return {.threads = 2,
          .cores = 2,
          .capture = ms(2),
          .queue = ms(40),
          .pre = ms(1),
          .model = ms(8.3),
          .post = ms(0.7),
          .gaps = ms(0.01),
          .launches = {{"Conv 3x3", "onednn.convolution", ms(5), ms(4), "compute"},
                       {"Conv 1x1", "onednn.convolution", ms(3.3), ms(2.64), "compute"}}};
}

void expect(const RunFacts& run, BottleneckKind kind, const std::string& sentence) {
  const Bottleneck found = find_bottleneck(run);
  EXPECT_EQ(to_string(found.kind), to_string(kind));
  EXPECT_EQ(found.sentence, sentence);
}

TEST(Bottleneck, Compute) {
  expect(facts(), BottleneckKind::kCompute,
         "The model takes 83 % of a frame; its largest launch is Conv 3x3 (50 %), at 80 % of its bound; it is "
         "compute-bound: try a lower precision, a smaller input or a smaller model.");
}

TEST(Bottleneck, Memory) {
  RunFacts run = facts();
  for (LaunchFacts& launch : run.launches) launch.limiter = "L2";
  expect(run, BottleneckKind::kMemory,
         "The model takes 83 % of a frame; its largest launch is Conv 3x3 (50 %), at 80 % of its bound; it is "
         "memory-bound (L2): try a lower precision or a smaller input, whose activations fit a closer cache.");
}

TEST(Bottleneck, SlackOnAllCores) {
  RunFacts run = facts();
  run.launches[0].bound = ms(1);
  expect(
      run, BottleneckKind::kSlack,
      "The model takes 83 % of a frame; its largest launch is Conv 3x3 (50 %), at 20 % of its bound; all launches "
      "together are at 44 %: the headroom is in the kernels: compare tactics and keep the cores free of other work.");
}

TEST(Bottleneck, SlackWithCoresToSpare) {
  RunFacts run = facts();
  run.launches[0].bound = ms(1);
  run.cores = 8;
  EXPECT_TRUE(find_bottleneck(run).sentence.ends_with(": try --threads 8.")) << find_bottleneck(run).sentence;
}

TEST(Bottleneck, CaptureOfAFile) {
  RunFacts run = facts();
  run.capture = ms(15);
  run.waiting = ms(5);
  expect(run, BottleneckKind::kCapture,
         "Capture takes 15 ms per frame and the models 10 ms; they wait for a frame 33 % of the time: use smaller "
         "frames, a cheaper codec, or several concurrent sources.");
}

TEST(Bottleneck, WaitingForAQuickFileIsNoCapture) {
  RunFacts run = facts();
  run.capture = ms(9);
  run.waiting = ms(3);
  EXPECT_EQ(find_bottleneck(run).stage, "model");
}

TEST(Bottleneck, CaptureOfACamera) {
  RunFacts run = facts();
  run.is_live = true;
  run.capture = ms(33);
  run.waiting = ms(23);
  const Bottleneck found = find_bottleneck(run);
  EXPECT_EQ(found.stage, "capture");
  EXPECT_TRUE(found.sentence.ends_with(": the camera is the bottleneck: request a higher rate or a smaller frame."));
}

TEST(Bottleneck, QueueCountsForLiveFramesAlone) {
  RunFacts run = facts();
  EXPECT_NE(find_bottleneck(run).kind, BottleneckKind::kQueue);
  run.is_live = true;
  expect(run, BottleneckKind::kQueue,
         "A frame waits 40 ms in the queue and is processed for 10 ms: shorten the queue (--queue 1, --drop oldest), "
         "or reduce the source's frame rate.");
}

TEST(Bottleneck, Preprocessing) {
  RunFacts run = facts();
  run.pre = ms(12);
  expect(run, BottleneckKind::kStage,
         "The preprocessing takes 57 % of a frame, more than the model: use frames closer to the model's input size, "
         "or crop them with --roi.");
}

TEST(Bottleneck, Postprocessing) {
  RunFacts run = facts();
  run.post = ms(11);
  EXPECT_EQ(find_bottleneck(run).stage, "post");
}

TEST(Bottleneck, Overhead) {
  RunFacts run = facts();
  run.pre = run.post = ms(0);
  run.model = ms(0.1);
  run.gaps = ms(0.01);
  run.launches.assign(20, {"Add", "vector.binary", ms(0.0045), ms(0.001), "launch"});
  expect(run, BottleneckKind::kOverhead,
         "The model takes 100 % of a frame; 20 of its 20 launches take less than 5 µs; with the gaps between launches "
         "they are 100 % of the frame: try fewer --threads, which synchronise after every launch.");
}

TEST(Bottleneck, Fallback) {
  RunFacts run = facts();
  run.launches.push_back({"GridSample", "reference", ms(3), ms(0.1), "L2"});
  run.model += ms(3);
  expect(run, BottleneckKind::kFallback,
         "23 % of a frame is spent in operators that only the slow reference kernel supports, mostly GridSample (23 "
         "%): `saccade inspect` shows why the other tactics were rejected; export the model without these operators.");
}

TEST(Bottleneck, WithoutLaunchesOrTimes) { EXPECT_FALSE(find_bottleneck(RunFacts{}).sentence.empty()); }

}  // namespace
}  // namespace saccade
