#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "cuda/result_text.hpp"
#include "pipeline/stream/stream_dealing.hpp"
#include "saccade/error.hpp"
#include "support/cpu_model.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

// One pipeline on several devices.
namespace saccade {
namespace {

using test::Act;
using test::scripted_source;
using testing::ElementsAre;
using testing::HasSubstr;

using Devices = std::vector<std::size_t>;

TEST(DealStreams, EqualStreamsAreSharedEqually) {
  EXPECT_EQ(deal_streams(std::vector<double>(4, 30), std::vector{0.002, 0.002}), (Devices{0, 1, 0, 1}));
  EXPECT_EQ(deal_streams(std::vector<double>(3, 0), std::vector{1.0, 1.0}), (Devices{0, 1, 0}));
}

TEST(DealStreams, AFasterDeviceGetsMore) {
  const Devices device_of = deal_streams(std::vector<double>(12, 25), std::vector{0.003, 0.001});
  EXPECT_EQ(std::ranges::count(device_of, 0U), 3);
}

TEST(DealStreams, AFastStreamWeighsMore) {
  EXPECT_EQ(deal_streams(std::vector<double>{15, 15, 60, 15, 15}, std::vector{1.0, 1.0}), (Devices{1, 1, 0, 1, 1}));
  // One of unknown rate is like the mean of the others.
  EXPECT_EQ(deal_streams(std::vector<double>{60, 0, 20, 40}, std::vector{1.0, 1.0}), (Devices{0, 1, 0, 1}));
}

TEST(DealStreams, ADeviceThatIsOnlyInTheWayGetsNone) {
  EXPECT_EQ(deal_streams(std::vector<double>{30, 30}, std::vector{0.001, 1.0}), (Devices{0, 0}));
}

TEST(DealStreams, NoDeviceIsMuchBusierThanTheLowerBound) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> rate(1, 60);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> rates(1 + random() % 40);
    for (double& each : rates) each = rate(random);
    const std::vector<double> costs(1 + random() % 5, 0.5);
    const Devices device_of = deal_streams(rates, costs);
    std::vector<double> busy(costs.size());
    for (std::size_t i = 0; i < rates.size(); ++i) busy.at(device_of[i]) += rates[i];
    const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(costs.size());
    const double bound = std::max(mean, *std::ranges::max_element(rates));
    EXPECT_LE(*std::ranges::max_element(busy), 4.0 / 3 * bound + *std::ranges::max_element(rates) / 3);
  }
}

class SeveralDevices : public testing::Test {
 protected:
  std::vector<Model> models() {
    return {test::load_on_cpu(test::write_box_detector(folder_)),
            test::load_on_cpu(test::write_color_classifier(folder_))};
  }
  static std::vector<Source> sources() {
    std::vector<Source> sources;
    for (int i = 0; i < 30; ++i) sources.push_back(scripted_source("s" + std::to_string(i), test::frames(6)));
    sources.push_back(scripted_source("short", {Act::kFrame, Act::kCorrupt, Act::kFrame}));
    return sources;
  }
  /// The results of each source in their order, and those of PIPELINE's summary.
  static std::map<std::string, std::vector<std::string>> results_of(Pipeline& pipeline) {
    std::map<std::string, std::vector<std::string>> results;
    while (auto result = pipeline.next()) results[std::string(result->source)].push_back(test::text_of(*result));
    return results;
  }
  std::string error_of(const std::vector<Device>& devices) {
    try {
      const Pipeline pipeline(sources(), models(), {.devices = devices});
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  test::TempFolder folder_;
};

TEST_F(SeveralDevices, EachStreamHasItsResultsInOrder) {
  for (const std::size_t batch : {std::size_t{1}, std::size_t{3}}) {
    // The detector takes no batch.
    const std::vector<Model> used = batch == 1 ? models() : std::vector<Model>{models().back()};
    Pipeline one(sources(), used);
    const auto expected = results_of(one);
    ASSERT_EQ(expected.size(), 31U);
    EXPECT_EQ(expected.at("s7").size(), 6 * used.size());
    EXPECT_FALSE(one.finish().streams[0].device.has_value());
    Pipeline pipeline(sources(), used, {.devices = {Device::cpu(), Device::reference()}, .batch = batch});
    EXPECT_EQ(results_of(pipeline), expected);
    const Summary summary = pipeline.finish();
    EXPECT_EQ(summary.ledger.processed, 182);
    EXPECT_EQ(summary.ledger.corrupt, 1);
    EXPECT_EQ(summary.ledger.in_flight(), 0);
    for (const StreamSummary& stream : summary.streams) EXPECT_TRUE(stream.device.has_value());
    EXPECT_THAT(to_json(summary), HasSubstr(R"("source":"s0","device":")"));
  }
}

TEST_F(SeveralDevices, ASourceStaysOnOne) {
  Pipeline pipeline({scripted_source("a", test::frames(5))}, models(),
                    {.devices = {Device::reference(), Device::cpu()}});
  EXPECT_EQ(results_of(pipeline).at("a").size(), 10U);
  EXPECT_EQ(pipeline.finish().streams[0].device, Device::reference());
}

TEST_F(SeveralDevices, StopsWhileBothWork) {
  std::vector<Source> live;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    std::vector<Act> script = test::frames(50);
    script.push_back(Act::kHang);
    live.push_back(scripted_source(name, script, true));
  }
  Pipeline pipeline(live, models(), {.devices = {Device::cpu(), Device::reference()}, .drop = DropPolicy::kWait});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(pipeline.next());
  pipeline.stop();
  EXPECT_EQ(pipeline.next().failure().status, Status::kCancelled);
  const Summary summary = pipeline.finish();
  for (const StreamSummary& stream : summary.streams) EXPECT_EQ(stream.ledger.in_flight(), 0) << to_json(summary);
}

TEST_F(SeveralDevices, TheListIsChecked) {
  EXPECT_THAT(error_of({Device::cpu(), Device::cpu()}), HasSubstr("the device cpu is there twice"));
  EXPECT_THAT(error_of({Device::cpu(), Device()}), HasSubstr("'auto' is no device of a list"));
}

}  // namespace
}  // namespace saccade
