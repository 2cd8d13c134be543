#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "demo_render.hpp"

namespace saccade::app {

std::function<int()> add_demo(CLI::App& app) {
  const auto request = std::make_shared<RenderRequest>();
  app.add_option("--render", request->frames, "Write so many frames of the scene as pictures, with COCO truth")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}).description(""))
      ->type_name("N");
  app.add_option("--output", request->output, "The folder to write into")->type_name("DIR");
  app.add_option("--source", request->source, "The scene")->capture_default_str()->type_name("synthetic:?...");
  app.add_option("--format", request->format, "The pictures' format; JPEG's quality is 90")
      ->capture_default_str()
      ->check(CLI::IsMember({"png", "jpg"}).description(""))
      ->type_name("png|jpg");
  app.callback([request] {
    if (request->frames == 0 || request->output.empty())
      throw CLI::ValidationError("demo", "give --render N --output DIR");
  });
  return [request] {
    const std::int64_t count = render_frames(*request);
    fmt::print("{} frames of {} and their truth, instances.json, are in {}\n", count, request->source, request->output);
    return kOk;
  };
}

}  // namespace saccade::app
