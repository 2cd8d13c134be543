#include "scene/options.hpp"

#include <gtest/gtest.h>

#include "saccade/error.hpp"
#include "scene/scene.hpp"

namespace saccade {
namespace {

std::string refusal(const std::string& uri) {
  try {
    parse_scene(uri);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << uri;
    return error.what();
  }
  return "accepted";
}

TEST(SceneOptions, EveryOptionIsRead) {
  const SceneOptions options = parse_scene(
      "synthetic:?seed=7&size=1280x720&fps=12.5&objects=24&night=0.5&blur=0.25&noise=1&frames=90&place=desert");

  EXPECT_EQ(options.seed, 7U);
  EXPECT_EQ(options.width, 1280);
  EXPECT_EQ(options.height, 720);
  EXPECT_EQ(options.fps, 12.5);
  EXPECT_EQ(options.objects, 24);
  EXPECT_EQ(options.night, 0.5F);
  EXPECT_EQ(options.blur, 0.25F);
  EXPECT_EQ(options.noise, 1.0F);
  EXPECT_EQ(options.frames, 90);
  EXPECT_EQ(scene_places()[static_cast<std::size_t>(options.place.value())], "desert");
}

TEST(SceneOptions, UnsetOptionsVary) {
  for (const char* uri : {"synthetic:", "synthetic:?"}) {
    const SceneOptions options = parse_scene(uri);
    EXPECT_EQ(options.width, 640) << uri;
    EXPECT_EQ(options.height, 480) << uri;
    EXPECT_EQ(options.frames, -1) << uri;
    EXPECT_FALSE(options.night || options.blur || options.noise || options.place) << uri;
  }
}

TEST(SceneOptions, AUriReadsBack) {
  const std::string uri =
      "synthetic:?seed=18446744073709551615&size=16x8192&fps=29.97&objects=0&frames=5&place=snow&night=0.1&blur=0&"
      "noise=1";
  EXPECT_EQ(to_uri(parse_scene(uri)), uri);
}

TEST(SceneOptions, AnUnknownOptionIsNamedAndTheKnownOnesListed) {
  const std::string message = refusal("synthetic:?sead=7");
  EXPECT_NE(message.find("'sead'"), std::string::npos) << message;
  for (const char* name : {"seed", "size", "fps", "objects", "frames", "place", "night", "blur", "noise"})
    EXPECT_NE(message.find(name), std::string::npos) << name;
}

TEST(SceneOptions, AWrongValueIsNamedWithWhatItMustBe) {
  const std::pair<const char*, const char*> cases[] = {
      {"seed=-1", "integer"},
      {"seed=", "integer"},
      {"size=640", "WIDTHxHEIGHT"},
      {"size=15x16", "16 to 8192"},
      {"size=640x8193", "16 to 8192"},
      {"size=640x480x3", "WIDTHxHEIGHT"},
      {"fps=0", "0.1 to 1000"},
      {"fps=nan", "0.1 to 1000"},
      {"objects=501", "0 to 500"},
      {"objects=1.5", "0 to 500"},
      {"frames=0", "1 to 1000000000"},
      {"place=moon", "street, meadow, desert, snow"},
      {"night=1.01", "from 0 to 1"},
      {"blur=-0.1", "from 0 to 1"},
      {"noise=nan", "from 0 to 1"},
      {"night=0.5;", "from 0 to 1"},
      {"seed", "'seed' is not NAME=VALUE"},
  };
  for (const auto& [item, wanted] : cases) {
    const std::string message = refusal(std::string("synthetic:?") + item);
    EXPECT_NE(message.find(item), std::string::npos) << message;
    EXPECT_NE(message.find(wanted), std::string::npos) << message;
  }
  EXPECT_NE(refusal("synthetic:seed=7").find("synthetic:?NAME=VALUE"), std::string::npos);
  EXPECT_NE(refusal("video.mp4").find("'video.mp4' is not a scene"), std::string::npos);
}

TEST(SceneOptions, ASceneRefusesOptionsOutOfRange) {
  EXPECT_THROW(Scene({.width = 15}), Error);
  EXPECT_THROW(Scene({.objects = -1}), Error);
  EXPECT_THROW(Scene({.fps = 0}), Error);
  EXPECT_THROW(Scene({.place = 4}), Error);
  EXPECT_THROW(Scene({.night = 2.0F}), Error);
}

}  // namespace
}  // namespace saccade
