#pragma once

#include <map>
#include <regex>
#include <string>
#include <vector>

namespace saccade::test {

/// The attributes of every <ELEMENT class="STYLE"> in SVG, in the order of the text.
inline std::vector<std::map<std::string, std::string>> shapes(const std::string& svg, const std::string& element,
                                                              const std::string& style) {
  std::vector<std::map<std::string, std::string>> found;
  const std::regex tag("<" + element + "((?: [a-z0-9-]+=\"[^\"]*\")*)");
  const std::regex attribute("([a-z0-9-]+)=\"([^\"]*)\"");
  for (std::sregex_iterator it(svg.begin(), svg.end(), tag), end; it != end; ++it) {
    const std::string text = (*it)[1];
    std::map<std::string, std::string> attributes;
    for (std::sregex_iterator at(text.begin(), text.end(), attribute); at != end; ++at) attributes[(*at)[1]] = (*at)[2];
    if (attributes["class"] == style) found.push_back(attributes);
  }
  return found;
}

inline double number(const std::map<std::string, std::string>& shape, const std::string& attribute) {
  return std::stod(shape.at(attribute));
}

}  // namespace saccade::test
