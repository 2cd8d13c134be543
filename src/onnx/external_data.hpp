#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "onnx.pb.h"

namespace saccade {

/// The files beside a model in which weights may lie.
class ExternalData {
 public:
  /// FOLDER is the model file's own.
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Checks that the tensor's data are there and of SIZE bytes; call it before allocating for them.
  /// Throws Error (kInvalidFile, kNotFound) on a location outside the folder, a missing or a short file.
  void check(const onnx::TensorProto& tensor, std::size_t size) const;
  /// Reads them. Throws the same, and kIo.
  void read(const onnx::TensorProto& tensor, std::span<std::byte> into) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace saccade
