#include "serve/job.hpp"

namespace saccade::serve {

bool is_of_request(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kInvalidFile:
    case ErrorCode::kUnsupported: return true;
    default: return false;
  }
}

}  // namespace saccade::serve
