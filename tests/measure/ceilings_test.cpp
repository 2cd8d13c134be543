#include "measure/limits/ceilings.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "base/error.hpp"
#include "measure/limits/ceiling_kernels.hpp"
#include "measure/limits/cpu_caches.hpp"
#include "measure/limits/team.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

constexpr std::size_t kMiB = 1 << 20;

TEST(CeilingsBuffer, IsFourTimesTheCachesIfMemoryAllows) {
  EXPECT_EQ(ceiling_buffer_bytes(64 * kMiB, 16384 * kMiB), 256 * kMiB);
  EXPECT_EQ(ceiling_buffer_bytes(1 * kMiB, 16384 * kMiB), 32 * kMiB);
  EXPECT_EQ(ceiling_buffer_bytes(512 * kMiB, 16384 * kMiB), 1024 * kMiB);
}

TEST(CeilingsBuffer, IsHalfOfWhatIsFreeAtMost) {
  EXPECT_EQ(ceiling_buffer_bytes(64 * kMiB, 300 * kMiB), 150 * kMiB);
  EXPECT_EQ(ceiling_buffer_bytes(64 * kMiB, 130 * kMiB), 65 * kMiB);
}

TEST(CeilingsBuffer, IsNeverLessThanTheCaches) {
  EXPECT_THROW(ceiling_buffer_bytes(64 * kMiB, 120 * kMiB), Error);
  EXPECT_THROW(ceiling_buffer_bytes(1 * kMiB, 40 * kMiB), Error);
}

void expect_positive(const Bandwidth& bandwidth, const std::string& level) {
  EXPECT_GT(bandwidth.read, 0) << level;
  EXPECT_GT(bandwidth.write, 0) << level;
  EXPECT_GT(bandwidth.copy, 0) << level;
  EXPECT_GT(bandwidth.mixed, 0) << level;
}

TEST(Ceilings, AreMeasured) {
  double last = -1;
  const Ceilings ceilings = measure_ceilings(2, [&](double share) { last = share; });
  EXPECT_EQ(ceilings.threads, 2);
  EXPECT_FALSE(ceilings.device.empty());
  EXPECT_TRUE(ceilings.winograd);
  EXPECT_GE(last, 0);
  ASSERT_FALSE(ceilings.compute.empty());
  for (const ComputeCeiling& each : ceilings.compute) {
    EXPECT_GT(each.one_core, 0) << each.instructions;
    EXPECT_GE(each.all, each.one_core) << each.instructions;
    EXPECT_LE(each.all, ceilings.peak(each.precision));
    EXPECT_NE(each.instructions, "vector.winograd") << "its rate is no ceiling";
  }
  ASSERT_GE(ceilings.memory.size(), 2U);
  for (const MemoryCeiling& each : ceilings.memory) {
    expect_positive(each.one_core, each.level);
    expect_positive(each.all, each.level);
    EXPECT_EQ(each.capacity == 0, &each == &ceilings.memory.back()) << each.level;
  }
  EXPECT_GT(ceilings.clock.count(), 0);
  EXPECT_GT(ceilings.syscall.count(), 0);
  EXPECT_GT(ceilings.launch.count(), 0);
  EXPECT_GE(ceilings.parallel.count(), 0);
}

TEST(Ceilings, RaisingTakesWhatIsBetter) {
  Ceilings ceilings;
  ceilings.compute = {{"a", OperandType::kFloat32, 5, 7}};
  ceilings.memory = {{"memory", 0, {1, 5, 1, 1}, {2, 2, 2, 2}}};
  ceilings.clock = Nanoseconds(20);
  Ceilings other = ceilings;
  other.compute = {{"a", OperandType::kFloat32, 6, 6}, {"b", OperandType::kInt8, 1, 1}};
  other.memory = {{"memory", 0, {2, 4, 1, 1}, {1, 3, 2, 2}}};
  other.clock = Nanoseconds(10);
  raise(ceilings, other);
  EXPECT_EQ(ceilings.compute[0].one_core, 6);
  EXPECT_EQ(ceilings.compute[0].all, 7);
  ASSERT_EQ(ceilings.compute.size(), 2U);
  EXPECT_EQ(ceilings.memory[0].one_core.read, 2);
  EXPECT_EQ(ceilings.memory[0].one_core.write, 5);
  EXPECT_EQ(ceilings.memory[0].all.write, 3);
  EXPECT_EQ(ceilings.clock.count(), 10);
}

TEST(StreamKernels, MoveWhatTheySay) {
  alignas(64) static std::array<float, 3 * 1024> memory;
  constexpr std::size_t kBytes = 4096;
  for (const StreamKernel& kernel : stream_kernels()) {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = i < 2048 ? static_cast<float>(i) : -1;
    auto* bytes = reinterpret_cast<std::byte*>(memory.data());
    kernel.run(bytes + 2 * kBytes, bytes, kBytes);
    for (std::size_t i = 0; i < 1024; ++i) {
      const float result = memory[2048 + i];
      switch (kernel.traffic) {
        case Traffic::kRead: ASSERT_EQ(result, -1) << kernel.form; break;
        case Traffic::kWrite: ASSERT_NE(result, -1) << kernel.form; break;
        case Traffic::kCopy: ASSERT_EQ(result, memory[i]) << kernel.form; break;
        case Traffic::kMixed: ASSERT_EQ(result, memory[i] + memory[1024 + i]) << kernel.form; break;
      }
      ASSERT_EQ(memory[i], static_cast<float>(i)) << kernel.form;
    }
  }
}

TEST(ComputeKernels, PortableOnesRun) {
  for (const ComputeKernel& kernel : portable_compute_kernels()) {
    kernel.run(100);
    EXPECT_GT(kernel.operations, 0);
  }
}

TEST(Team, EveryThreadWorksInEveryWindow) {
  std::array<std::atomic<int>, 3> calls{};
  Team team(3);
  for (int i = 0; i < 100; ++i) EXPECT_GE(team.time(2, [&](int rank) { ++calls[static_cast<std::size_t>(rank)]; }), 0);
  for (const auto& each : calls) EXPECT_EQ(each, 200);
}

TEST(CpuCaches, AreReadFromTheKernel) {
  const test::TempFolder folder;
  const auto add = [&](int index, const char* level, const char* type, const char* size, const char* cpus) {
    const std::filesystem::path at = folder / ("sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index));
    std::filesystem::create_directories(at);
    std::ofstream(at / "level") << level << "\n";
    std::ofstream(at / "type") << type << "\n";
    std::ofstream(at / "size") << size << "\n";
    std::ofstream(at / "shared_cpu_list") << cpus << "\n";
  };
  add(0, "1", "Data", "48K", "0,8");
  add(1, "1", "Instruction", "32K", "0,8");
  add(2, "2", "Unified", "2048K", "0,8");
  add(3, "3", "Unified", "32M", "0-15");
  const std::vector<CpuCache> caches = cpu_caches(folder / "");
  ASSERT_EQ(caches.size(), 3U);
  EXPECT_EQ(caches[0].name, "L1d");
  EXPECT_EQ(caches[0].bytes, 48 << 10);
  EXPECT_EQ(caches[0].sharers, 2);
  EXPECT_EQ(caches[0].total(4), 2 * 48 << 10);
  EXPECT_EQ(caches[2].name, "L3");
  EXPECT_EQ(caches[2].total(16), 32 << 20);
}

TEST(CpuCaches, AreGuessedWhereTheKernelIsSilent) {
  const test::TempFolder folder;
  const std::vector<CpuCache> caches = cpu_caches(folder / "");
  ASSERT_EQ(caches.size(), 3U);
  EXPECT_EQ(caches[1].total(4), 4 << 20);
  EXPECT_EQ(caches[2].total(64), 8 << 20);
}

}  // namespace
}  // namespace saccade
