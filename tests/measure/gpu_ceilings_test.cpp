#include "measure/limits/gpu_ceilings.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "measure/limits/bounds.hpp"
#include "measure/limits/device_file.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using namespace std::chrono_literals;

GpuRates rates() {
  return {.device = "a GPU",
          .multiprocessors = 100,
          .l2_bytes = 1000,
          .l2 = {8e9, 4e9, 10e9},
          .memory = {2e9, 1e9, 3e9},
          .fp16 = 4e12,
          .bf16 = 3e12,
          .tf32 = 2e12,
          .int8 = 8e12,
          .warpgroup_fp16 = 5e12,
          .warpgroup_bf16 = 5e12,
          .fp32 = 1e12,
          .launch = 800ns,
          .run = 8us,
          .copies = {{.bytes = 1024, .upload = 5us, .download = 6us}}};
}

TEST(GpuCeilings, BoundByWhatAGpuDoesAtMost) {
  const Ceilings ceilings = ceilings_of(rates());
  EXPECT_EQ(ceilings.peak(OperandType::kInt8), 8e12);
  EXPECT_EQ(ceilings.peak(OperandType::kBFloat16), 5e12) << "a warpgroup's instructions do more than a warp's";
  EXPECT_EQ(ceilings.peak(OperandType::kFloat32), 2e12) << "float32 may be multiplied as tf32";
  EXPECT_EQ(ceilings.compute.back().one_core, 5e10) << "a multiprocessor's share";
  const Bound idle = bound_of({.operations = 1, .read_bytes = 8}, 8, ceilings);
  EXPECT_EQ(idle.time, 800ns);
  EXPECT_EQ(idle.limiter, "launch");
  const Bound read = bound_of({.operations = 1, .read_bytes = 2'001'000}, 2'001'000, ceilings);
  EXPECT_EQ(read.limiter, "memory");
  EXPECT_NEAR(read.time.count(), 1e6, 1) << "all but what the second level holds, at the memory's rate";
}

TEST(GpuCeilings, AreKeptInAFile) {
  const test::TempFolder folder;
  const Ceilings before = ceilings_of(rates());
  folder.write("gpu.toml", to_toml(before));
  for (const Ceilings& after : {read_device_file(folder / "gpu.toml").ceilings, ceilings_from_json(to_json(before))}) {
    EXPECT_EQ(after.device, "a GPU");
    // A file stores seconds.
    EXPECT_NEAR(after.launch.count(), before.launch.count(), 1e-6);
    EXPECT_NEAR(after.run.count(), before.run.count(), 1e-6);
    ASSERT_EQ(after.copies.size(), 1U);
    EXPECT_EQ(after.copies[0].bytes, 1024);
    EXPECT_NEAR(after.copies[0].upload.count(), before.copies[0].upload.count(), 1e-6);
    EXPECT_NEAR(after.copies[0].download.count(), before.copies[0].download.count(), 1e-6);
  }
}

}  // namespace
}  // namespace saccade
