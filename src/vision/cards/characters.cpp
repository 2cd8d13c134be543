#include "vision/cards/characters.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "vision/cards/recognise.hpp"

namespace saccade {

std::vector<std::string> metadata_characters(const Graph& graph) {
  const auto found = graph.metadata.find("character");
  std::vector<std::string> characters;
  if (found == graph.metadata.end()) return characters;
  for (std::string_view rest = found->second; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    characters.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return characters;
}

void complete_characters(const Graph& graph, Head& head) {
  const bool is_own = !head.characters.empty();
  if (!is_own) head.characters = metadata_characters(graph);
  const Shape& shape = graph.value(find_value(graph, graph.outputs(), head.outputs.front())).type.shape;
  const std::int64_t classes = shape.back();
  if (!are_characters_of(classes, head.characters.size()))
    fail(ErrorCode::kInvalidFile,
         "{} {} characters, but the output '{}' has {} classes: it needs {}, or {} if the last class is the space; set "
         "'output.characters' to the model's own list",
         is_own ? "'output.characters' has" : "the model's metadata has", head.characters.size(), head.outputs.front(),
         classes, classes - 1, classes - 2);
  if (static_cast<std::int64_t>(head.characters.size()) == classes - 2) head.characters.emplace_back(" ");
}

}  // namespace saccade
