#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "grpc/call.hpp"
#include "grpc/in_flight.hpp"
#include "grpc_predict_v2.pb.h"
#include "serve/access_log.hpp"
#include "serve/job.hpp"
#include "serve/memory_regions.hpp"
#include "serve/signature.hpp"

namespace saccade::serve {

/// What the client of a call says of where it belongs.
TraceContext trace_of(const grpc::CallbackServerContext& context);

/// A call of ModelInfer.
class InferCall final : public Call {
 public:
  using Run = std::function<void(InferCall& call, grpc::ByteBuffer& message)>;

  /// RUN is called with the message. It, IN_FLIGHT and ACCESS_LOG, which may be null, outlive the call.
  InferCall(grpc::CallbackServerContext& context, Uploads& uploads, const Run& run, InFlight& in_flight,
            AccessLog* access_log);

  /// Counts the call with MESSAGE as in flight; false if there is no room, and the call is to be refused.
  bool begin(const grpc::ByteBuffer& message);
  /// Reads MESSAGE, which is empty then. False if it is not valid.
  bool read(grpc::ByteBuffer& message);
  /// What was read.
  const inference::ModelInferRequest& request() const { return request_; }
  const TraceContext& trace() const { return trace_; }
  /// The access log gets a line when the call is finished.
  void log() { is_logged_ = access_log_ != nullptr; }

  // Later calls of them are ignored.
  void finish(const grpc::Status& status) override;
  void finish(grpc::ByteBuffer& response);  ///< which is empty then

  void OnDone() override;

 private:
  void run(grpc::ByteBuffer& message) override;

  const Run& run_;
  InFlight& in_flight_;
  AccessLog* access_log_;
  TraceContext trace_;
  Clock::time_point arrived_;
  inference::ModelInferRequest request_;
  std::size_t bytes_ = 0;
  bool has_begun_ = false;
  bool is_logged_ = false;
  std::atomic<bool> is_finished_{false};
};

/// The inference by what CALL has read, on MODEL, with tensors in REGIONS, which outlive it. The message is not copied.
std::unique_ptr<Job> message_job(std::shared_ptr<const Signature> model, InferCall& call, MemoryRegions& regions);

}  // namespace saccade::serve
