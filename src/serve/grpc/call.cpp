#include "grpc/call.hpp"

#include <chrono>
#include <utility>

#include "base/slow_client.hpp"

namespace saccade::serve {

void Call::start() {
  uploads_.begin(*this);
  StartRead(&message_);
}

void Call::expire() { finish({grpc::StatusCode::DEADLINE_EXCEEDED, "the message comes too slowly"}); }

void Call::OnReadDone(bool is_there) {
  if (!uploads_.end(*this)) return;
  if (is_there) return run(message_);
  // The client has gone, or gRPC has refused the message and told it why.
  finish({grpc::StatusCode::INVALID_ARGUMENT, "the call has no message"});
}

/// Cancels the call if its client takes longer to receive the response than a client of HTTP may.
void Call::send(const grpc::Status& status) {
  sending_ = std::make_shared<Sending>(context_);
  too_slow_.Set(std::chrono::system_clock::now() + transfer_timeout(response_.Length()),
                [sending = sending_](bool is_over) {
                  if (is_over) sending->cancel();
                });
  if (status.ok())
    StartWriteAndFinish(&response_, {}, status);
  else
    Finish(status);
}

void Call::OnDone() {
  if (sending_ != nullptr) sending_->end();
  delete this;
}

}  // namespace saccade::serve
