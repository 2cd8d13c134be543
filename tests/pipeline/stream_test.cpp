#include "pipeline/stream/stream.hpp"

#include <gtest/gtest.h>

#include "support/scripted_source.hpp"

namespace saccade {
namespace {

/// The ledger of a stream of so many frames after its end, with a QUEUE that is not read.
Ledger ledger_of(std::size_t frames, BoundedQueue<Frame>& queue) {
  test::ScriptedReader reader("a", test::frames(frames));
  Stream stream(reader, queue, {.buffers = 4});
  stream.join();
  while (queue.drain(0)) continue;
  return stream.ledger().snapshot();
}

TEST(Stream, EndsWhereItsQueueIsCancelled) {
  BoundedQueue<Frame> queue({{DropPolicy::kWait, 2}});
  queue.cancel();
  const Ledger ledger = ledger_of(3, queue);
  EXPECT_EQ(ledger.captured, 1);
  EXPECT_EQ(ledger.stopped, 1);
  EXPECT_EQ(ledger.queue_full, 0);
}

TEST(Stream, CountsFramesThatGaveWayAsQueueFull) {
  BoundedQueue<Frame> queue({{DropPolicy::kNewest, 2}});
  const Ledger ledger = ledger_of(5, queue);
  EXPECT_EQ(ledger.captured, 5);
  EXPECT_EQ(ledger.queue_full, 3);
  EXPECT_EQ(ledger.stopped, 0);
}

}  // namespace
}  // namespace saccade
