#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/beside.hpp"
#include "onnx.pb.h"

namespace saccade {

/// The files beside a model in which weights may lie.
class ExternalData {
 public:
  /// Data lie in the folder of the file MODEL, which need not exist, or in the one to which a link of that name leads.
  explicit ExternalData(const std::filesystem::path& model);

  /// Checks that the tensor's data are there and of SIZE bytes; call it before allocating for them.
  /// Throws Error (kInvalidFile, kNotFound) on a location outside the folder (links count as what they lead to), a
  /// missing or a short file.
  void check(const onnx::TensorProto& tensor, std::size_t size) const;
  /// Reads them. Throws the same, and kIo.
  void read(const onnx::TensorProto& tensor, std::span<std::byte> into) const;

 private:
  std::filesystem::path resolve(const std::string& location) const;

  Beside beside_;
};

}  // namespace saccade
