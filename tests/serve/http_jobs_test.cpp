#include "serve/http_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace saccade::serve {
namespace {

using testing::Contains;
using testing::Pair;

constexpr std::int64_t kElements = 2000;  // whose text a worker writes

/// A request for a model with a large output, and its reply.
class LargeOutput {
 public:
  explicit LargeOutput(std::function<bool()> has_gone = nullptr) {
    const auto signature =
        std::make_shared<const Signature>(Signature{.name = "m", .inputs = infos_, .outputs = infos_});
    HttpRequest request;
    request.body = R"({"inputs":[{"name":"x","shape":[2000],"datatype":"FP32","data":[)";
    for (std::int64_t i = 0; i < kElements; ++i) request.body += i == 0 ? "0" : ",0";
    request.body += "]}]}";
    request.has_gone = std::move(has_gone);
    job_ = infer_job(
        signature, std::move(request), [this](HttpReply reply) { reply_.set_value(std::move(reply)); }, workers_,
        regions_);
    EXPECT_TRUE(job_->prepare());
  }

  const Job& job() const { return *job_; }
  MemoryRegions& regions() { return regions_; }
  bool respond() {
    std::vector<float> elements(kElements, 1.5F);
    const OutputBuffer output{elements.data(), elements.size() * sizeof(float), DType::kFloat32, Shape{kElements}};
    return job_->respond(std::span(&output, 1));
  }
  void refuse() { job_->refuse(Refusal::kFull, std::chrono::seconds(2)); }
  HttpReply reply() { return reply_.get_future().get(); }

 private:
  std::vector<TensorInfo> infos_ = {{"x", DType::kFloat32, Shape{kElements}}};
  MemoryRegions regions_{{.most_bytes = kElements * sizeof(float)}};
  std::promise<HttpReply> reply_;
  Workers workers_{1};
  std::unique_ptr<Job> job_;
};

TEST(HttpJobs, ALargeOutputIsWrittenAsText) {
  LargeOutput request;
  EXPECT_TRUE(request.respond());
  const HttpReply reply = request.reply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.body, testing::HasSubstr("1.5,1.5"));
}

TEST(HttpJobs, WithoutRoomForAnOutputTheClientComesAgain) {
  LargeOutput request;
  const PendingBytes others = request.regions().reserve(1);
  EXPECT_FALSE(request.respond());
  request.refuse();
  const HttpReply reply = request.reply();
  EXPECT_EQ(reply.status, 429);
  EXPECT_THAT(reply.headers, Contains(Pair("Retry-After", "2")));
}

TEST(HttpJobs, AJobIsCancelledIfItsClientHasGone) {
  EXPECT_FALSE(LargeOutput().job().is_cancelled());
  EXPECT_FALSE(LargeOutput([] { return false; }).job().is_cancelled());
  EXPECT_TRUE(LargeOutput([] { return true; }).job().is_cancelled());
}

}  // namespace
}  // namespace saccade::serve
