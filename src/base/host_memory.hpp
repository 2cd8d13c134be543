#pragma once

#include <cstddef>
#include <memory>

namespace saccade {

/// Memory of the host for tensors, uninitialised. Of a huge page or more, it starts at a huge page's boundary and is
/// made of huge pages where the kernel has them: kernels read rows that are pages apart.
class HostMemory {
 public:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  /// Throws std::bad_alloc.
  explicit HostMemory(std::size_t bytes);

  std::byte* data() const { return memory_.get(); }

 private:
  struct Deleter {
    std::size_t alignment;
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Deleter> memory_;
};

}  // namespace saccade
