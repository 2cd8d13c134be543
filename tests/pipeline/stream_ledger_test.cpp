#include "pipeline/stream/stream_ledger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace saccade {
namespace {

TEST(StreamLedger, CountsFramesInFlight) {
  StreamLedger ledger;
  ledger.capture(0);
  ledger.capture(1);
  ledger.process();
  EXPECT_EQ(ledger.snapshot().captured, 2);
  EXPECT_EQ(ledger.snapshot().in_flight(), 1);
}

TEST(StreamLedger, AGapInTheSourcesCountIsLostFrames) {
  StreamLedger ledger;
  ledger.capture(0);
  ledger.capture(4);
  EXPECT_EQ(ledger.snapshot().lost, 3);
  EXPECT_EQ(ledger.snapshot().captured, 5);
}

TEST(StreamLedger, ACorruptFrameIsCountedOnceWhetherOrNotItHasANumber) {
  StreamLedger numbered;
  numbered.capture(0);
  numbered.corrupt();
  numbered.capture(2);
  EXPECT_EQ(numbered.snapshot().captured, 3);
  EXPECT_EQ(numbered.snapshot().lost, 0);
  StreamLedger unnumbered;
  unnumbered.capture(0);
  unnumbered.corrupt();
  unnumbered.capture(1);
  EXPECT_EQ(unnumbered.snapshot().captured, 3);
  EXPECT_EQ(unnumbered.snapshot().lost, 0);
}

TEST(StreamLedger, FramesInFlightAreNeverNegative) {
  StreamLedger ledger;
  std::atomic<bool> is_done = false;
  std::thread reader([&] {
    for (std::int64_t i = 0; i < 500'000; ++i) {
      ledger.corrupt();
      ledger.drop_no_buffer();
      ledger.drop_decoder_behind();
      ledger.capture(6 * i + 5);  // and two are lost
      ledger.skip();
    }
    is_done = true;
  });
  std::int64_t least = 0;
  while (!is_done) least = std::min(least, ledger.snapshot().in_flight());
  reader.join();
  EXPECT_EQ(least, 0);
  EXPECT_EQ(ledger.snapshot().lost, 1'000'000);
  EXPECT_EQ(ledger.snapshot().in_flight(), 0);
}

TEST(StreamLedger, EveryReasonBalances) {
  StreamLedger ledger;
  for (int i = 0; i < 5; ++i) ledger.capture(i);
  ledger.corrupt();
  ledger.process();
  ledger.skip();
  ledger.drop_queue_full();
  ledger.drop_stopped();
  ledger.drop_failed();
  ledger.drop_decoder_behind();
  const Ledger sum = ledger.snapshot();
  EXPECT_EQ(sum.captured, 7);
  EXPECT_EQ(sum.skipped, 1);
  EXPECT_EQ(sum.dropped(), 4);
  EXPECT_EQ(sum.in_flight(), 0);
}

}  // namespace
}  // namespace saccade
