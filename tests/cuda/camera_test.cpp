#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "emulator_calls.hpp"
#include "media/v4l2/camera.hpp"
#include "media/v4l2/fake_calls.hpp"
#include "pipeline/stream/source_impl.hpp"
#include "saccade/saccade.hpp"
#include "support/tiny_models.hpp"

// A camera whose driver writes into memory that the GPU reads.
namespace saccade {
namespace {

using std::chrono::milliseconds;
using test::FakeCalls;
using test::FakeCamera;
using test::FakeFrame;

/// What a run of a camera leaves.
struct CameraRun {
  Summary summary;
  FakeCamera::Truth truth;
  std::vector<std::uintptr_t> user_pointers;
  int mappings = 0;
};

class CudaCamera : public testing::Test {
 protected:
  /// COUNT frames of CAMERA through classifiers on the GPU. Each result must be that of its frame, whose bytes are all
  /// equal.
  CameraRun run(FakeCamera camera, const std::string& uri, int count,
                const std::function<void(FakeCalls&)>& prepare = {}, std::size_t models = 1) {
    camera.formats[0].code = V4L2_PIX_FMT_RGB24;
    camera.formats[0].sizes[0].width = 64;
    camera.formats[0].sizes[0].height = 48;
    camera.change = [this, change = camera.change](FakeFrame& frame) {
      {
        const std::scoped_lock lock(mutex_);
        numbers_[frame.stamp_ns / 1000] = frame.number;
      }
      if (change) change(frame);
    };
    const auto calls = std::make_shared<FakeCalls>(std::move(camera));
    const auto share = calls->share();
    if (prepare) prepare(*calls);
    ModelOptions options;
    options.device = Device::cuda();
    CameraRun made;
    {
      const Model model = Model::load(test::write_color_classifier(folder_), options);
      Pipeline pipeline({source_of(v4l2::open_camera(uri, {}, calls))}, std::vector(models, model),
                        {.drop = DropPolicy::kWait, .max_frames = count});
      for (auto result = pipeline.next(); result || result.failure().status != Status::kEnd; result = pipeline.next())
        if (result) expect_is_of_its_frame(*result);
      made.summary = pipeline.summary();
    }
    made.truth = share->truth;
    made.user_pointers = share->user_pointers;
    made.mappings = calls->mappings();
    return made;
  }

  test::TempFolder folder_;
  test::EmulatorCalls calls_;

 private:
  void expect_is_of_its_frame(const Result& result) {
    const std::scoped_lock lock(mutex_);
    ASSERT_TRUE(numbers_.contains(result.timestamp_ns / 1000));
    const std::int64_t number = numbers_[result.timestamp_ns / 1000];
    ASSERT_FALSE(result.classes.empty());
    EXPECT_NEAR(result.classes[0].confidence, FakeCamera::byte_of(number) / 255.0, 1e-5) << "frame " << number;
  }

  std::mutex mutex_;
  std::map<std::int64_t, std::int64_t> numbers_;  ///< of frames, by their times in us
};

void expect_accounts(const CameraRun& run, int captured) {
  const Ledger& ledger = run.summary.ledger;
  EXPECT_EQ(ledger.captured, captured);
  EXPECT_EQ(ledger.in_flight(), 0) << "unaccounted";
  EXPECT_EQ(ledger.processed, run.truth.good);
  EXPECT_EQ(ledger.corrupt, run.truth.corrupt);
  EXPECT_EQ(ledger.lost, run.truth.lost);
  EXPECT_EQ(ledger.no_buffer, run.truth.no_buffer);
  EXPECT_GT(ledger.processed, 0);
}

TEST_F(CudaCamera, FillsMemoryThatTheGpuReads) {
  const CameraRun made = run({}, "0", 40);
  expect_accounts(made, 40);
  EXPECT_FALSE(made.user_pointers.empty());
  EXPECT_EQ(made.mappings, 0);
  if (!calls_) return;
  const auto calls = calls_.since();
  EXPECT_GT(std::ranges::count(calls, "cuMemHostRegister_v2"), 0) << "pages that a driver can fill";
  EXPECT_EQ(std::ranges::count(calls, "cuMemHostUnregister"), std::ranges::count(calls, "cuMemHostRegister_v2"));
}

TEST_F(CudaCamera, OfMappedBuffersIsCopied) {
  const CameraRun made = run({}, "0?io=mmap", 40);
  expect_accounts(made, 40);
  EXPECT_TRUE(made.user_pointers.empty());
}

/// Each model alone, then both in one graph.
TEST_F(CudaCamera, StartsWhenTheModelsAreWarm) {
  if (!calls_) GTEST_SKIP() << "only the emulated driver logs its calls";
  std::ptrdiff_t launches = 0;
  FakeCamera camera;
  camera.hooks[VIDIOC_STREAMON] = [&] { launches = std::ranges::count(calls_.since(), "cuGraphLaunch"); };
  calls_.forget();
  expect_accounts(run(camera, "0", 5, {}, 2), 5);
  EXPECT_EQ(launches, 3);
}

TEST_F(CudaCamera, AccountsForDamageStallsAndUnplugging) {
  for (const char* uri : {"0?io=userptr", "0?io=mmap"}) {
    SCOPED_TRACE(uri);
    FakeCamera camera;
    camera.stalls = {1};  // before all buffers can be lent
    camera.change = [](FakeFrame& frame) {
      if (frame.number % 10 == 3) frame.flags |= V4L2_BUF_FLAG_ERROR;
      if (frame.number % 10 == 5) frame.bytes /= 2;
      frame.is_lost = frame.number % 10 == 7;
    };
    testing::internal::CaptureStderr();
    const CameraRun made = run(camera, uri, 100, [](FakeCalls& calls) {
      const auto share = calls.share();
      calls.at(milliseconds(1500), [&calls] { calls.unplug(FakeCalls::kNode); });
      calls.at(milliseconds(2500), [&calls, share] { calls.plug(FakeCalls::kNode, share); });
    });
    EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("was unplugged"));
    expect_accounts(made, 100);
    EXPECT_EQ(made.summary.streams[0].faults.unplugged, 1);
    EXPECT_EQ(made.summary.streams[0].faults.restarts, 1);
  }
}

}  // namespace
}  // namespace saccade
