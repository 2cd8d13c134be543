#include "serve/http_jobs.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "saccade/draw.hpp"
#include "saccade/image.hpp"
#include "saccade/results.hpp"
#include "serve/infer_request.hpp"
#include "serve/json_request.hpp"
#include "serve/multipart.hpp"
#include "serve/protocol.hpp"
#include "serve/replies.hpp"
#include "serve/request_image.hpp"

namespace saccade::serve {
namespace {

/// Tells when to come again.
HttpReply refusal_reply(Refusal reason, std::chrono::nanoseconds expected_wait) {
  HttpReply reply = error_reply(reason == Refusal::kFull ? 429 : 503, sentence_of(reason));
  const double seconds = std::chrono::duration<double>(expected_wait).count();
  reply.headers.emplace_back("Retry-After", std::to_string(std::max(1, static_cast<int>(std::ceil(seconds)))));
  return reply;
}

HttpReply reply_with(const char* type, std::string body) {
  return {.status = 200, .type = type, .body = std::move(body), .stream = nullptr, .headers = {}};
}

class HttpJob : public Job {
 public:
  HttpJob(HttpRequest request, HttpRespond respond)
      : Job(parse_traceparent(request.header(kTraceHeader))),
        has_gone_(std::move(request.has_gone)),
        request_(std::move(request)),
        respond_(std::move(respond)) {}

  bool is_cancelled() const final { return has_gone_ && has_gone_(); }

  void refuse(Refusal reason, std::chrono::nanoseconds expected_wait) final {
    respond_(refusal_reply(reason, expected_wait));
  }
  void fail(const Error& error) final { respond_(error_reply(error)); }

 private:
  std::function<bool()> has_gone_;
  Clock::time_point arrived_ = Clock::now();

 protected:
  std::optional<Clock::time_point> deadline_after(std::optional<std::chrono::microseconds> timeout) const {
    return timeout ? std::optional(arrived_ + *timeout) : std::nullopt;
  }

  HttpRequest request_;
  HttpRespond respond_;
};

/// The size of OUTPUTS on the host.
std::size_t bytes_of(std::span<const OutputBuffer> outputs) {
  std::size_t bytes = 0;
  for (const OutputBuffer& output : outputs)
    if (!output.on_device) bytes += output.bytes;
  return bytes;
}

/// Copies of OUTPUTS.
class OwnedOutputs {
 public:
  /// PENDING: the room for bytes_of(OUTPUTS).
  OwnedOutputs(std::span<const OutputBuffer> outputs, PendingBytes pending)
      : pending_(std::move(pending)), outputs_(outputs.begin(), outputs.end()) {
    for (OutputBuffer& output : outputs_) {
      if (output.on_device) continue;
      const auto* from = static_cast<const std::byte*>(output.data);
      elements_.emplace_back(from, from + output.bytes);
      output.data = elements_.back().data();
    }
  }
  std::span<const OutputBuffer> get() const { return outputs_; }

 private:
  PendingBytes pending_;
  std::vector<OutputBuffer> outputs_;
  std::vector<std::vector<std::byte>> elements_;
};

class InferJob final : public HttpJob {
 public:
  InferJob(std::shared_ptr<const Signature> model, HttpRequest request, HttpRespond respond, MemoryRegions& regions)
      : HttpJob(std::move(request), std::move(respond)), model_(std::move(model)), regions_(regions) {}

  bool prepare() override {
    parsed_ = parse_infer_request(*model_, regions_, std::move(request_));
    return parsed_.region_inputs.read(*model_, regions_, parsed_.inputs);
  }

  JobInput input() const override { return TensorInput{parsed_.inputs, parsed_.images, parsed_.outputs_on_device}; }

  std::optional<Clock::time_point> deadline() const override { return deadline_after(parsed_.timeout); }

  Response respond(std::span<const OutputBuffer> outputs) override {
    // Text takes longer than many a network.
    constexpr std::int64_t kShort = 1000;
    const bool is_long = std::ranges::any_of(parsed_.outputs, [&](const InferRequest::Output& output) {
      return !output.region && !output.is_binary && outputs[output.index].shape.elements() > kShort;
    });
    if (!is_long) {
      send(outputs);
      return Response::kSent;
    }
    PendingBytes pending = regions_.reserve(bytes_of(outputs));
    if (pending == nullptr) return Response::kNoMemory;
    unwritten_.emplace(outputs, std::move(pending));
    return Response::kUnwritten;
  }
  Response respond(const Result& /*result*/) override { return Response::kSent; }
  void write() override { send(unwritten_->get()); }

 private:
  void send(std::span<const OutputBuffer> outputs) {
    HttpReply reply = infer_reply(*model_, parsed_, outputs);
    release_regions(parsed_);
    respond_(std::move(reply));
  }

  std::shared_ptr<const Signature> model_;
  MemoryRegions& regions_;
  InferRequest parsed_;
  std::optional<OwnedOutputs> unwritten_;
};

class PredictJob final : public HttpJob {
 public:
  PredictJob(HttpRequest request, HttpRespond respond, const PredictOptions& options, MemoryRegions& regions)
      : HttpJob(std::move(request), std::move(respond)), options_(options), image_(regions) {}

  bool prepare() override {
    if (!options_.problem.empty()) serve::refuse("{}", options_.problem);
    const std::string_view file = image_in(request_);
    const bool has_room =
        image_.decode(std::span(reinterpret_cast<const std::uint8_t*>(file.data()), file.size()), options_.most_pixels);
    request_.body = {};
    return has_room;
  }

  JobInput input() const override { return image_.view(); }
  std::optional<Clock::time_point> deadline() const override { return deadline_after(options_.timeout); }

  Response respond(std::span<const OutputBuffer> /*outputs*/) override { return Response::kSent; }
  Response respond(const Result& result) override {
    if (options_.draw) {
      undrawn_ = result.clone();
      return Response::kUnwritten;
    }
    respond_(reply_with("application/json", to_json(result)));
    return Response::kSent;
  }
  void write() override {
    respond_(reply_with("image/jpeg", encode_jpeg(draw(image_.view(), std::span(&undrawn_, 1)))));
  }

 private:
  PredictOptions options_;
  RequestImage image_;
  Result undrawn_;
};

}  // namespace

std::unique_ptr<Job> infer_job(std::shared_ptr<const Signature> model, HttpRequest request, HttpRespond respond,
                               MemoryRegions& regions) {
  return std::make_unique<InferJob>(std::move(model), std::move(request), std::move(respond), regions);
}

bool is_short(const HttpRequest& request) {
  constexpr std::size_t kShortJson = 5;  // digits
  const std::string_view json_bytes = request.header(kJsonLength);
  return !json_bytes.empty() && json_bytes.size() < kShortJson;
}

PredictOptions predict_options(const HttpRequest& request, std::int64_t most_pixels) {
  const std::string draw = request.parameter("draw").value_or("0");
  const std::string timeout = request.parameter("timeout").value_or("0");
  PredictOptions options{.most_pixels = most_pixels, .draw = draw == "1"};
  if (draw != "0" && draw != "1")
    options.problem = fmt::format("the parameter 'draw' is '{}', neither 0 nor 1", brief(draw));
  std::uint64_t microseconds = 0;
  const char* const end = timeout.data() + timeout.size();
  if (const auto read = std::from_chars(timeout.data(), end, microseconds); read.ec == std::errc() && read.ptr == end)
    options.timeout = timeout_of(microseconds);
  else
    options.problem =
        fmt::format("the parameter 'timeout' is '{}', which is no number of microseconds", brief(timeout));
  if (const std::string_view other = request.parameter_besides({"draw", "timeout"}); !other.empty())
    options.problem = fmt::format("there is no parameter '{}': there are 'draw' and 'timeout'", brief(other));
  return options;
}

std::unique_ptr<Job> predict_job(HttpRequest request, HttpRespond respond, const PredictOptions& options,
                                 MemoryRegions& regions) {
  return std::make_unique<PredictJob>(std::move(request), std::move(respond), options, regions);
}

}  // namespace saccade::serve
