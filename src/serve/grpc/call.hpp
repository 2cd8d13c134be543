#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <mutex>

#include "grpc/uploads.hpp"

namespace saccade::serve {

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

/// A call with one message and one response, from when its headers have come until its response is sent. For gRPC it is
/// a stream: what gRPC knows as a unary call begins when its message is complete, however slowly that comes and whoever
/// sends it. gRPC ends it by OnDone(), which destroys it.
class Call : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  /// CONTEXT belongs to gRPC, which keeps it until the call is finished. UPLOADS outlives the call.
  Call(grpc::CallbackServerContext& context, Uploads& uploads) : context_(context), uploads_(uploads) {}

  /// Reads the message, and runs the call with it. Called before the call is handed to gRPC.
  void start();
  grpc::CallbackServerContext& context() const { return context_; }

  /// Finishes the call, whose message comes too slowly. By Uploads.
  void expire();
  /// The call may be gone when it returns, unless it was not handed to gRPC yet.
  virtual void finish(const grpc::Status& status) = 0;

  void OnReadDone(bool is_there) final;
  void OnDone() override;

 protected:
  /// The message has come. Finishes the call now or later.
  virtual void run(grpc::ByteBuffer& message) = 0;
  /// Sends STATUS, and if it is OK the response.
  void send(const grpc::Status& status);

  grpc::ByteBuffer response_;

 private:
  grpc::CallbackServerContext& context_;
  Uploads& uploads_;
  grpc::ByteBuffer message_;
  std::shared_ptr<Sending> sending_;
  grpc::Alarm too_slow_;
};

/// A call whose message and response are small.
class SmallCall final : public Call {
 public:
  using Run = std::function<void(SmallCall& call, grpc::ByteBuffer& message)>;

  SmallCall(grpc::CallbackServerContext& context, Uploads& uploads, const Run& run)
      : Call(context, uploads), run_(run) {}

  /// What is sent if the status is OK.
  template <typename Response>
  void set_response(const Response& response) {
    bool is_own = false;
    (void)grpc::SerializationTraits<Response>::Serialize(response, &response_, &is_own);
  }
  void finish(const grpc::Status& status) override { send(status); }

 private:
  void run(grpc::ByteBuffer& message) override { run_(*this, message); }

  const Run& run_;  ///< of the method
};

}  // namespace saccade::serve
