#include "serve/job.hpp"

#include "base/log.hpp"

namespace saccade::serve {

bool is_of_request(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kInvalidFile:
    case ErrorCode::kUnsupported: return true;
    default: return false;
  }
}

std::string sentence_of(const Error& error) {
  if (is_of_request(error)) return error.what();
  log(LogLevel::kWarning, "a request has failed: {}", error.what());
  return "the model can't be run";
}

std::string sentence_of(Refusal reason) {
  switch (reason) {
    case Refusal::kFull: return "as many requests wait as may, or they fill the memory: come again later";
    case Refusal::kLate: return "the request's timeout passed while it waited";
    case Refusal::kCancelled: return "the client has cancelled the request";
    case Refusal::kStopped: break;
  }
  return "the server is ending, or the model was unloaded";
}

}  // namespace saccade::serve
