#include "runtime/packed_constants.hpp"

#include <fmt/format.h>

#include "base/digest.hpp"

namespace saccade {

std::string packed_key(const Tensor& source, std::string_view layout) {
  const std::string_view bytes(reinterpret_cast<const char*>(source.raw()), source.bytes());
  return fmt::format("{} {} {} {}", digest(bytes), to_string(source.dtype()), source.shape().to_string(), layout);
}

Tensor PackedConstants::get(const std::string& key, DType dtype, std::int64_t elements,
                            const std::function<void(Tensor&)>& pack) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = tensors_.find(key);
    if (found != tensors_.end() && found->second.dtype() == dtype && found->second.shape() == Shape{elements})
      return found->second;
  }
  Tensor packed(dtype, Shape{elements});
  pack(packed);
  if (records_) {
    const std::scoped_lock lock(mutex_);
    tensors_.insert_or_assign(key, packed);
  }
  return packed;
}

}  // namespace saccade
