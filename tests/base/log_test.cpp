#include "base/log.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace saccade {
namespace {

TEST(LogTest, MessagesOfAThreadHaveItsTrace) {
  testing::internal::CaptureStderr();
  {
    const LogTraceScope outer({.trace_id = "aa", .span_id = "b"});
    {
      const LogTraceScope none({});
      log(LogLevel::kWarning, "first");
    }
    log(LogLevel::kWarning, "{}", "second");
    std::thread([] { log(LogLevel::kWarning, "third"); }).join();
  }
  log(LogLevel::kWarning, "fourth");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "saccade: warning: first\n"
            "saccade: warning: second (trace_id=aa span_id=b)\n"
            "saccade: warning: third\n"
            "saccade: warning: fourth\n");
}

}  // namespace
}  // namespace saccade
