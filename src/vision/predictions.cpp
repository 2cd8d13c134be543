#include "vision/predictions.hpp"

#include <algorithm>

namespace saccade {

TensorIndex OutputList::add(ValueId tensor) {
  tensors_.push_back(tensor);
  return TensorIndex{tensors_.size() - 1};
}

CountIndex OutputList::add_count(ValueId count) {
  counts_.push_back(count);
  return CountIndex{counts_.size() - 1};
}

TensorIndex OutputList::add(ValueId tensor, CountIndex rows) {
  const TensorIndex index = add(tensor);
  rows_.push_back({index, rows});
  return index;
}

std::size_t OutputList::set_on(Graph& graph) const {
  std::vector<ValueId> outputs = tensors_;
  outputs.insert(outputs.end(), counts_.begin(), counts_.end());
  graph.set_outputs(std::move(outputs));
  std::vector<Extent> extents;
  for (const Rows& rows : rows_)
    extents.push_back({.output = static_cast<std::size_t>(rows.tensor),
                       .axis = 0,
                       .count = tensors_.size() + static_cast<std::size_t>(rows.count)});
  graph.set_extents(std::move(extents));
  return tensors_.size();
}

std::size_t OutputViews::operator[](CountIndex i) const {
  const TensorView& count = outputs_[tensors_ + static_cast<std::size_t>(i)];
  return static_cast<std::size_t>(std::max(count.as<const std::int32_t>()[0], 0));
}

}  // namespace saccade
