#include "base/error.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

Shape::Shape(std::span<const std::int64_t> dims) {
  for (std::int64_t dim : dims) push_back(dim);
}

Shape Shape::filled(int rank, std::int64_t value) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(value);
  return shape;
}

void Shape::push_back(std::int64_t dim) {
  if (rank_ == kMaxRank)
    fail(ErrorCode::kUnsupported, "tensors of more than {} dimensions are not supported", kMaxRank);
  dims_[static_cast<std::size_t>(rank_++)] = dim;
}

std::int64_t Shape::elements() const noexcept {
  std::int64_t product = 1;
  for (std::int64_t dim : *this) product *= dim;
  return product;
}

std::string Shape::to_string() const {
  return rank_ == 0 ? "scalar" : fmt::format("{}", fmt::join(begin(), end(), "x"));
}

}  // namespace saccade
