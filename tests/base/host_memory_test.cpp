#include "base/host_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace saccade {
namespace {

TEST(HostMemory, IsAlignedForVectorsAndHugePages) {
  for (const std::size_t bytes :
       {std::size_t{1}, HostMemory::kHugePage - 1, HostMemory::kHugePage, 3 * HostMemory::kHugePage + 5}) {
    HostMemory memory(bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    EXPECT_EQ(address % HostMemory::kAlignment, 0);
    EXPECT_TRUE(bytes < HostMemory::kHugePage || address % HostMemory::kHugePage == 0);
    std::memset(memory.data(), 1, bytes);
    const HostMemory moved = std::move(memory);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(moved.data()), address);
  }
}

}  // namespace
}  // namespace saccade
