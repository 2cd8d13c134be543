#include "measure/limits/device_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using testing::HasSubstr;

class DeviceFileTest : public testing::Test {
 protected:
  DeviceFile read(const std::string& text) {
    folder_.write("device.toml", text);
    return read_device_file(folder_ / "device.toml");
  }
  std::string error_of(const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  test::TempFolder folder_;
};

Ceilings made_up_device() {
  Ceilings ceilings{.device = "a \"device\"", .threads = 3};
  ceilings.compute = {{"AVX2 FMA", OperandType::kFloat32, 1e9, 3e9}, {"VNNI", OperandType::kInt8, 4e9, 12e9}};
  ceilings.memory = {{"L2", 1 << 20, {1e9, 2e9, 3e9, 4e9}, {5e9, 6e9, 7e9, 8e9}},
                     {"memory", 0, {9e9, 1e9, 2e9, 3e9}, {4e9, 5e9, 6e9, 7e9}}};
  ceilings.clock = Nanoseconds(20);
  ceilings.syscall = Nanoseconds(130);
  ceilings.launch = Nanoseconds(40);
  ceilings.parallel = Nanoseconds(5000);
  ceilings.winograd = true;
  return ceilings;
}

/// The contents that both formats keep, as one text.
std::string all_of(const Ceilings& ceilings) { return to_json(ceilings).dump(); }

TEST_F(DeviceFileTest, DescribesADevice) {
  const DeviceFile device = read(R"(name = "GPU"
[[compute]]
precision = "fp32"
peak = "56.28 TFLOP/s"
[[memory]]
bandwidth = "960 GB/s"
[camera]
mode = "320x240@90:yuyv"
bus = "60 MB/s"
)");
  EXPECT_EQ(device.ceilings.device, "GPU");
  EXPECT_EQ(device.ceilings.peak(OperandType::kFloat32), 56.28e12);
  EXPECT_EQ(device.ceilings.peak(OperandType::kInt8), 56.28e12) << "nothing narrower is known";
  ASSERT_EQ(device.ceilings.memory.size(), 1U);
  EXPECT_EQ(device.ceilings.memory[0].level, "memory");
  EXPECT_EQ(device.ceilings.memory[0].all.copy, 960e9);
  EXPECT_EQ(device.camera->rate, 90);
  EXPECT_EQ(*device.bus_rate, 60e6);
}

TEST_F(DeviceFileTest, WhatIsSavedReadsBack) {
  EXPECT_EQ(all_of(read(to_toml(made_up_device())).ceilings), all_of(made_up_device()));
}

TEST_F(DeviceFileTest, JsonReadsBack) {
  EXPECT_EQ(all_of(ceilings_from_json(to_json(made_up_device()))), all_of(made_up_device()));
  auto json = to_json(made_up_device());
  json["compute"][0]["precision"] = "fp99";
  EXPECT_THROW(ceilings_from_json(json), Error);
  json.erase("compute");
  EXPECT_THROW(ceilings_from_json(json), Error);
}

TEST_F(DeviceFileTest, ErrorsNameTheLine) {
  EXPECT_THAT(error_of("name = \"x\"\n[[compute]]\nprecision = \"fp32\"\npeak = \"56 furlongs\"\n"),
              HasSubstr("device.toml:4: 'compute.peak'"));
  EXPECT_THAT(error_of("\n[[compute]]\nprecision = \"fp99\"\npeak = 1\n"), HasSubstr("device.toml:2: 'compute.prec"));
  EXPECT_THAT(error_of("[[memory]]\nread = 1\nwrite = 2\n"), HasSubstr("device.toml:1: 'memory.copy' is missing"));
  EXPECT_THAT(error_of("[[memory]]\nbandwidth = 1\n[[memory]]\nbandwidth = 1\n"), HasSubstr("device.toml:3"));
  EXPECT_THAT(error_of("\n\nspeed = 1\n"), HasSubstr("device.toml:3: 'speed' is not known"));
  EXPECT_THAT(error_of("threads = 0\n"), HasSubstr("device.toml:1: 'threads'"));
  EXPECT_THAT(error_of("[camera]\nmode = \"big\"\n"), HasSubstr("device.toml:2: 'camera.mode'"));
  EXPECT_THAT(error_of("\nwinograd = 1\n"), HasSubstr("device.toml:2: 'winograd' must be true or false"));
  EXPECT_THAT(error_of("name = \n"), HasSubstr("device.toml:1"));
  EXPECT_THAT(error_of("[[compute]]\nprecision = \"fp32\"\npeak = -1\n"), HasSubstr("device.toml:3"));
  EXPECT_THROW(read_device_file(folder_ / "missing.toml"), Error);
}

}  // namespace
}  // namespace saccade
