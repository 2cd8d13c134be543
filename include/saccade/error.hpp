#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace saccade {

/// The category of an error. The message names the object and the remedy.
enum class ErrorCode {
  kInvalidArgument,  ///< a value given to the API or a flag is invalid
  kNotFound,         ///< a file, device, module or name does not exist
  kIo,               ///< the operating system refused to read or write
  kInvalidFile,      ///< a model, image, video, card or plan is damaged or of another kind
  kConflict,         ///< outputs and inputs collide: the same file (saccade/files.hpp), two images with one ID
  kUnsupported,      ///< valid, but not supported
  kDevice,           ///< a camera or accelerator failed
  kInternal,         ///< a bug in Saccade
};
/// "invalid argument", "not found", "input or output", "invalid file", "conflict", "unsupported", "device", "internal"
std::string_view to_string(ErrorCode code) noexcept;

/// The only exception type of Saccade. Thrown at build time (open, load, compile, configure), never on the frame path.
class Error : public std::runtime_error {
 public:
  /// An error with its category and what() it says.
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  /// The category.
  ErrorCode code() const noexcept { return code_; }

  /// The same error with the caller's context prepended: "CONTEXT: message".
  Error in(const std::string& context) const { return {code_, context + ": " + what()}; }

 private:
  ErrorCode code_;
};

}  // namespace saccade
