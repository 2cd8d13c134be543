#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "saccade/saccade.hpp"

namespace saccade {
namespace {

/// The names of the first COUNT values of an enumeration.
template <typename Enum>
std::vector<std::string> names_of(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.emplace_back(to_string(static_cast<Enum>(i)));
  return names;
}

using NamesOf = std::vector<std::string> (*)(std::size_t);
const std::map<std::string, NamesOf> kPublicEnums = {
    {"ColorMatrix", names_of<ColorMatrix>},
    {"ColorRange", names_of<ColorRange>},
    {"DType", names_of<DType>},
    {"Decoding", names_of<Decoding>},
    {"DepthKind", names_of<DepthKind>},
    {"DropPolicy", names_of<DropPolicy>},
    {"ErrorCode", names_of<ErrorCode>},
    {"Fault", names_of<Fault>},
    {"Isa", names_of<Isa>},
    {"Kind", names_of<Device::Kind>},
    {"LogLevel", names_of<LogLevel>},
    {"MemoryKind", names_of<MemoryKind>},
    {"Nms", names_of<Nms>},
    {"PixelFormat", names_of<PixelFormat>},
    {"Precision", names_of<Precision>},
    {"Status", names_of<Status>},
    {"StreamState", names_of<StreamState>},
    {"Task", names_of<Task>},
    {"TileMerge", names_of<TileMerge>},
    {"TrackerKind", names_of<TrackerKind>},
    {"ZoneAnchor", names_of<ZoneAnchor>},
    {"ZoneEventKind", names_of<ZoneEventKind>},
    {"ZoneKind", names_of<ZoneKind>},
    {"ZoneUnits", names_of<ZoneUnits>},
};

/// The enumerations that the public headers define, with their numbers of enumerators.
std::map<std::string, std::size_t> enums_of_headers() {
  const std::regex definition(R"(enum class (\w+)[^;{]*\{([^}]*)\})");
  const std::regex comment("//[^\n]*");
  const std::regex enumerator(R"(\bk\w+)");
  std::map<std::string, std::size_t> found;
  for (const auto& entry : std::filesystem::directory_iterator(SACCADE_SOURCE "/include/saccade")) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string code = std::regex_replace(text.str(), comment, "");
    for (std::sregex_iterator it(code.begin(), code.end(), definition), end; it != end; ++it) {
      const std::string body = (*it)[2];
      found[(*it)[1]] = static_cast<std::size_t>(
          std::distance(std::sregex_iterator(body.begin(), body.end(), enumerator), std::sregex_iterator()));
    }
  }
  return found;
}

TEST(EnumNames, EveryValueOfEveryPublicEnumerationHasItsOwn) {
  const auto enums = enums_of_headers();
  EXPECT_EQ(enums.size(), kPublicEnums.size());
  for (const auto& [name, count] : enums) {
    SCOPED_TRACE(name);
    const auto found = kPublicEnums.find(name);
    ASSERT_NE(found, kPublicEnums.end()) << "needs to_string(), and its line in this test";
    ASSERT_GT(count, 1U);
    const std::vector<std::string> names = found->second(count);
    EXPECT_EQ(std::set(names.begin(), names.end()).size(), count);
    for (const std::string& each : names) {
      EXPECT_FALSE(each.empty());
      EXPECT_NE(each, "unknown");
    }
  }
}

TEST(EnumNames, AreUnknownOutside) {
  EXPECT_EQ(to_string(static_cast<Status>(8)), "unknown");
  EXPECT_EQ(to_string(static_cast<Task>(200)), "unknown");
}

TEST(EnumNames, AreTheNamesOfFlags) {
  EXPECT_EQ(to_string(Decoding::kCuda), "cuda");
  EXPECT_EQ(to_string(DropPolicy::kNewest), "newest");
  EXPECT_EQ(to_string(ErrorCode::kInternal), "internal");
  EXPECT_EQ(to_string(MemoryKind::kDmabuf), "dmabuf");
}

}  // namespace
}  // namespace saccade
