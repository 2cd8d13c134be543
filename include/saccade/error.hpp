#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace saccade {

/// What kind of thing went wrong; the message says which thing and what to do.
enum class ErrorCode {
  kInvalidArgument,  ///< a value handed to the API or a flag makes no sense
  kNotFound,         ///< a file, device, module or name does not exist
  kIo,               ///< the operating system refused to read or write
  kInvalidFile,      ///< a model, image, video, card or plan is damaged or is something else
  kConflict,         ///< outputs and inputs get in each other's way: one file (saccade/files.hpp), two images of one id
  kUnsupported,      ///< valid, but Saccade can't do it
  kDevice,           ///< a camera or accelerator failed
  kInternal,         ///< a bug of ours
};

/// The one exception of Saccade. Thrown while building (open, load, compile, configure), never on the frame path.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  ErrorCode code() const noexcept { return code_; }

  /// The same error with the caller's context in front: "CONTEXT: message".
  Error in(const std::string& context) const { return {code_, context + ": " + what()}; }

 private:
  ErrorCode code_;
};

}  // namespace saccade
