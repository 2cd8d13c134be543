#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <span>
#include <thread>

#include "base/clock.hpp"
#include "media/images.hpp"
#include "media/isolated/isolated_reader.hpp"
#include "media/source_list.hpp"
#include "saccade/error.hpp"
#include "support/children.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

// Sources in a child process. tests/crashing_source is a child that fails as its URI says.
namespace saccade {
namespace {

std::unique_ptr<FrameReader> isolated_reader(const std::string& uri,
                                             std::chrono::milliseconds patience = std::chrono::seconds(30)) {
  return open_isolated({.uri = uri, .images = {}, .options = {}}, SACCADE_CRASHING_SOURCE, patience);
}

/// What a source delivers: its frames' numbers, and how often each status occurred.
struct Read {
  std::vector<std::int64_t> frames;
  std::vector<std::int64_t> timestamps;
  int corrupt = 0;
  std::vector<std::string> outages;
  Failure last{Status::kEnd, {}};
  bool pixels_match = true;
};

std::vector<std::int64_t> numbers(std::int64_t count, std::int64_t without = -1) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < count; ++i)
    if (i != without) all.push_back(i);
  return all;
}

Read read_to_end(FrameReader& reader, std::size_t most = 1000) {
  test::FramePool pool;
  Read read;
  while (read.frames.size() < most) {
    const Outcome<Frame> outcome = reader.read(pool);
    if (outcome) {
      read.frames.push_back(outcome->sequence);
      read.timestamps.push_back(outcome->timestamp_ns);
      const FrameView& view = outcome->view;
      const auto value = static_cast<std::uint8_t>(outcome->image_id);
      for (int y = 0; y < view.height; ++y)
        for (int x = 0; x < 3 * view.width; ++x)
          read.pixels_match = read.pixels_match && view.planes[0][std::ptrdiff_t{y} * view.pitch_bytes[0] + x] == value;
      continue;
    }
    const Failure& failure = outcome.failure();
    if (failure.status == Status::kTimeout) {
      read.outages.push_back(failure.message);
    } else if (failure.status == Status::kCorrupt) {
      ++read.corrupt;
    } else if (failure.status != Status::kNoBuffer) {
      read.last = failure;
      break;
    }
  }
  return read;
}

TEST(IsolatedReader, DeliversWhatTheSourceDelivers) {
  const auto reader = isolated_reader("frames=20 corrupt=4");
  EXPECT_EQ(reader->info().name, "frames=20 corrupt=4");
  EXPECT_EQ(reader->info().frames, 20);
  EXPECT_EQ(reader->info().frame_rate, 100);
  EXPECT_FALSE(reader->info().live);
  const Read read = read_to_end(*reader);
  EXPECT_EQ(read.frames, numbers(20, 4));
  EXPECT_EQ(read.corrupt, 1);
  EXPECT_TRUE(read.pixels_match);
  EXPECT_EQ(read.last.status, Status::kEnd);
  test::FramePool pool;
  EXPECT_EQ(reader->read(pool).failure().status, Status::kEnd) << "once more";
}

TEST(IsolatedReader, AFrameKeepsItsIdentity) {
  const auto reader = isolated_reader("frames=3");
  test::FramePool pool;
  static_cast<void>(reader->read(pool));
  const auto before = Clock::now();
  const Outcome<Frame> frame = reader->read(pool);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->sequence, 1);
  EXPECT_EQ(frame->timestamp_ns, 10'000'000);
  EXPECT_EQ(frame->image_id, 1);
  EXPECT_EQ(frame->name, "a frame");
  EXPECT_LE(frame->captured, Clock::now());
  EXPECT_LT(frame->captured - before, std::chrono::minutes(1));
  ASSERT_TRUE(frame->exposed);
  EXPECT_EQ(frame->captured - *frame->exposed, std::chrono::milliseconds(1)) << "one clock in both processes";
}

TEST(IsolatedReader, AFileResumesAfterACrash) {
  for (const std::string how : {"segv", "abort", "exit", "kill"}) {
    SCOPED_TRACE(how);
    for (const int at : {0, 1, 7, 19}) {
      const test::TempFolder folder;
      const auto reader =
          isolated_reader("frames=20 crash=" + std::to_string(at) + " how=" + how + " once=" + (folder / "crashed"));
      const Read read = read_to_end(*reader);
      EXPECT_EQ(read.frames, numbers(20));
      EXPECT_TRUE(read.pixels_match);
      ASSERT_EQ(read.outages.size(), 1U);
      EXPECT_NE(read.outages.front().find("the process that reads it"), std::string::npos) << read.outages.front();
      const std::string end = how == "kill" ? "signal 9 (Killed)" : how == "exit" ? "exit code 7" : "";
      EXPECT_NE(read.outages.front().find(end), std::string::npos) << read.outages.front();
    }
  }
}

TEST(IsolatedReader, ACorruptFrameBeforeACrashIsNotReadTwice) {
  const test::TempFolder folder;
  const Read read = read_to_end(*isolated_reader("frames=9 corrupt=2 crash=5 once=" + (folder / "crashed")));
  EXPECT_EQ(read.frames, numbers(9, 2));
  EXPECT_EQ(read.corrupt, 1);
}

TEST(IsolatedReader, AFrameThatAlwaysCrashesIsSkipped) {
  const Read read = read_to_end(*isolated_reader("frames=9 crash=5 skips=1"));
  EXPECT_EQ(read.frames, numbers(9, 5));
  EXPECT_EQ(read.corrupt, 1);
  EXPECT_EQ(read.last.status, Status::kEnd);
}

TEST(IsolatedReader, APacketThatAlwaysCrashesItsDecoderIsSkipped) {
  const test::TempFolder folder;
  {
    const auto writer = open_video_writer(folder / "a.mp4", 25);
    for (int i = 0; i < 40; ++i)
      writer->write(test::flat(64, 48, static_cast<std::uint8_t>(5 * i), 90, 90).view(), i * 40'000'000LL);
    writer->close();
  }
  const Read read = read_to_end(*isolated_reader("crash=20 video=" + (folder / "a.mp4")));
  EXPECT_EQ(read.last.status, Status::kEnd) << read.last.message;
  EXPECT_GE(read.corrupt, 1);
  // The frame after it lacks its reference, and FFmpeg may not output it.
  EXPECT_GE(read.frames.size() + static_cast<std::size_t>(read.corrupt), 39U);
  EXPECT_GE(read.frames.back(), 38);
  EXPECT_TRUE(std::ranges::is_sorted(read.frames));
}

TEST(IsolatedReader, ASourceThatCannotSkipIsLostThere) {
  const Read read = read_to_end(*isolated_reader("frames=9 crash=5"));
  EXPECT_EQ(read.frames, numbers(5));
  EXPECT_EQ(read.last.status, Status::kLost);
  EXPECT_NE(read.last.message.find("can't be skipped"), std::string::npos) << read.last.message;
}

TEST(IsolatedReader, ACameraGoesOnAndLosesTheFrameThatWasRead) {
  const test::TempFolder folder;
  const auto reader = isolated_reader("live=1 crash=6 once=" + (folder / "crashed"));
  EXPECT_TRUE(reader->info().live);
  const Read read = read_to_end(*reader, 20);
  ASSERT_EQ(read.frames.size(), 20U);
  EXPECT_EQ(read.frames.front(), 100) << "the first process numbers them";
  EXPECT_EQ(read.frames.back(), 120) << "one is lost";
  EXPECT_TRUE(std::ranges::is_sorted(read.frames));
  EXPECT_EQ(read.outages.size(), 1U);
  EXPECT_TRUE(std::ranges::is_sorted(read.timestamps)) << "the second process begins at 0 again";
}

/// Reads FAILURES outcomes that are no frames.
std::vector<Failure> read_failures(FrameReader& reader, std::size_t failures) {
  test::FramePool pool;
  std::vector<Failure> read;
  while (read.size() < failures)
    if (const Outcome<Frame> outcome = reader.read(pool); !outcome) read.push_back(outcome.failure());
  return read;
}

/// A stream counts an outage for each of them.
TEST(IsolatedReader, EachDeathIsReportedAlsoWithoutAFrameBetween) {
  for (const Failure& failure : read_failures(*isolated_reader("live=1 crash=0"), 3)) {
    EXPECT_EQ(failure.status, Status::kTimeout);
    EXPECT_NE(failure.message.find("the process that reads it"), std::string::npos) << failure.message;
  }
  const auto damaged = read_failures(*isolated_reader("live=1 corrupt=0 crash=1"), 4);
  for (std::size_t i = 0; i < damaged.size(); ++i)
    EXPECT_EQ(damaged[i].status, i % 2 == 0 ? Status::kCorrupt : Status::kTimeout) << damaged[i].message;
}

TEST(IsolatedReader, ALiveSourceThatCannotBeOpenedAgainIsAway) {
  const test::TempFolder folder;
  const auto reader = isolated_reader("live=1 crash=3 gone=" + (folder / "opened"));
  const auto away = read_failures(*reader, 4);
  for (std::size_t i = 1; i < away.size(); ++i) {
    EXPECT_EQ(away[i].status, Status::kTimeout);
    EXPECT_NE(away[i].message.find("can't open it again (there is no such camera)"), std::string::npos)
        << away[i].message;
    EXPECT_EQ(away[i].message, away[1].message) << "so that it is logged once";
  }
}

TEST(IsolatedReader, FramesOfADriversMemoryAreCopied) {
  const Read read = read_to_end(*isolated_reader("frames=12 foreign=1"));
  EXPECT_EQ(read.frames, numbers(12));
  EXPECT_TRUE(read.pixels_match);
}

TEST(IsolatedReader, FramesMayGrow) {
  const test::TempFolder folder;
  const Read read = read_to_end(*isolated_reader("frames=12 grow=5 crash=8 once=" + (folder / "crashed")));
  EXPECT_EQ(read.frames, numbers(12));
  EXPECT_TRUE(read.pixels_match);
}

TEST(IsolatedReader, AnInvalidMessageEndsTheChild) {
  for (const std::string what : {"noise", "index", "pitch", "twice", "version", "kind"}) {
    SCOPED_TRACE(what);
    const test::TempFolder folder;
    const auto reader = isolated_reader("frames=10 crash=4 send=" + what + " once=" + (folder / "sent"));
    const Read read = read_to_end(*reader);
    ASSERT_EQ(read.outages.size(), 1U);
    EXPECT_NE(read.outages.front().find("invalid message"), std::string::npos) << read.outages.front();
    EXPECT_EQ(read.last.status, Status::kEnd);
  }
}

TEST(IsolatedReader, LeasesOutliveTheirChildAndTheirReader) {
  test::FramePool pool;
  std::vector<Frame> kept;
  const test::TempFolder folder;
  auto reader = isolated_reader("frames=9 crash=3 once=" + (folder / "crashed"));
  while (kept.size() < 4) {
    Outcome<Frame> outcome = reader->read(pool);
    if (outcome) kept.push_back(std::move(*outcome));
  }
  reader.reset();
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i].view.planes[0][5], i);
  std::thread([frames = std::move(kept)] {}).join();
}

TEST(IsolatedReader, WaitsUntilAFrameIsReleased) {
  test::FramePool pool(1);
  const auto reader = isolated_reader("frames=30");
  std::vector<Frame> kept;
  // All buffers: as many as the child has ahead, and one.
  for (int i = 0; i < reader->held_buffers() + 1; ++i) kept.push_back(std::move(*reader->read(pool)));
  std::thread releases([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kept.clear();
  });
  const Read read = read_to_end(*reader);
  releases.join();
  EXPECT_EQ(read.frames.size(), 26U);
}

/// A busy machine may need the time that a child has.
constexpr std::chrono::milliseconds kHangPatience{2000};

TEST(IsolatedReader, ALiveChildThatSendsNothingIsAway) {
  test::FramePool pool;
  const auto reader = isolated_reader("hang=7 live=1", std::chrono::seconds(10));
  Status status{};
  int frames = 0;
  while (true) {
    const Outcome<Frame> frame = reader->read(pool);
    if (frame) {
      ++frames;
      continue;
    }
    status = frame.failure().status;
    EXPECT_NE(frame.failure().message.find("has sent nothing for 3 s"), std::string::npos) << frame.failure().message;
    break;
  }
  EXPECT_EQ(status, Status::kTimeout);
  EXPECT_GT(frames, 0);
}

TEST(IsolatedReader, AHungChildIsStartedAgain) {
  const test::TempFolder folder;
  for (const std::string live : {"0", "1"}) {
    SCOPED_TRACE(live);
    const auto reader = isolated_reader("hang=7 live=" + live + " once=" + (folder / live), kHangPatience);
    const Read read = read_to_end(*reader, 20);
    EXPECT_EQ(read.frames.size(), 20U);
    EXPECT_TRUE(read.pixels_match);
    ASSERT_EQ(read.outages.size(), 1U);
    EXPECT_NE(read.outages[0].find("has done nothing for 2 s; it is started again"), std::string::npos)
        << read.outages[0];
  }
}

TEST(IsolatedReader, AFrameThatAlwaysHangsIsSkipped) {
  const auto reader = isolated_reader("frames=9 skips=1 hang=4", kHangPatience);
  const Read read = read_to_end(*reader);
  EXPECT_EQ(read.frames, numbers(9, 4));
  EXPECT_EQ(read.corrupt, 1);
  EXPECT_EQ(read.last.status, Status::kEnd);
}

TEST(IsolatedReader, AChildWithoutABufferIsNotHung) {
  test::FramePool pool(1);
  const auto reader = isolated_reader("frames=30", kHangPatience);
  std::vector<Frame> kept;
  for (std::size_t i = 0; i < 3; ++i) kept.push_back(std::move(*reader->read(pool)));
  std::thread releases([&] {
    std::this_thread::sleep_for(2 * kHangPatience);
    kept.clear();
  });
  const Read read = read_to_end(*reader);
  releases.join();
  EXPECT_EQ(read.frames.size(), 27U);
  EXPECT_TRUE(read.outages.empty());
}

TEST(IsolatedReader, CancellingEndsAWait) {
  const auto reader = isolated_reader("frames=9 hang=2");
  std::thread cancels([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    reader->cancel();
  });
  const Read read = read_to_end(*reader);
  cancels.join();
  EXPECT_EQ(read.last.status, Status::kCancelled);
  test::FramePool pool;
  EXPECT_EQ(reader->read(pool).failure().status, Status::kCancelled);
}

TEST(IsolatedReader, CancellingEndsAPause) {
  const auto reader = isolated_reader("live=1 crash=0");
  std::thread cancels([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    reader->cancel();
  });
  const Read read = read_to_end(*reader);
  cancels.join();
  EXPECT_EQ(read.last.status, Status::kCancelled);
  EXPECT_TRUE(read.frames.empty());
}

std::string refused(const std::function<std::unique_ptr<FrameReader>()>& open, ErrorCode code) {
  try {
    open();
    return "it opens";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
}

TEST(IsolatedReader, OpeningFailsAsItDoesWithoutAChild) {
  for (const std::string uri :
       {"/nowhere/a.mp4", "s3://camera", "rtsp://127.0.0.1:1/a", "udp://a#b=c", "synthetic:?sead=1", "", "/dev/null"}) {
    std::string without;
    ErrorCode code = ErrorCode::kInternal;
    try {
      open_source(uri, {});
    } catch (const Error& error) {
      without = error.what();
      code = error.code();
    }
    EXPECT_EQ(refused([&] { return open_source(uri, {.isolate = true}); }, code), without);
  }
}

TEST(IsolatedReader, ACrashWhileOpeningIsAnError) {
  const std::string why = refused([] { return isolated_reader("open=crash"); }, ErrorCode::kInvalidFile);
  EXPECT_NE(why.find("the process that opens it"), std::string::npos) << why;
  const test::TempFolder folder;
  EXPECT_EQ(read_to_end(*isolated_reader("frames=3 open=crash once=" + (folder / "crashed"))).frames, numbers(3))
      << "it is tried again";
}

TEST(IsolatedReader, SoIsAHangWhileOpening) {
  constexpr std::chrono::milliseconds kShort{300};
  const std::string why = refused([&] { return isolated_reader("open=hang", kShort); }, ErrorCode::kInvalidFile);
  EXPECT_NE(why.find("the process that opens it has done nothing for 0.3 s"), std::string::npos) << why;
  const test::TempFolder folder;
  EXPECT_EQ(read_to_end(*isolated_reader("frames=3 open=hang once=" + (folder / "hung"), kHangPatience)).frames,
            numbers(3))
      << "it is tried again";
}

TEST(IsolatedReader, AMissingProgramIsNamed) {
  const auto open = [] {
    return open_isolated({.uri = "frames=1", .images = {}, .options = {}}, "/nowhere/saccade-source");
  };
  EXPECT_NE(refused(open, ErrorCode::kNotFound).find("/nowhere/saccade-source"), std::string::npos);
}

TEST(IsolatedReader, TwoSourcesHaveAChildEach) {
  const auto one = isolated_reader("frames=15");
  const auto two = isolated_reader("frames=15 crash=3 how=kill skips=1");
  EXPECT_EQ(test::children().size(), 2U);
  Read of_two;
  std::thread other([&] { of_two = read_to_end(*two); });
  EXPECT_EQ(read_to_end(*one).frames, numbers(15));
  other.join();
  EXPECT_EQ(of_two.frames, numbers(15, 3));
}

TEST(IsolatedReader, ItsChildEndsWithIt) {
  const std::size_t before = test::children().size();
  {
    const auto reader = isolated_reader("frames=15 hang=3");
    EXPECT_EQ(test::children().size(), before + 1);
  }
  EXPECT_EQ(test::children().size(), before);
}

TEST(IsolatedReader, ASceneIsTheSameInAChild) {
  const std::string uri = "synthetic:?size=64x48&frames=6";
  test::FramePool pool(8);
  const auto here = open_source(uri, {});
  const auto there = open_source(uri, {.isolate = true});
  EXPECT_EQ(there->info().name, here->info().name);
  for (int i = 0; i < 6; ++i) {
    const Outcome<Frame> a = here->read(pool);
    const Outcome<Frame> b = there->read(pool);
    ASSERT_TRUE(a && b);
    EXPECT_TRUE(
        std::ranges::equal(std::span(a->view.planes[0], 64 * 48 * 3), std::span(b->view.planes[0], 64 * 48 * 3)));
    EXPECT_EQ(a->timestamp_ns, b->timestamp_ns);
  }
}

TEST(IsolatedReader, ALoopGoesOnInTheSameChild) {
  const auto reader = open_source("synthetic:?size=32x32&frames=4&fps=100", {.loop = true, .isolate = true});
  const std::vector<pid_t> first = test::children();
  test::FramePool pool;
  for (std::int64_t i = 0; i < 10; ++i) {
    const Outcome<Frame> frame = reader->read(pool);
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->sequence, i);
    EXPECT_EQ(frame->timestamp_ns, i * 10'000'000);
  }
  EXPECT_EQ(test::children(), first);
}

TEST(IsolatedReader, ImagesOfAFolderKeepTheirNames) {
  const test::TempFolder folder;
  write_image(folder / "7.png", test::flat(20, 10, 1, 2, 3).view());
  write_image(folder / "8.png", test::flat(30, 10, 1, 2, 3).view());
  const auto reader = open_source(folder.string(), {.isolate = true});
  EXPECT_EQ(reader->info().files, (std::vector<std::string>{folder / "7.png", folder / "8.png"}));
  EXPECT_EQ(reader->info().width, 20);
  test::FramePool pool;
  const Outcome<Frame> first = reader->read(pool);
  ASSERT_TRUE(first);
  for (const pid_t child : test::children()) kill(child, SIGKILL);
  Outcome<Frame> second = reader->read(pool);
  while (!second && second.failure().status == Status::kTimeout) second = reader->read(pool);
  ASSERT_TRUE(second);
  EXPECT_EQ(first->name, "7.png");
  EXPECT_EQ(second->name, "8.png");
  EXPECT_EQ(second->image_id, 8);
  EXPECT_EQ(second->view.width, 30);
}

}  // namespace
}  // namespace saccade
