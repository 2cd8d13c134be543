#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <string>

#include "base/beside.hpp"
#include "onnx.pb.h"

namespace saccade {

/// The weight files beside a model (ONNX external data).
class ExternalData {
 public:
  /// Locations are relative to the folder of the file MODEL, which need not exist, or, if MODEL is a link, to the
  /// folder of its target.
  explicit ExternalData(const std::filesystem::path& model);

  /// Checks that the tensor's data exist and have SIZE bytes; call it before allocating memory for them. Throws Error
  /// (kInvalidFile, kNotFound) on a location outside the folder (symbolic links are resolved), a missing file or one
  /// that is too short.
  void check(const onnx::TensorProto& tensor, std::size_t size) const;
  /// Reads the data. Throws the same errors, and kIo.
  void read(const onnx::TensorProto& tensor, std::span<std::byte> into) const;

  /// The files that hold data of MODEL's tensors; they need not exist. Throws Error (kInvalidFile) as check() does.
  std::set<std::filesystem::path> files_of(const onnx::ModelProto& model) const;

 private:
  std::filesystem::path resolve(const std::string& location) const;

  Beside beside_;
};

}  // namespace saccade
