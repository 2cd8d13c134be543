#include "grpc/infer_call.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "grpc/infer_message.hpp"
#include "grpc/status.hpp"

namespace saccade::serve {
namespace {

/// The deadline that the client gave the call.
std::optional<Clock::time_point> deadline_of(const grpc::CallbackServerContext& context) {
  // What is far away overflows in deadline().
  constexpr std::int64_t kYear = 365 * 24 * 3600;
  const auto now = std::chrono::system_clock::now();
  if (context.raw_deadline().tv_sec > std::chrono::system_clock::to_time_t(now) + kYear) return std::nullopt;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(context.deadline() - now);
}

class MessageJob final : public Job {
 public:
  MessageJob(std::shared_ptr<const Signature> model, InferCall& call, MemoryRegions& regions)
      : Job(call.trace()),
        model_(std::move(model)),
        call_(&call),
        regions_(regions),
        call_deadline_(deadline_of(call.context())) {}
  ~MessageJob() override {
    if (call_ != nullptr) finish({grpc::StatusCode::INTERNAL, "the request has no response"});
  }
  MessageJob(const MessageJob&) = delete;
  MessageJob& operator=(const MessageJob&) = delete;

  bool prepare() override {
    parsed_ = parse_infer_message(*model_, regions_, call_->request());
    return parsed_.region_inputs.read(*model_, regions_, parsed_.inputs);
  }
  JobInput input() const override { return TensorInput{parsed_.inputs, parsed_.images, parsed_.outputs_on_device}; }

  std::optional<Clock::time_point> deadline() const override {
    if (!parsed_.timeout) return call_deadline_;
    const Clock::time_point latest = arrived_ + *parsed_.timeout;
    return std::min(latest, call_deadline_.value_or(latest));
  }

  /// What is late is not cancelled: gRPC cancels at the call's deadline, too.
  bool is_cancelled() const override {
    return call_->context().IsCancelled() && Clock::now() <= deadline().value_or(Clock::time_point::max());
  }

  Response respond(std::span<const OutputBuffer> outputs) override {
    grpc::ByteBuffer response = response_to(*model_, call_->request(), parsed_, outputs);
    release_regions(parsed_);
    std::exchange(call_, nullptr)->finish(response);
    return Response::kSent;
  }
  Response respond(const Result& /*result*/) override { return Response::kSent; }

  void refuse(Refusal reason, std::chrono::nanoseconds expected_wait) override {
    // Clients with a policy of retries wait for so long.
    if (reason == Refusal::kFull)
      call_->context().AddTrailingMetadata("grpc-retry-pushback-ms",
                                           std::to_string(expected_wait.count() / 1'000'000 + 1));
    finish(status_of(reason));
  }
  void fail(const Error& error) override { finish(status_of(error)); }

 private:
  void finish(const grpc::Status& status) { std::exchange(call_, nullptr)->finish(status); }

  std::shared_ptr<const Signature> model_;
  InferCall* call_;
  MemoryRegions& regions_;
  std::optional<Clock::time_point> call_deadline_;
  Clock::time_point arrived_ = Clock::now();
  InferMessage parsed_;
};

}  // namespace

TraceContext trace_of(const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(grpc::string_ref(kTraceHeader.data(), kTraceHeader.size()));
  if (found == metadata.end()) return {};
  return parse_traceparent({found->second.data(), found->second.size()});
}

InferCall::InferCall(grpc::CallbackServerContext& context, Uploads& uploads, const Run& run, InFlight& in_flight,
                     AccessLog* access_log)
    : Call(context, uploads), run_(run), in_flight_(in_flight), access_log_(access_log), trace_(trace_of(context)) {}

void InferCall::run(grpc::ByteBuffer& message) {
  arrived_ = Clock::now();
  run_(*this, message);
}

bool InferCall::begin(const grpc::ByteBuffer& message) {
  const std::size_t bytes = message.Length();
  has_begun_ = in_flight_.begin(bytes);
  if (has_begun_) bytes_ = bytes;
  return has_begun_;
}

bool InferCall::read(grpc::ByteBuffer& message) {
  return grpc::SerializationTraits<inference::ModelInferRequest>::Deserialize(&message, &request_).ok();
}

void InferCall::finish(const grpc::Status& status) {
  if (is_finished_.exchange(true)) return;
  const std::size_t bytes = response_.Length();
  if (is_logged_)
    access_log_->add({.method = "infer",
                      .model = brief(request_.model_name()),
                      .status = name_of(status.error_code()),
                      .duration = Clock::now() - arrived_,
                      .request_bytes = bytes_,
                      .response_bytes = bytes},
                     trace_);
  inference::ModelInferRequest().Swap(&request_);
  if (has_begun_) in_flight_.respond(bytes_, bytes);
  bytes_ = bytes;
  send(status);
}

void InferCall::finish(grpc::ByteBuffer& response) {
  response_.Swap(&response);
  finish(grpc::Status::OK);
}

void InferCall::OnDone() {
  if (has_begun_) in_flight_.end(bytes_);
  Call::OnDone();
}

std::unique_ptr<Job> message_job(std::shared_ptr<const Signature> model, InferCall& call, MemoryRegions& regions) {
  return std::make_unique<MessageJob>(std::move(model), call, regions);
}

}  // namespace saccade::serve
