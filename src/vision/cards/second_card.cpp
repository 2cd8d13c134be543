#include "vision/cards/second_card.hpp"

#include "base/beside.hpp"
#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "vision/cards/card_field.hpp"
#include "vision/cards/toml_text.hpp"
#include "vision/tasks.hpp"

namespace saccade {
namespace {

constexpr int kLandmarks = 5;

/// Throws Error about a key of [second] in SAID, naming its line.
template <typename... Args>
[[noreturn]] void reject_second(const CardFile& said, std::string_view key, fmt::format_string<Args...> format,
                                Args&&... args) {
  const auto place = said.places.find(key);
  fail(ErrorCode::kInvalidFile, "{}: '{}' {}", place == said.places.end() ? said.path.string() : place->second, key,
       fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace

void name_second(const Field& field, SecondModel& second) {
  second.model = field.text();
  // Cards are untrusted input.
  const std::optional<std::filesystem::path> file = Beside(field.file).find(second.model);
  if (second.model.empty() || !file)
    field.bad(fmt::format("the name of a file in the card's folder: '{}' is outside of it and refused", second.model));
  std::error_code unknown;  // reading reports the error
  if (!std::filesystem::exists(*file, unknown) && !unknown)
    fail(ErrorCode::kNotFound, "{}:{}: '{}' names {}, which does not exist: put the second model there",
         field.file.string(), field.node.source().begin.line, field.name, file->string());
  note_input(*file);
  second.path = *file;
}

void complete_second(const CardFile& said, Card& card) {
  if (!card.second) return;
  SecondModel& second = *card.second;
  if (!finds_objects(card.task()))
    reject_second(said, "second.model", "needs objects to run on, but the model's task is {}", to_string(card.task()));
  if (second.align == CropAlign::kFivePoints && card.head().keypoints != kLandmarks)
    reject_second(said, "second.align", "is five-points, but the model predicts {} keypoints per object",
                  card.head().keypoints);
  if (second.align == CropAlign::kFivePoints && said.places.contains("second.margin"))
    reject_second(said, "second.margin", "has no effect with align = \"five-points\"");
  try {
    second.class_ids = find_classes(card, second.classes);
  } catch (const Error& error) {
    reject_second(said, "second.classes", "is invalid: {}", error.what());
  }
}

std::string to_toml(const SecondModel& second) {
  std::string text = fmt::format("\n[second]\nmodel = {}\n", toml_text(second.model));
  if (!second.shape.empty()) text += fmt::format("shape = [{}]\n", fmt::join(second.shape, ", "));
  if (!second.classes.empty()) text += fmt::format("classes = {}\n", toml_texts(second.classes));
  if (second.align == CropAlign::kBox) text += fmt::format("margin = {}\n", second.margin);
  return text + fmt::format("most = {}\nalign = \"{}\"\n", second.most,
                            kCropAlignNames[static_cast<std::size_t>(second.align)]);
}

}  // namespace saccade
