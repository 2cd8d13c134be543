#include "measure/demo/demo.hpp"

#include <fmt/format.h>

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
  print_report("{} frames of {} and their ground truth, {}, are in {}\n", count, request.source,
               request.is_mot ? "gt/gt.txt" : "instances.json", request.output);
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
  print_result(
      flags.common.json, [&] { return to_json(result); },
      [&] {
        return report_text("{}\nin {}: report.html to look at, video.mp4, results.jsonl\n",
                           to_text(result, locale_is_utf8()), flags.output);
      });
  return kOk;
}

}  // namespace

Action add_demo(FlagBinder& binder) {
  const auto flags = std::make_shared<DemoFlags>();
  binder.bind("--source", &flags->demo.scene);
  binder.bind("--model", &flags->demo.model);
  binder.bind("--duration", &flags->seconds);
  binder.bind("--max-frames", &flags->demo.frames);
  binder.bind("--condition-frames", &flags->demo.condition_frames);
  binder.bind("--output", &flags->output);
  binder.bind("--render", &flags->render.frames);
  binder.bind("--format", &flags->render.format);
  binder.bind_choice("--layout", flags->render.is_mot, {{"coco", false}, {"mot", true}});
  binder.bind("--depth", &flags->render.depth_step);
  flags->common.bind(binder);
  return {.run = [flags] { return flags->render.frames > 0 ? render(*flags) : run(*flags); },
          .check =
              [flags] {
                if (flags->render.is_mot && flags->render.depth_step > 0)
                  throw UsageError("--depth", "MOTChallenge's layout has no depth: use --layout coco");
              }};
}

}  // namespace saccade::app
