#include "base/host_port.hpp"

#include <gtest/gtest.h>

#include "base/slow_client.hpp"

namespace saccade {
namespace {

TEST(HostPort, AnAddressOfIPv6HasBrackets) {
  EXPECT_EQ(host_port("127.0.0.1", 8000), "127.0.0.1:8000");
  EXPECT_EQ(host_port("::1", 8000), "[::1]:8000");
  EXPECT_EQ(host_port("camera.local", 0), "camera.local:0");
}

TEST(SlowClient, ABodyHasTheTimeOfASlowLine) {
  EXPECT_EQ(transfer_timeout(0), std::chrono::seconds(10));
  EXPECT_EQ(transfer_timeout(64 << 20), std::chrono::seconds(10 + 256));
}

}  // namespace
}  // namespace saccade
