#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/mapped_file.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// Packed weights by packed_key().
using PackedTensors = std::map<std::string, Tensor, std::less<>>;

/// Identifies the elements of SOURCE in LAYOUT, a text that holds all that the packed elements depend on beside SOURCE
/// and the version of the kernels.
std::string packed_key(const Tensor& source, std::string_view layout);

/// The packed weights of a plan file, or those of a compilation that are to be written into one. get() may be called by
/// several threads at once.
class PackedConstants {
 public:
  /// The weights of a plan FILE, compiled by the same version of the kernels for the same device. The graph's constants
  /// lie in it, too.
  void store(PackedTensors tensors, std::shared_ptr<const MappedFile> file = nullptr) {
    tensors_ = std::move(tensors);
    file_ = std::move(file);
  }
  /// The tensor of KEY, if it has DTYPE and the dimension ELEMENTS. Else one that PACK fills, which is kept if this
  /// records.
  Tensor get(const std::string& key, DType dtype, std::int64_t elements, const std::function<void(Tensor&)>& pack);
  /// Takes the plan file's pages out of the resident memory: compilation reads each constant once. Any thread.
  void release_pages() const {
    if (file_ != nullptr) file_->release_pages();
  }
  /// From now on, packed tensors are kept.
  void record() { records_ = true; }
  const PackedTensors& tensors() const { return tensors_; }

 private:
  std::mutex mutex_;
  PackedTensors tensors_;
  std::shared_ptr<const MappedFile> file_;
  bool records_ = false;
};

}  // namespace saccade
