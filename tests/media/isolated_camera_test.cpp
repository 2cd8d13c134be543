#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>

#include "base/error.hpp"
#include "media/isolated/isolated_reader.hpp"
#include "media/v4l2/camera.hpp"
#include "media/v4l2/fake_cameras.hpp"
#include "support/frames.hpp"

// Cameras that a child process reads. That of tests/crashing_source has the cameras of fake_cameras(), as this process.
namespace saccade {
namespace {

std::unique_ptr<FrameReader> isolated_camera(const std::string& uri, const ReaderOptions& options = {}) {
  return open_isolated({.uri = uri, .images = {}, .options = options}, SACCADE_CRASHING_SOURCE);
}

std::unique_ptr<FrameReader> own_camera(const std::string& uri, const ReaderOptions& options = {}) {
  return v4l2::open_camera(uri, {options.model_width, options.model_height}, test::fake_cameras());
}

/// The next frame. The fake camera does not wait for who reads it: frames without a buffer are passed over.
Frame next_frame(FrameReader& reader, FrameAllocator& pool) {
  while (true) {
    Outcome<Frame> outcome = reader.read(pool);
    if (outcome) return std::move(*outcome);
    if (outcome.failure().status == Status::kNoBuffer) continue;
    ADD_FAILURE() << outcome.failure().message;
    return {};
  }
}

/// Whether all bytes of FRAME's rows are BYTE. It has one plane.
bool is_filled(const Frame& frame, std::uint8_t byte) {
  const PlaneSize size = plane_sizes(frame.view.format, frame.view.width, frame.view.height)[0];
  for (int y = 0; y < size.rows; ++y) {
    const std::uint8_t* const row = frame.view.planes[0] + std::ptrdiff_t{y} * frame.view.pitch_bytes[0];
    if (!std::all_of(row, row + size.row_bytes, [byte](std::uint8_t each) { return each == byte; })) return false;
  }
  return true;
}

/// The line of /proc/self/maps about the mapping that has ADDRESS.
std::string mapping_of(const void* address) {
  std::ifstream maps("/proc/self/maps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &first, &end) == 2 && first <= wanted && wanted < end) return line;
  }
  return "no mapping";
}

/// Why OPEN fails, "CODE: message".
std::string why_not(const std::function<std::unique_ptr<FrameReader>()>& open) {
  try {
    open();
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return "it opens";
}

TEST(IsolatedCamera, FramesHaveTheDriversNumbersAndTheSensorsTimes) {
  const std::string uri = "/dev/video0?format=GREY";
  test::FramePool pool;
  const auto own = own_camera(uri);
  const std::int64_t first = next_frame(*own, pool).timestamp_ns;
  const std::int64_t period = next_frame(*own, pool).timestamp_ns - first;
  const auto isolated = isolated_camera(uri);
  std::int64_t last = -1;
  for (int i = 0; i < 50; ++i) {
    const Frame frame = next_frame(*isolated, pool);
    ASSERT_GT(frame.sequence, last);
    last = frame.sequence;
    EXPECT_TRUE(is_filled(frame, test::FakeCamera::byte_of(frame.sequence))) << frame.sequence;
    // V4L2's times are of microseconds.
    EXPECT_NEAR(static_cast<double>(frame.timestamp_ns - first - frame.sequence * period), 0, 1000.0 * (2 + last));
    EXPECT_TRUE(frame.exposed) << "the sensor's time on the clock of both processes";
  }
}

TEST(IsolatedCamera, FramesLieInTheSharedMemory) {
  for (const char* io : {"mmap", "userptr"}) {
    SCOPED_TRACE(io);
    test::FramePool pool;
    const auto isolated = isolated_camera(std::string("/dev/video0?format=GREY&io=") + io);
    const Frame frame = next_frame(*isolated, pool);
    EXPECT_NE(mapping_of(frame.view.planes[0]).find("/memfd:saccade-frames"), std::string::npos)
        << mapping_of(frame.view.planes[0]);
    EXPECT_TRUE(is_filled(frame, test::FakeCamera::byte_of(frame.sequence))) << "the child does not write it again";
  }
}

TEST(IsolatedCamera, HasTheModeOfItsOptions) {
  test::FramePool pool;
  const std::string uri = "0?size=32x24&fps=15&format=GREY";
  const auto isolated = isolated_camera(uri);
  const SourceInfo& info = isolated->info();
  EXPECT_EQ(info.name, uri);
  EXPECT_TRUE(info.live);
  EXPECT_EQ(info.width, 32);
  EXPECT_EQ(info.height, 24);
  EXPECT_EQ(info.frame_rate, 15);
  const Frame frame = next_frame(*isolated, pool);
  EXPECT_EQ(frame.view.format, PixelFormat::kGray8);
  EXPECT_EQ(frame.view.width, 32);
}

TEST(IsolatedCamera, ItsModeIsChosenForTheModel) {
  for (const int side : {24, 64}) {
    const ReaderOptions options{.model_width = side, .model_height = side};
    EXPECT_EQ(isolated_camera("0", options)->info().width, own_camera("0", options)->info().width);
  }
  EXPECT_NE(own_camera("0", {.model_width = 24, .model_height = 24})->info().width,
            own_camera("0", {.model_width = 64, .model_height = 64})->info().width);
}

TEST(IsolatedCamera, ErrorsAreThoseOfThisProcess) {
  for (const std::string uri :
       {"/dev/video7", "/dev/video1", "0?size=1x1", "0?fps=x", "0?sise=64x48", "0?format=H264", "0?brightness=1"}) {
    const std::string why = why_not([&] { return own_camera(uri); });
    EXPECT_NE(why, "it opens") << uri;
    EXPECT_EQ(why_not([&] { return isolated_camera(uri); }), why);
  }
}

}  // namespace
}  // namespace saccade
