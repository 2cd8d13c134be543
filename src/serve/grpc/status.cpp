#include "grpc/status.hpp"

#include <array>

#include "base/enum_name.hpp"
#include "serve/protocol.hpp"

namespace saccade::serve {

std::string_view name_of(grpc::StatusCode code) {
  constexpr std::array<std::string_view, 17> kNames = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  return enum_name(code, kNames);
}

grpc::Status status_of(const Error& error) {
  return {is_of_request(error) ? grpc::StatusCode::INVALID_ARGUMENT : grpc::StatusCode::INTERNAL, sentence_of(error)};
}

grpc::Status status_of(Refusal reason) {
  switch (reason) {
    case Refusal::kFull: return {grpc::StatusCode::RESOURCE_EXHAUSTED, sentence_of(reason)};
    case Refusal::kLate: return {grpc::StatusCode::DEADLINE_EXCEEDED, sentence_of(reason)};
    case Refusal::kCancelled: return {grpc::StatusCode::CANCELLED, sentence_of(reason)};
    case Refusal::kStopped: break;
  }
  return {grpc::StatusCode::UNAVAILABLE, sentence_of(reason)};
}

}  // namespace saccade::serve
