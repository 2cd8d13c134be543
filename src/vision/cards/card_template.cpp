#include "vision/cards/card_template.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "saccade/unrecognised_model.hpp"
#include "vision/cards/card_file.hpp"
#include "vision/cards/recognise.hpp"

namespace saccade {
namespace {

constexpr std::size_t kMostCandidates = 5;

std::string value_lines(const Graph& graph) {
  std::string text;
  const auto list = [&](std::string_view what, std::span<const ValueId> values) {
    for (const ValueId id : values) {
      const Value& value = graph.value(id);
      text += fmt::format("#   {} {}: {} {}\n", what, printable(value.name), to_string(value.type.dtype),
                          value.type.shape.to_string());
    }
  };
  list("input", graph.inputs());
  list("output", graph.outputs());
  return text;
}

/// The section [output] of CARD, with a comment for the labels that it lacks.
std::string output_section(const Card& card) {
  const std::string text = to_toml(card);
  std::string section = text.substr(text.find("\n[output]\n") + 1);
  const Head& head = card.head();
  if (!head.decoder->uses.labels) return section;
  const std::string count = head.classes > 0 ? fmt::format("{} names", head.classes) : "one name per class";
  return section + fmt::format("# labels = [\"first\", \"second\"]  # {}, or a file: \"labels.txt\"\n", count);
}

std::string commented(const std::string& text) {
  std::string lines = "# ";
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    lines += text[i];
    if (text[i] == '\n') lines += "# ";
  }
  return lines + "\n";
}

/// The [output] of a model whose outputs no decoder takes.
std::string unknown_output(const Graph& graph) {
  const std::string name = graph.outputs().empty() ? "" : printable(graph.value(graph.outputs()[0]).name);
  return fmt::format("[output]\n# name = '{}'\n# decoder = \"yolov8\"  # one of {}\n", name, decoder_names());
}

std::string file_of(const std::filesystem::path& model) {
  return printable(model.empty() ? "MODEL.toml" : model.stem().string() + ".toml");
}

}  // namespace

std::string card_template(const Graph& graph, const std::filesystem::path& model) {
  std::vector<Card> candidates = fitting_cards(graph);
  candidates.resize(std::min(candidates.size(), kMostCandidates));
  std::string text =
      fmt::format("# {}: a template to complete (docs/cards.md). The model has\n", file_of(model)) + value_lines(graph);
  Card first = default_card(*find_decoder("yolov8"));
  recognise_input(graph, first);
  first.heads.front().outputs = {"output"};
  if (!candidates.empty()) first = candidates.front();
  const std::string whole = to_toml(first);
  const std::size_t input = whole.find("[input]");
  text += "\n" + whole.substr(input, whole.find("\n[output]\n") - input);
  if (candidates.empty()) return text + "\n# No decoder takes the shapes of these outputs.\n" + unknown_output(graph);
  text += fmt::format("\n# The decoder {} takes outputs of these shapes.\n", first.head().decoder->name) +
          output_section(first);
  for (std::size_t i = 1; i < candidates.size(); ++i)
    text += fmt::format("\n# {} takes them, too:\n", candidates[i].head().decoder->name) +
            commented(output_section(candidates[i]));
  return text;
}

void refuse_unrecognised(const Graph& graph, const std::filesystem::path& model, const std::string& why) {
  throw UnrecognisedModel(
      fmt::format("{}{}the model is not recognised: {}; complete this card, and save it as {} beside the model or pass "
                  "it to --card",
                  model.string(), model.empty() ? "" : ": ", why, file_of(model)),
      card_template(graph, model));
}

}  // namespace saccade
