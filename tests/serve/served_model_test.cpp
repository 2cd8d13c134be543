#include "serve/served_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <thread>

#include "base/error.hpp"
#include "serve/repository.hpp"
#include "support/cpu_model.hpp"
#include "support/tiny_models.hpp"

namespace saccade::serve {
namespace {

using std::chrono::milliseconds;
using testing::Each;
using testing::HasSubstr;

/// How a job has ended.
struct End {
  std::vector<float> outputs;
  Shape shape;
  std::string text;  ///< "late", "full", "stopped", an error, or the predicted class
};

/// The mean red, green and blue of images of one colour.
class ColorJob final : public Job {
 public:
  explicit ColorJob(std::vector<float> reds, std::promise<End> end)
      : end_(std::move(end)), images_(reds.size()), elements_(reds.size() * 192) {
    for (std::size_t i = 0; i < elements_.size(); ++i) elements_[i] = i % 192 < 64 ? reds[i / 192] : 0;
  }

  std::optional<Clock::time_point> latest;
  std::function<bool()> has_gone = [] { return false; };
  std::function<void()> preparing = [] {};
  std::function<void()> responding = [] {};
  std::function<void()> writing = nullptr;  ///< null: the response is sent by respond()
  bool has_memory = true;                   ///< for the request
  bool has_room = true;                     ///< for the response

  bool prepare() override {
    preparing();
    shape_ = {static_cast<std::int64_t>(images_), 3, 8, 8};
    buffer_ = {.data = elements_.data(), .dtype = DType::kFloat32, .shape = shape_};
    return has_memory;
  }
  JobInput input() const override { return TensorInput{std::span(&buffer_, 1), images_}; }
  std::optional<Clock::time_point> deadline() const override { return latest; }
  bool is_cancelled() const override { return has_gone(); }
  Response respond(std::span<const OutputBuffer> outputs) override {
    responding();
    if (!has_room) return Response::kNoMemory;
    const auto* values = static_cast<const float*>(outputs[0].data);
    result_ = {{values, values + outputs[0].shape.elements()}, outputs[0].shape, {}};
    if (writing) return Response::kUnwritten;
    end_.set_value(result_);
    return Response::kSent;
  }
  Response respond(const Result& /*result*/) override {
    end_.set_value({{}, {}, "a result"});
    return Response::kSent;
  }
  void write() override {
    writing();
    end_.set_value(result_);
  }
  void refuse(Refusal reason, std::chrono::nanoseconds /*expected_wait*/) override {
    end_.set_value({{}, {}, kNames.at(static_cast<std::size_t>(reason))});
  }
  void fail(const Error& error) override { end_.set_value({{}, {}, error.what()}); }

 private:
  static constexpr std::array kNames = {"full", "late", "cancelled", "stopped"};  // of Refusal

  std::promise<End> end_;
  std::size_t images_;
  std::vector<float> elements_;
  Shape shape_;
  InputBuffer buffer_;
  End result_;
};

class ServedModelTest : public testing::Test {
 protected:
  ServedModel make(const ExecutionOptions& options) {
    return ServedModel(test::load_on_cpu(test::write_color_classifier(folder_)), options, workers_);
  }
  /// Submits a job of images of these REDS, after CHANGE.
  static std::future<End> submit(
      ServedModel& model, std::vector<float> reds, const std::function<void(ColorJob&)>& change = [](ColorJob&) {}) {
    std::promise<End> end;
    std::future<End> future = end.get_future();
    auto job = std::make_unique<ColorJob>(std::move(reds), std::move(end));
    change(*job);
    model.submit(std::move(job), ServedModel::Preparation::kLong);
    return future;
  }

  test::TempFolder folder_;
  Workers workers_{2};
};

TEST_F(ServedModelTest, RequestsThatWaitRunTogether) {
  ServedModel model = make({.batch = 8, .batch_wait = std::chrono::seconds(20)});
  std::vector<std::future<End>> ends;
  for (int i = 0; i < 8; ++i) ends.push_back(submit(model, {static_cast<float>(i) / 8}));
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const End end = ends[i].get();
    EXPECT_EQ(end.shape, (Shape{1, 3})) << end.text;
    EXPECT_FLOAT_EQ(end.outputs.at(0), static_cast<float>(i) / 8);
  }
  model.finish();
  const ModelUse use = model.use();
  EXPECT_EQ(use.run, 8U);
  EXPECT_EQ(use.executions, 1U) << "the batch starts once it is full";
  EXPECT_EQ(use.batches, (std::vector<std::uint64_t>{0, 0, 0, 1}));
  EXPECT_EQ(use.images, 8U);
  EXPECT_EQ(use.latency.count(), 8);
}

TEST_F(ServedModelTest, ARequestHasSeveralImages) {
  ServedModel model = make({.batch = 4, .batch_wait = milliseconds(1)});
  EXPECT_EQ(model.signature()->most_images, 4U);
  EXPECT_EQ(model.signature()->image_axes, (std::vector<std::optional<int>>{0}));
  std::vector<std::future<End>> ends;
  for (int i = 0; i < 10; ++i) ends.push_back(submit(model, {0.25F, 0.5F, static_cast<float>(i)}));
  for (int i = 0; i < 10; ++i) {
    const End end = ends[static_cast<std::size_t>(i)].get();
    EXPECT_EQ(end.shape, (Shape{3, 3})) << end.text;
    EXPECT_FLOAT_EQ(end.outputs.at(3), 0.5F);
    EXPECT_FLOAT_EQ(end.outputs.at(6), static_cast<float>(i));
  }
  model.finish();
  EXPECT_EQ(model.use().executions, 10U) << "three images and three do not fit into four";
}

TEST_F(ServedModelTest, ALoneRequestWaitsForOthersForALimitedTime) {
  ServedModel model = make({.batch = 8, .batch_wait = milliseconds(5)});
  EXPECT_FLOAT_EQ(submit(model, {0.5F}).get().outputs.at(0), 0.5F);
}

TEST_F(ServedModelTest, WhatCannotBePreparedFailsAlone) {
  ServedModel model = make({.batch = 4, .batch_wait = milliseconds(5)});
  auto good = submit(model, {0.5F});
  auto bad = submit(model, {0.5F}, [](ColorJob& job) {
    job.preparing = [] { saccade::fail(ErrorCode::kInvalidArgument, "no such tensor"); };
  });
  EXPECT_FLOAT_EQ(good.get().outputs.at(0), 0.5F);
  EXPECT_EQ(bad.get().text, "no such tensor");
  model.finish();
  EXPECT_EQ(model.use().invalid, 1U);
  EXPECT_EQ(model.use().failed, 0U);
}

TEST_F(ServedModelTest, ShortPreparationFailsTheSameWay) {
  ServedModel model = make({});
  std::promise<End> end;
  auto future = end.get_future();
  auto job = std::make_unique<ColorJob>(std::vector<float>{0.5F}, std::move(end));
  job->preparing = [] { saccade::fail(ErrorCode::kInvalidArgument, "no such tensor"); };
  model.submit(std::move(job), ServedModel::Preparation::kShort);
  EXPECT_EQ(future.get().text, "no such tensor");
  EXPECT_EQ(model.use().invalid, 1U);
  EXPECT_EQ(model.use().failed, 0U);
}

TEST_F(ServedModelTest, FailuresOfTheMachineAreCountedApart) {
  ServedModel model = make({});
  auto bad = submit(model, {0.5F},
                    [](ColorJob& job) { job.preparing = [] { saccade::fail(ErrorCode::kIo, "the disk is gone"); }; });
  EXPECT_EQ(bad.get().text, "the disk is gone");
  model.finish();
  EXPECT_EQ(model.use().failed, 1U);
  EXPECT_EQ(model.use().invalid, 0U);
}

TEST_F(ServedModelTest, WhatHasNoMemoryIsRefused) {
  ServedModel model = make({});
  EXPECT_EQ(submit(model, {0.5F}, [](ColorJob& job) { job.has_memory = false; }).get().text, "full");
  EXPECT_FLOAT_EQ(submit(model, {0.5F}).get().outputs.at(0), 0.5F);
  EXPECT_EQ(submit(model, {0.5F}, [](ColorJob& job) { job.has_room = false; }).get().text, "full");
  model.finish();
  EXPECT_EQ(model.use().refused, 2U);
  EXPECT_EQ(model.use().failed, 0U);
  EXPECT_EQ(model.use().run, 1U);
}

TEST_F(ServedModelTest, TheQueueIsBounded) {
  ServedModel model = make({.queue = 2});
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  const auto hold = [gone](ColorJob& job) { job.preparing = [gone] { gone.wait(); }; };
  std::vector<std::future<End>> ends;
  for (int i = 0; i < 5; ++i) ends.push_back(submit(model, {0.5F}, hold));
  // One for the execution, which is free, and two that wait for it.
  for (std::size_t i = 3; i < 5; ++i) EXPECT_EQ(ends[i].get().text, "full");
  EXPECT_EQ(model.use().waiting, 3U);
  go.set_value();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(ends[i].get().outputs.size(), 3U);
  model.finish();
  EXPECT_EQ(model.use().refused, 2U);
}

TEST_F(ServedModelTest, WhatIsLateIsRefusedAndTheOthersRun) {
  ServedModel model = make({.batch = 4, .batch_wait = milliseconds(20)});
  auto late = submit(model, {0.5F}, [](ColorJob& job) { job.latest = Clock::now() - milliseconds(1); });
  auto timely = submit(model, {0.5F}, [](ColorJob& job) { job.latest = Clock::now() + std::chrono::hours(1); });
  EXPECT_EQ(late.get().text, "late");
  EXPECT_FLOAT_EQ(timely.get().outputs.at(0), 0.5F);
}

TEST_F(ServedModelTest, WhatIsCancelledIsNeitherRunNorLate) {
  ServedModel model = make({.batch = 4, .batch_wait = milliseconds(20)});
  auto gone = submit(model, {0.5F}, [](ColorJob& job) {
    job.has_gone = [] { return true; };
    job.latest = Clock::now() - milliseconds(1);
  });
  auto late = submit(model, {0.5F}, [](ColorJob& job) { job.latest = Clock::now() - milliseconds(1); });
  auto timely = submit(model, {0.5F});
  EXPECT_EQ(gone.get().text, "cancelled");
  EXPECT_EQ(late.get().text, "late");
  EXPECT_FLOAT_EQ(timely.get().outputs.at(0), 0.5F);
  model.finish();
  EXPECT_EQ(model.use().cancelled, 1U);
  EXPECT_EQ(model.use().refused, 1U);
  EXPECT_EQ(model.use().run, 1U);
}

/// Keeps the only execution of a model busy until it is opened.
class Gate {
 public:
  std::function<void(ColorJob&)> hold() {
    return [this](ColorJob& job) {
      job.responding = [this] {
        is_held_.set_value();
        opened_.get_future().wait();
      };
    };
  }
  void wait_until_held() { is_held_.get_future().wait(); }
  void open() { opened_.set_value(); }

 private:
  std::promise<void> is_held_;
  std::promise<void> opened_;
};

TEST_F(ServedModelTest, WhatIsLateIsRefusedWhileOthersRun) {
  ServedModel model = make({});
  Gate gate;
  auto running = submit(model, {0.5F}, gate.hold());
  gate.wait_until_held();
  auto patient = submit(model, {0.5F}, [](ColorJob& job) { job.latest = Clock::now() + std::chrono::hours(1); });
  auto late = submit(model, {0.5F}, [](ColorJob& job) { job.latest = Clock::now() + milliseconds(1); });
  EXPECT_EQ(late.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  gate.open();
  EXPECT_EQ(late.get().text, "late");
  EXPECT_EQ(patient.get().outputs.size(), 3U);
  EXPECT_EQ(running.get().outputs.size(), 3U);
}

/// SUBMIT gives a job to a model until there is a place for it. FULL counts those for which there was none.
std::future<End> submit_until_taken(const std::function<std::future<End>()>& submit, std::uint64_t& full) {
  std::future<End> taken = submit();
  for (; taken.wait_for(milliseconds(0)) == std::future_status::ready; taken = submit()) ++full;
  return taken;
}

TEST_F(ServedModelTest, PlacesOfThoseWhoHaveGoneAreFree) {
  ServedModel model = make({.queue = 2});
  Gate gate;
  auto running = submit(model, {0.5F}, gate.hold());
  gate.wait_until_held();
  std::atomic<bool> has_gone = false;
  std::vector<std::future<End>> ends;
  for (int i = 0; i < 2; ++i)
    ends.push_back(submit(model, {0.5F}, [&](ColorJob& job) { job.has_gone = [&] { return has_gone.load(); }; }));
  EXPECT_EQ(submit(model, {0.5F}).get().text, "full");
  has_gone = true;
  std::uint64_t full = 0;  // while neither is ready
  auto next = submit_until_taken([&] { return submit(model, {0.5F}); }, full);
  gate.open();
  for (auto& end : ends) EXPECT_EQ(end.get().text, "cancelled");
  EXPECT_EQ(next.get().outputs.size(), 3U);
  EXPECT_EQ(running.get().outputs.size(), 3U);
}

TEST_F(ServedModelTest, ClientsAreAskedForATenthOfTheTimeWhenTheQueueIsFull) {
  constexpr std::size_t kPlaces = 10;
  constexpr milliseconds kQuestion{1};
  ServedModel model = make({.queue = kPlaces});
  Gate gate;
  auto running = submit(model, {0.5F}, gate.hold());
  gate.wait_until_held();
  std::atomic<std::int64_t> questions = 0;
  std::vector<std::future<End>> ends;
  for (std::size_t i = 0; i < kPlaces; ++i)
    ends.push_back(submit(model, {0.5F}, [&](ColorJob& job) {
      job.has_gone = [&] {
        ++questions;
        std::this_thread::sleep_for(kQuestion);
        return false;
      };
    }));
  const Clock::time_point begin = Clock::now();
  constexpr int kRefused = 200;
  for (int i = 0; i < kRefused; ++i) EXPECT_EQ(submit(model, {0.5F}).get().text, "full");
  // The last search may have ended just now.
  EXPECT_LE(questions, static_cast<std::int64_t>(kPlaces) + (Clock::now() - begin) / kQuestion / 10 + 1);
  gate.open();
  for (auto& end : ends) EXPECT_EQ(end.get().outputs.size(), 3U);
  EXPECT_EQ(running.get().outputs.size(), 3U);
}

TEST_F(ServedModelTest, WhatIsNoLongerCancelledButLateIsRefused) {
  ServedModel model = make({.queue = 1});
  Gate gate;
  auto running = submit(model, {0.5F}, gate.hold());
  gate.wait_until_held();
  auto gone = submit(model, {0.5F}, [](ColorJob& job) {
    job.latest = Clock::now() + std::chrono::hours(1);
    job.has_gone = [was_asked = std::make_shared<bool>()] { return !std::exchange(*was_asked, true); };
  });
  // Once it is ready, another one takes its place.
  std::uint64_t full = 0;
  auto next = submit_until_taken([&] { return submit(model, {0.5F}); }, full);
  gate.open();
  EXPECT_EQ(gone.get().text, "late");
  EXPECT_EQ(next.get().outputs.size(), 3U);
  EXPECT_EQ(running.get().outputs.size(), 3U);
  model.finish();
  EXPECT_EQ(model.use().refused, full + 1);
}

TEST_F(ServedModelTest, ABatchDoesNotWaitBeyondADeadline) {
  ServedModel model = make({.batch = 8, .batch_wait = std::chrono::hours(1)});
  auto timely = submit(model, {0.5F}, [](ColorJob& job) { job.latest = Clock::now() + std::chrono::seconds(1); });
  EXPECT_EQ(timely.get().outputs.size(), 3U);
}

TEST_F(ServedModelTest, ALongResponseIsWrittenByAWorkerAndCounted) {
  ServedModel model = make({});
  std::promise<void> go;
  auto slow = submit(model, {0.5F}, [&](ColorJob& job) { job.writing = [&] { go.get_future().wait(); }; });
  EXPECT_EQ(submit(model, {0.5F}).get().outputs.size(), 3U) << "the model does not wait for the worker";
  EXPECT_EQ(slow.wait_for(milliseconds(0)), std::future_status::timeout);
  go.set_value();
  auto bad = submit(model, {0.5F}, [](ColorJob& job) {
    job.writing = [] { saccade::fail(ErrorCode::kInvalidArgument, "the region is too small"); };
  });
  model.finish();
  EXPECT_EQ(slow.get().outputs.size(), 3U);
  EXPECT_EQ(bad.get().text, "the region is too small");
  const ModelUse use = model.use();
  EXPECT_EQ(use.run, 2U);
  EXPECT_EQ(use.invalid, 1U);
  EXPECT_EQ(use.latency.count(), 2);
}

TEST_F(ServedModelTest, TheEndWaitsForAllThatWasTaken) {
  std::vector<std::future<End>> ends;
  ServedModel model = make({.executions = 2, .queue = 1000, .batch = 4});
  for (int i = 0; i < 200; ++i) ends.push_back(submit(model, {0.5F}));
  model.finish();
  for (auto& end : ends) {
    ASSERT_EQ(end.wait_for(milliseconds(0)), std::future_status::ready);
    EXPECT_EQ(end.get().outputs.size(), 3U);
  }
  EXPECT_EQ(submit(model, {0.5F}).get().text, "stopped");
}

TEST_F(ServedModelTest, TheFastestBatchIsMeasured) {
  const ServedModel model = make({.batch = 0});
  EXPECT_GE(model.signature()->most_images, 1U);
  EXPECT_LE(model.signature()->most_images, 32U);
}

class RepositoryTest : public ServedModelTest {
 protected:
  RepositoryTest()
      : models_(
            [this](const std::string& path) {
              return std::make_unique<ServedModel>(test::load_on_cpu(path), ExecutionOptions{.queue = 100'000},
                                                   workers_);
            },
            folder_.string()) {
    path_ = test::write_color_classifier(folder_);
    models_.add_folder();
  }

  std::string path_;
  Repository models_;
};

TEST_F(RepositoryTest, ReplacementsUnderLoadLoseNothing) {
  std::atomic<bool> is_over = false;
  std::atomic<std::size_t> submitted = 0;
  std::vector<std::future<End>> ends;
  std::thread client([&] {
    while (!is_over) {
      ASSERT_TRUE(models_.with("color", [&](ServedModel& model) { ends.push_back(submit(model, {0.5F})); }));
      submitted = ends.size();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  for (std::size_t i = 0; i < 20; ++i) {
    models_.load("color");
    while (submitted <= i && !HasFailure()) std::this_thread::yield();
  }
  is_over = true;
  client.join();
  ASSERT_GE(ends.size(), 20U);
  for (auto& end : ends) {
    const End ended = end.get();
    EXPECT_EQ(ended.outputs.size(), 3U) << ended.text;
  }
  const auto run = [&] { return models_.use().at("color").run; };
  for (int i = 0; i < 1000 && run() < ends.size(); ++i) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(run(), ends.size()) << "the counts of replaced models are kept";
}

TEST_F(RepositoryTest, ModelsComeFromTheFolderAlone) {
  EXPECT_TRUE(models_.is_controlled());
  for (const char* name : {"../color", "color.onnx", "", ".", "none"}) {
    try {
      models_.load(name);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr("no file of a model"));
    }
  }
  EXPECT_THROW(models_.unload("none"), Error);
  EXPECT_THROW(models_.add(path_), Error) << "there is one of that name";
}

TEST_F(RepositoryTest, ABrokenFileKeepsTheModel) {
  folder_.write("color.onnx", "broken");
  try {
    models_.load("color");
    FAIL() << "the file is broken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("/"))) << "the client learns no path";
  }
  EXPECT_TRUE(
      models_.with("color", [](ServedModel& model) { EXPECT_EQ(submit(model, {0.5F}).get().outputs.size(), 3U); }));
}

TEST_F(RepositoryTest, ModelsAreUnloaded) {
  models_.unload("color");
  EXPECT_FALSE(models_.with("color", [](ServedModel& /*model*/) {}));
  const auto index = models_.index();
  ASSERT_EQ(index.size(), 1U);
  EXPECT_EQ(index[0].name, "color");
  EXPECT_FALSE(index[0].is_loaded);
  models_.load("color");
  EXPECT_TRUE(models_.index()[0].is_loaded);
}

}  // namespace
}  // namespace saccade::serve
