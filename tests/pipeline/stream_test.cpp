#include "pipeline/stream.hpp"

#include <gtest/gtest.h>

#include "support/scripted_source.hpp"

namespace saccade {
namespace {

TEST(Stream, EndsWhereItsQueueIsCancelled) {
  test::ScriptedSource source("a", test::frames(3));
  BoundedQueue<Frame> queue({DropPolicy::kWait}, 2);
  queue.cancel();
  Stream stream(source, queue, {.buffers = 2});
  stream.join();
  const Ledger ledger = stream.ledger().snapshot();
  EXPECT_EQ(ledger.captured, 1);
  EXPECT_EQ(ledger.stopped, 1);
  EXPECT_EQ(ledger.queue_full, 0);
}

TEST(Stream, CountsFramesThatGaveWayAsQueueFull) {
  test::ScriptedSource source("a", test::frames(5));
  BoundedQueue<Frame> queue({DropPolicy::kNewest}, 2);
  Stream stream(source, queue, {.buffers = 4});
  stream.join();
  const Ledger ledger = stream.ledger().snapshot();
  EXPECT_EQ(ledger.captured, 5);
  EXPECT_EQ(ledger.queue_full, 3);
  EXPECT_EQ(ledger.stopped, 0);
  queue.cancel();
  while (queue.drain(0)) continue;
}

}  // namespace
}  // namespace saccade
