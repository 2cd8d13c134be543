#include "measure/statistics/quantity.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace saccade {
namespace {

TEST(Quantity, IsRead) {
  EXPECT_DOUBLE_EQ(parse_quantity("56.28 TFLOP/s", Unit::kOperationRate), 56.28e12);
  EXPECT_DOUBLE_EQ(parse_quantity("4 TOP/s", Unit::kOperationRate), 4e12);
  EXPECT_DOUBLE_EQ(parse_quantity("4TOPS", Unit::kOperationRate), 4e12);
  EXPECT_DOUBLE_EQ(parse_quantity("60MB/s", Unit::kByteRate), 60e6);
  EXPECT_DOUBLE_EQ(parse_quantity("2 GiB/s", Unit::kByteRate), 2.0 * (1U << 30));
  EXPECT_DOUBLE_EQ(parse_quantity("48 KiB", Unit::kBytes), 49152);
  EXPECT_DOUBLE_EQ(parse_quantity("100 B", Unit::kBytes), 100);
  EXPECT_DOUBLE_EQ(parse_quantity("12.2ms", Unit::kTime), 12.2e-3);
  EXPECT_DOUBLE_EQ(parse_quantity("3 us", Unit::kTime), 3e-6);
  EXPECT_DOUBLE_EQ(parse_quantity("2s", Unit::kTime), 2);
}

TEST(Quantity, NonsenseIsRefused) {
  for (const char* text : {"", "60", "60 MBps", "-1 GB/s", "nan GB/s", "1 QB/s", "1 mB/s", "GB/s", "1 GB", "1 GB/s x"})
    EXPECT_THROW(parse_quantity(text, Unit::kByteRate), Error) << text;
  for (const char* text : {"12", "1 ks", "1 Kis", "1 hours"}) EXPECT_THROW(parse_quantity(text, Unit::kTime), Error);
  EXPECT_THROW(parse_quantity("1 GiFLOP/s", Unit::kOperationRate), Error);
}

}  // namespace
}  // namespace saccade
