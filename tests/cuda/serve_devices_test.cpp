#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <latch>

#include "base/error.hpp"
#include "emulator_calls.hpp"
#include "runtime/cuda_backend.hpp"
#include "serve/served_model.hpp"
#include "support/tiny_models.hpp"

// A model of a server on two GPUs.
namespace saccade::serve {
namespace {

/// The mean colour of a red image; it responds when all have run.
class RedJob final : public Job {
 public:
  RedJob(float red, std::latch* all, std::promise<std::string> end) : all_(all), end_(std::move(end)) {
    for (std::size_t i = 0; i < 64; ++i) elements_[i] = red;
    buffer_ = {.data = elements_.data(), .dtype = DType::kFloat32, .shape = {1, 3, 8, 8}};
  }

  bool prepare() override { return true; }
  JobInput input() const override { return TensorInput{std::span(&buffer_, 1), 1}; }
  std::optional<Clock::time_point> deadline() const override { return std::nullopt; }
  Response respond(std::span<const OutputBuffer> outputs) override {
    if (all_ != nullptr) all_->arrive_and_wait();
    end_.set_value(fmt::format("{}", *static_cast<const float*>(outputs[0].data)));
    return Response::kSent;
  }
  Response respond(const Result& /*result*/) override {
    end_.set_value("a result");
    return Response::kSent;
  }
  void refuse(Refusal /*reason*/, std::chrono::nanoseconds /*wait*/) override { end_.set_value("refused"); }
  void fail(const Error& error) override { end_.set_value(error.what()); }

 private:
  std::latch* all_;  ///< null: it waits for no other
  std::promise<std::string> end_;
  std::array<float, 192> elements_{};
  InputBuffer buffer_;
};

class ServeTwoGpus : public testing::Test {
 protected:
  void SetUp() override {
    try {
      cuda_backend({.ordinal = 1});
    } catch (const Error&) {
      GTEST_SKIP() << "there is one GPU";
    }
  }
  ServedModel make() {
    ModelOptions options;
    options.device = Device::cuda();
    return ServedModel(Model::load(test::write_color_classifier(folder_), options),
                       {.devices = {Device::cuda(0), Device::cuda(1)}}, workers_);
  }
  static std::future<std::string> submit(ServedModel& model, float red, std::latch* all = nullptr) {
    std::promise<std::string> end;
    std::future<std::string> future = end.get_future();
    model.submit(std::make_unique<RedJob>(red, all, std::move(end)), ServedModel::Preparation::kShort);
    return future;
  }

  test::TempFolder folder_;
  Workers workers_{1};
};

TEST_F(ServeTwoGpus, TakeRequestsOfOneQueue) {
  ServedModel model = make();
  EXPECT_THAT(model.devices(), testing::ElementsAre(Device::cuda(0), Device::cuda(1)));
  // Each waits for the other: on one device with one execution, the first would wait forever.
  for (int round = 0; round < 3; ++round) {
    std::latch all(2);
    auto first = submit(model, 0.5F, &all);
    auto second = submit(model, 0.25F, &all);
    EXPECT_EQ(first.get(), "0.5");
    EXPECT_EQ(second.get(), "0.25");
  }
  model.finish();
  EXPECT_EQ(model.use().run, 6U);
}

TEST_F(ServeTwoGpus, AFaultOfOneCostsARequest) {
  const test::EmulatorCalls calls;
  if (!calls) GTEST_SKIP() << "only the emulated GPU can be made to fail";
  ServedModel model = make();
  calls.fail("cuGraphLaunch", 700);
  int failed = 0;
  for (int i = 0; i < 10; ++i)
    if (submit(model, 0.5F).get() != "0.5") ++failed;
  EXPECT_EQ(failed, 1);
}

}  // namespace
}  // namespace saccade::serve
