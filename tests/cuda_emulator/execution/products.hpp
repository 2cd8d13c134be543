#pragma once

#include <cstddef>
#include <vector>

namespace saccade::emulator {

/// One thread's share of the wgmmas in flight. They are executed as late as possible, when the thread waits for their
/// group.
class Products {
 public:
  using Work = void (*)(const void* data);

  void begin(Work work, const void* data, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(data);
    open_.push_back({work, {first, first + bytes}});
  }
  void commit() {
    groups_.push_back(std::move(open_));
    open_.clear();
  }
  /// Executes all groups but the newest PENDING.
  void wait(std::size_t pending) {
    if (groups_.size() <= pending) return;
    const auto end = groups_.end() - static_cast<std::ptrdiff_t>(pending);
    for (auto group = groups_.begin(); group != end; ++group)
      for (const Product& product : *group) product.work(product.data.data());
    groups_.erase(groups_.begin(), end);
  }
  bool none() const { return open_.empty() && groups_.empty(); }

 private:
  struct Product {
    Work work;
    std::vector<std::byte> data;
  };
  std::vector<Product> open_;
  std::vector<std::vector<Product>> groups_;
};

}  // namespace saccade::emulator
