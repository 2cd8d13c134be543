#include "pipeline/model/second_model.hpp"

#include "base/error.hpp"
#include "pipeline/model/model_impl.hpp"

namespace saccade {
namespace {

constexpr std::string_view kSecondTasks = "embed, classify or text";

bool fits_objects(Task task) { return task == Task::kEmbed || task == Task::kClassify || task == Task::kText; }

/// OPTIONS that concern the computation, not the first model's inputs and predictions.
ModelOptions options_for_second(const SecondModel& second, const ModelOptions& options) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  if (!second.shape.empty()) shapes[""].assign(second.shape.begin(), second.shape.end());
  return {.device = options.device,
          .precision = options.precision,
          .fallback = options.fallback,
          .graph = options.graph,
          .threads = options.threads,
          .max_memory = options.max_memory,
          .shapes = std::move(shapes),
          .disabled_passes = options.disabled_passes,
          .only_passes = options.only_passes,
          .post = {.top_k = options.post.top_k}};
}

void check_second(const std::string& path, const Card& card) {
  if (card.second)
    fail(ErrorCode::kUnsupported,
         "the second model {} has a second model of its own, {}: remove [second] from its card", path,
         card.second->model);
  if (card.heads.size() > 1 || !fits_objects(card.task()))
    fail(ErrorCode::kUnsupported, "the second model {} {}, but one on objects must do only {}", path,
         card.heads.size() > 1 ? fmt::format("has {} outputs to decode", card.heads.size())
                               : fmt::format("is for the task {}", to_string(card.task())),
         kSecondTasks);
  if (card.roi)
    fail(ErrorCode::kUnsupported,
         "the second model {} has a region of interest, but it runs on crops: remove "
         "'input.roi' from its card",
         path);
}

}  // namespace

Model load_second(const SecondModel& second, const ModelOptions& options) {
  const std::string path = second.path.string();
  Model model = Model::load(path, options_for_second(second, options));
  if (!impl_of(model).is_recognised())
    fail(ErrorCode::kUnsupported,
         "the second model {} is not recognised: give it a card, which `saccade inspect {} --write-card` prepares",
         path, path);
  check_second(path, impl_of(model).card());
  return model;
}

}  // namespace saccade
