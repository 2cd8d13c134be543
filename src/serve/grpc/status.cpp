#include "grpc/status.hpp"

#include "serve/protocol.hpp"

namespace saccade::serve {

grpc::Status status_of(const Error& error) {
  return {is_of_request(error) ? grpc::StatusCode::INVALID_ARGUMENT : grpc::StatusCode::INTERNAL, sentence_of(error)};
}

grpc::Status status_of(Refusal reason) {
  switch (reason) {
    case Refusal::kFull: return {grpc::StatusCode::RESOURCE_EXHAUSTED, sentence_of(reason)};
    case Refusal::kLate: return {grpc::StatusCode::DEADLINE_EXCEEDED, sentence_of(reason)};
    case Refusal::kStopped: break;
  }
  return {grpc::StatusCode::UNAVAILABLE, sentence_of(reason)};
}

}  // namespace saccade::serve
