#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "grpc/in_flight.hpp"
#include "grpc_predict_v2.pb.h"
#include "serve/access_log.hpp"
#include "serve/job.hpp"
#include "serve/memory_regions.hpp"
#include "serve/signature.hpp"

namespace saccade::serve {

/// What the client of a call says of where it belongs.
TraceContext trace_of(const grpc::CallbackServerContext& context);

/// A call whose response is being sent. Any thread.
class Sending {
 public:
  explicit Sending(grpc::CallbackServerContext& context) : context_(&context) {}

  void cancel() {
    const std::scoped_lock lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }
  /// The call's context is no longer valid.
  void end() {
    const std::scoped_lock lock(mutex_);
    context_ = nullptr;
  }

 private:
  std::mutex mutex_;
  grpc::CallbackServerContext* context_;
};

/// A call of ModelInfer, from when its message has come until its response is sent. gRPC ends it by OnDone(), which
/// destroys it.
class InferCall final : public grpc::ServerUnaryReactor {
 public:
  /// CONTEXT and RESPONSE belong to gRPC, which keeps them until the call is finished.
  /// IN_FLIGHT and ACCESS_LOG, which may be null, outlive the call.
  InferCall(grpc::CallbackServerContext& context, grpc::ByteBuffer& response, InFlight& in_flight,
            AccessLog* access_log);

  /// Counts the call with MESSAGE as in flight; false if there is no room, and the call is to be refused.
  bool begin(const grpc::ByteBuffer& message);
  /// Reads MESSAGE, which is empty then. False if it is not valid.
  bool read(grpc::ByteBuffer& message);
  /// What was read.
  const inference::ModelInferRequest& request() const { return request_; }
  grpc::CallbackServerContext& context() const { return context_; }
  const TraceContext& trace() const { return trace_; }
  /// The access log gets a line when the call is finished.
  void log() { is_logged_ = access_log_ != nullptr; }

  // One of them is called; later calls are ignored. The call may be gone when they return, unless it was not handed to
  // gRPC yet.
  void finish(const grpc::Status& status);
  void finish(grpc::ByteBuffer& response);  ///< which is empty then

  void OnDone() override;

 private:
  void limit_sending();

  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  InFlight& in_flight_;
  AccessLog* access_log_;
  TraceContext trace_;
  Clock::time_point arrived_ = Clock::now();
  inference::ModelInferRequest request_;
  std::size_t bytes_ = 0;
  bool has_begun_ = false;
  bool is_logged_ = false;
  std::atomic<bool> is_finished_{false};
  std::shared_ptr<Sending> sending_;
  grpc::Alarm too_slow_;
};

/// The inference by what CALL has read, on MODEL, with tensors in REGIONS, which outlive it. The message is not copied.
std::unique_ptr<Job> message_job(std::shared_ptr<const Signature> model, InferCall& call, MemoryRegions& regions);

}  // namespace saccade::serve
