#include "measure/demo/demo.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/output_file.hpp"
#include "command.hpp"
#include "common.hpp"
#include "demo_render.hpp"
#include "interrupt.hpp"
#include "measure/demo/demo_report.hpp"
#include "measure/report/terminal_histogram.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

struct DemoFlags {
  CommonFlags common;
  DemoOptions demo;
  RenderRequest render;
  double seconds = 10;
  std::string output = "saccade-demo";
};

int render(const DemoFlags& flags) {
  RenderRequest request = flags.render;
  request.source = flags.demo.scene;
  request.output = flags.output;
  const std::int64_t count = render_frames(request);
  print_report("{} frames of {} and their ground truth, instances.json, are in {}\n", count, request.source,
               request.output);
  return kOk;
}

int run(const DemoFlags& flags) {
  DemoOptions options = flags.demo;
  options.output = flags.output;
  options.model_options = flags.common.model;
  options.duration = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(flags.seconds));
  StatusLine status;
  const DemoResult result =
      run_demo(options, {.say = [&status](const std::string& what) { status.say(what); }, .stop = interrupted});
  status.finish();
  OutputFile report((options.output / "report.html").string());
  report.write(to_page(result, options.output).html());
  report.close();
  if (flags.common.json) {
    print_json(to_json(result));
  } else {
    print_report(report_text("{}\nin {}: report.html to look at, video.mp4, results.jsonl\n",
                             to_text(result, locale_is_utf8()), flags.output));
  }
  return kOk;
}

}  // namespace

std::function<int()> add_demo(CLI::App& app) {
  const auto flags = std::make_shared<DemoFlags>();
  app.add_option("--source", flags->demo.scene, "The scene; the bundled model was trained on the seeds 1000 to 2199")
      ->capture_default_str()
      ->type_name("synthetic:?...");
  auto* model = app.add_option("--model", flags->demo.model,
                               "A model that detects the scene's objects (default: the bundled one)")
                    ->type_name("MODEL");
  auto* seconds = app.add_option("--seconds", flags->seconds, "Duration of the run")
                      ->capture_default_str()
                      ->check(number(1e-3, 1e6))
                      ->type_name("S");
  auto* frames = app.add_option("--frames", flags->demo.frames, "Maximum number of frames (default: no limit)")
                     ->transform(whole(std::int64_t{1}))
                     ->type_name("N");
  auto* conditions = app.add_option("--condition-frames", flags->demo.condition_frames,
                                    "Frames per condition (day, night, motion, both) for the accuracy; 0: none")
                         ->capture_default_str()
                         ->transform(whole(0, 1'000'000))
                         ->type_name("N");
  app.add_option("--output", flags->output, "Output folder")->capture_default_str()->type_name("DIR");
  auto* render_frames = app.add_option("--render", flags->render.frames,
                                       "Only render N frames of the scene as images, with ground truth in COCO format")
                            ->transform(whole(std::int64_t{1}, std::int64_t{1'000'000}))
                            ->excludes(model)
                            ->excludes(seconds)
                            ->excludes(frames)
                            ->excludes(conditions)
                            ->type_name("N");
  app.add_option("--format", flags->render.format, "Image format of --render; JPEG quality is 90")
      ->capture_default_str()
      ->check(CLI::IsMember({"png", "jpg"}).description(""))
      ->needs(render_frames)
      ->type_name("png|jpg");
  app.add_option("--depth", flags->render.depth_step,
                 "With --render: also write depth/NAME.npy in metres, one value per STEP x STEP pixels; 1: every pixel")
      ->transform(whole(1, 64))
      ->needs(render_frames)
      ->type_name("STEP");
  flags->common.add_to(app, false);
  app.footer("Ctrl-C ends the run in order and reports what was measured so far.");
  return [flags] { return flags->render.frames > 0 ? render(*flags) : run(*flags); };
}

}  // namespace saccade::app
