#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "saccade/tensor.hpp"

namespace saccade {

/// Concatenates tensors, each aligned to 64 bytes.
class TensorBlob {
 public:
  /// {"dtype", "shape", "offset"}; throws Error (kUnsupported) for strings.
  nlohmann::json add(const Tensor& tensor);
  /// Returns the offset of BYTES.
  std::size_t add(std::string_view bytes);
  /// Ends the blob, so that vector kernels may read past the last tensor.
  const std::string& bytes();

 private:
  std::string bytes_;
};

/// Reads the tensors of a TensorBlob. Each of its bytes is read once, so that a small file can't refer to the same ones
/// repeatedly.
class StoredTensors {
 public:
  /// BLOB outlives this, and the tensors if KEEPER is set: large ones then share its memory and KEEPER, and
  /// must not be written. Others are copies.
  explicit StoredTensors(std::string_view blob, std::shared_ptr<const void> keeper = nullptr)
      : blob_(blob), left_(blob.size()), keeper_(std::move(keeper)) {}

  /// The tensor that TensorBlob::add() described. Throws Error (kInvalidFile) on anything that it would not write.
  Tensor tensor(const nlohmann::json& json);
  /// WHAT is "a constant", for errors. Throws Error (kInvalidFile) if the bytes are not in the blob or were read.
  std::string_view bytes(std::size_t offset, std::size_t count, std::string_view what);

 private:
  bool may_share(std::string_view elements) const;

  std::string_view blob_;
  std::size_t left_;
  std::shared_ptr<const void> keeper_;
};

}  // namespace saccade
