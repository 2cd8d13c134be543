#include "serve/http_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.hpp"
#include "serve/json_request.hpp"

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
        signature, std::move(request), [this](HttpReply reply) { reply_.set_value(std::move(reply)); }, regions_);
    EXPECT_TRUE(job_->prepare());
  }

  const Job& job() const { return *job_; }
  MemoryRegions& regions() { return regions_; }
  Response respond() {
    std::vector<float> elements(kElements, 1.5F);
    const OutputBuffer output{elements.data(), elements.size() * sizeof(float), DType::kFloat32, Shape{kElements}};
    return job_->respond(std::span(&output, 1));
  }
  void write() { job_->write(); }
  void refuse() { job_->refuse(Refusal::kFull, std::chrono::seconds(2)); }
  HttpReply reply() { return reply_.get_future().get(); }

 private:
  std::vector<TensorInfo> infos_ = {{"x", DType::kFloat32, Shape{kElements}}};
  MemoryRegions regions_{{.most_bytes = kElements * sizeof(float)}};
  std::promise<HttpReply> reply_;
  std::unique_ptr<Job> job_;
};

TEST(HttpJobs, ALargeOutputIsWrittenAsText) {
  LargeOutput request;
  EXPECT_EQ(request.respond(), Response::kUnwritten);
  request.write();
  const HttpReply reply = request.reply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.body, testing::HasSubstr("1.5,1.5"));
}

TEST(HttpJobs, WithoutRoomForAnOutputTheClientComesAgain) {
  LargeOutput request;
  const PendingBytes others = request.regions().reserve(1);
  EXPECT_EQ(request.respond(), Response::kNoMemory);
  request.refuse();
  const HttpReply reply = request.reply();
  EXPECT_EQ(reply.status, 429);
  EXPECT_THAT(reply.headers, Contains(Pair("Retry-After", "2")));
}

TEST(ParseObject, ManyObjectsTakeLinearTime) {
  // Quadratic, it takes minutes.
  std::string text = R"({"inputs":[)";
  for (int i = 0; i < 1'500'000; ++i) text += "{},";
  text += "{}]}";
  EXPECT_EQ(parse_object(text)["inputs"].size(), 1'500'001U);
}

TEST(ParseObject, DepthIsBounded) {
  const auto nested = [](int depth) {
    return R"({"a":)" + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "}";
  };
  EXPECT_TRUE(parse_object(nested(31)).contains("a"));
  EXPECT_THROW(parse_object(nested(32)), Error);
  EXPECT_THROW(parse_object(nested(1'000'000)), Error);
  EXPECT_THROW(parse_object(R"({"a":"\\",")" + std::string(100, '[')), Error);
  // Brackets in strings do not count, behind quotation marks and backslashes either.
  for (const char* start : {"", R"(\")", R"(\\)", R"(\\\")"})
    EXPECT_TRUE(parse_object(R"({"a":")" + (start + std::string(100, '[')) + R"("})").contains("a")) << start;
  for (const char* broken : {"", "{", R"({")", R"({"a\)", "]]]]", "{}}"}) EXPECT_THROW(parse_object(broken), Error);
}

TEST(HttpJobs, AJobIsCancelledIfItsClientHasGone) {
  EXPECT_FALSE(LargeOutput().job().is_cancelled());
  EXPECT_FALSE(LargeOutput([] { return false; }).job().is_cancelled());
  EXPECT_TRUE(LargeOutput([] { return true; }).job().is_cancelled());
}

}  // namespace
}  // namespace saccade::serve
