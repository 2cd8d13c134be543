#include "onnx/unsupported.hpp"

#include "base/error.hpp"
#include "onnx/opsets.hpp"
#include "onnx/upgrade/upgrade.hpp"

namespace saccade {

bool UnsupportedOperators::note(const Node& node, std::int64_t version) {
  if (is_known(node)) return false;
  Found& found = found_[node.domain.empty() ? node.op : node.domain + "." + node.op];
  if (found.count++ == 0) found.example = node.name;
  if (node.domain.empty() && version > kNewestOpset) newer_opset_ = version;
  return true;
}

void UnsupportedOperators::check() const {
  if (found_.empty()) return;
  std::vector<std::string> list;
  for (const auto& [name, found] : found_)
    list.push_back(
        fmt::format("{} ({} node{}, e.g. '{}')", name, found.count, found.count == 1 ? "" : "s", found.example));
  const std::string newer = newer_opset_ == 0
                                ? ""
                                : fmt::format(
                                      "; the model uses operator set {}, and Saccade knows up to {}: export it with "
                                      "an older one",
                                      newer_opset_, kNewestOpset);
  fail(ErrorCode::kUnsupported, "{} not supported: {}{}",
       found_.size() == 1 ? "1 operator is" : fmt::format("{} operators are", found_.size()), fmt::join(list, ", "),
       newer);
}

}  // namespace saccade
