#pragma once

#include <grpcpp/support/status.h>

#include <exception>
#include <string_view>

#include "base/error.hpp"
#include "serve/job.hpp"

namespace saccade::serve {

/// "INVALID_ARGUMENT".
std::string_view name_of(grpc::StatusCode code);

/// What a client may know of ERROR.
grpc::Status status_of(const Error& error);
grpc::Status status_of(Refusal reason);

/// The status that WORK returns, or that of what it throws.
template <typename Work>
grpc::Status status_of_work(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    return status_of(error);
  } catch (const std::exception& error) {
    return status_of(Error(ErrorCode::kInternal, error.what()));
  }
}

}  // namespace saccade::serve
