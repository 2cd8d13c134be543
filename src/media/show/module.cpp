#include <SDL.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "media/show_module.hpp"

namespace saccade::show {
namespace {

constexpr int kWidth = 1280;
constexpr int kHeight = 720;

[[noreturn]] void refuse(const char* reason = SDL_GetError()) {
  fail(ErrorCode::kDevice, "no window can be opened: {}: set DISPLAY or WAYLAND_DISPLAY", reason);
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// Whether SDL draws where people see nothing, though that was not requested: it found no display.
bool is_unseen() {
  const char* driver = SDL_GetCurrentVideoDriver();
  const bool has_screen = driver != nullptr && std::strcmp(driver, "dummy") != 0 &&
                          std::strcmp(driver, "offscreen") != 0 && std::strcmp(driver, "evdev") != 0;
  return !has_screen && SDL_GetHint(SDL_HINT_VIDEODRIVER) == nullptr;
}

/// SDL's video, of the thread that made it.
class Video {
 public:
  Video() {
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // Ctrl-C is the run's
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
    // SDL's Wayland client writes to standard error where there is none.
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") && SDL_GetHint(SDL_HINT_VIDEODRIVER) == nullptr)
      refuse("there is no display");
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) != 0) refuse();
    if (is_unseen()) {
      SDL_QuitSubSystem(SDL_INIT_VIDEO);
      refuse("there is no display");
    }
    SDL_EnableScreenSaver();
  }
  ~Video() { SDL_QuitSubSystem(SDL_INIT_VIDEO); }
  Video(const Video&) = delete;
  Video& operator=(const Video&) = delete;
};

struct Pane {
  SDL_Texture* texture = nullptr;  ///< null: nothing yet
  int width = 0;
  int height = 0;
};

/// The largest rectangle in CELL with the shape of WIDTH x HEIGHT.
SDL_Rect fitted(const SDL_Rect& cell, int width, int height) {
  const double scale = std::min(static_cast<double>(cell.w) / width, static_cast<double>(cell.h) / height);
  const int w = std::max(1, static_cast<int>(width * scale));
  const int h = std::max(1, static_cast<int>(height * scale));
  return {cell.x + (cell.w - w) / 2, cell.y + (cell.h - h) / 2, w, h};
}

class SdlWindow final : public VideoWindow {
 public:
  SdlWindow(const std::string& title, std::size_t panes) : panes_(panes) {
    window_ = SDL_CreateWindow(title.c_str(), SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, kWidth, kHeight,
                               SDL_WINDOW_RESIZABLE);
    if (window_ == nullptr) refuse();
    renderer_ = SDL_CreateRenderer(window_, -1, 0);
    if (renderer_ == nullptr) renderer_ = SDL_CreateRenderer(window_, -1, SDL_RENDERER_SOFTWARE);
    if (renderer_ != nullptr) return;
    SDL_DestroyWindow(window_);
    refuse();
  }
  ~SdlWindow() override {
    SDL_DestroyRenderer(renderer_);  // its textures, too
    SDL_DestroyWindow(window_);
  }
  SdlWindow(const SdlWindow&) = delete;
  SdlWindow& operator=(const SdlWindow&) = delete;

  void set_title(const std::string& title) override { SDL_SetWindowTitle(window_, title.c_str()); }

  void put(std::size_t index, const RgbView& image) override {
    Pane& pane = panes_[index];
    if (pane.texture == nullptr || pane.width != image.width || pane.height != image.height) {
      SDL_DestroyTexture(pane.texture);
      pane = {
          SDL_CreateTexture(renderer_, SDL_PIXELFORMAT_RGB24, SDL_TEXTUREACCESS_STREAMING, image.width, image.height),
          image.width, image.height};
    }
    if (pane.texture == nullptr) return;  // larger than the renderer can show
    SDL_UpdateTexture(pane.texture, nullptr, image.data, image.pitch_bytes);
    is_new_ = true;
  }

  WindowWish serve(std::chrono::milliseconds patience) override {
    if (is_new_) draw();
    WindowWish wish;
    SDL_Event event;
    if (SDL_WaitEventTimeout(&event, static_cast<int>(patience.count())) == 0) return wish;
    do take(event, wish);
    while (SDL_PollEvent(&event) != 0);
    return wish;
  }

 private:
  void take(const SDL_Event& event, WindowWish& wish) {
    switch (event.type) {
      case SDL_QUIT: wish.close = true; break;
      case SDL_WINDOWEVENT: is_new_ = true; break;  // its size, or it was covered
      case SDL_KEYDOWN: {
        const SDL_Keycode key = event.key.keysym.sym;
        if (key == SDLK_q || key == SDLK_ESCAPE) wish.close = true;
        if (key == SDLK_SPACE && event.key.repeat == 0) wish.hold = !wish.hold;
        break;
      }
      default: break;
    }
  }

  /// The columns that show the panes largest: frames are about 16:9.
  int columns_for(int width, int height) const {
    const int count = static_cast<int>(panes_.size());
    int best = 1;
    double largest = 0;
    for (int columns = 1; columns <= count; ++columns) {
      const int rows = (count + columns - 1) / columns;
      const double shown = std::min(static_cast<double>(width) / columns / 16, static_cast<double>(height) / rows / 9);
      if (shown > largest) best = columns;
      largest = std::max(largest, shown);
    }
    return best;
  }

  void draw() {
    int width = 0;
    int height = 0;
    SDL_GetRendererOutputSize(renderer_, &width, &height);
    const int columns = columns_for(width, height);
    const int rows = (static_cast<int>(panes_.size()) + columns - 1) / columns;
    SDL_SetRenderDrawColor(renderer_, 0, 0, 0, SDL_ALPHA_OPAQUE);
    SDL_RenderClear(renderer_);
    for (std::size_t i = 0; i < panes_.size(); ++i) {
      const Pane& pane = panes_[i];
      if (pane.texture == nullptr) continue;
      const int column = static_cast<int>(i) % columns;
      const int row = static_cast<int>(i) / columns;
      const SDL_Rect cell = {width * column / columns, height * row / rows, width / columns, height / rows};
      const SDL_Rect place = fitted(cell, pane.width, pane.height);
      SDL_RenderCopy(renderer_, pane.texture, nullptr, &place);
    }
    SDL_RenderPresent(renderer_);
    is_new_ = false;
  }

  Video video_;
  std::vector<Pane> panes_;
  SDL_Window* window_ = nullptr;
  SDL_Renderer* renderer_ = nullptr;
  bool is_new_ = true;
};

constexpr ShowModule kModule{.open = [](const std::string& title, std::size_t panes) -> std::unique_ptr<VideoWindow> {
  return std::make_unique<SdlWindow>(title, panes);
}};

}  // namespace
}  // namespace saccade::show

extern "C" const saccade::ShowModule* saccade_module_show() { return &saccade::show::kModule; }
