#include "validate/data/heads.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "pipeline/model/model_impl.hpp"

namespace saccade {

const Head* find_head(const Model& model, std::initializer_list<Task> tasks) {
  for (const Head& head : impl_of(model).card().heads)
    if (std::ranges::find(tasks, head.decoder->task) != tasks.end()) return &head;
  return nullptr;
}

const Head& need_head(const Model& model, std::initializer_list<Task> tasks, const char* kind, const char* what) {
  const Head* head = find_head(model, tasks);
  if (head == nullptr)
    fail(ErrorCode::kInvalidArgument, "{} predicts no {} (its task is {}), but {} evaluates nothing else", model.name(),
         what, to_string(model.task()), kind);
  return *head;
}

}  // namespace saccade
