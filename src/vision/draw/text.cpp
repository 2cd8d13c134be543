#include "draw/text.hpp"

#include <algorithm>
#include <cmath>

#include "base/printable.hpp"

namespace saccade {
namespace {

constexpr int kMaxTextWidth = 4096;  // pixels: a longer line is truncated

}  // namespace

void TextRenderer::reserve(int width, int height) {
  const bool fits = surface_ != nullptr && cairo_status(context_.get()) == CAIRO_STATUS_SUCCESS &&
                    cairo_image_surface_get_width(surface_.get()) >= width &&
                    cairo_image_surface_get_height(surface_.get()) >= height;
  if (fits) return;
  context_.reset();
  surface_.reset(cairo_image_surface_create(CAIRO_FORMAT_A8, width, height));
  context_.reset(cairo_create(surface_.get()));
  cairo_select_font_face(context_.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
}

bool TextRenderer::try_render(int size, Coverage& coverage) {
  constexpr int kFirstWidth = 256;
  reserve(kFirstWidth, 2 * size);
  cairo_text_extents_t line;
  cairo_font_extents_t font;
  cairo_set_font_size(context_.get(), size);
  cairo_text_extents(context_.get(), text_.c_str(), &line);
  cairo_font_extents(context_.get(), &font);
  if (cairo_status(context_.get()) != CAIRO_STATUS_SUCCESS) return false;
  const int width = std::clamp(static_cast<int>(std::ceil(line.x_advance)), 1, kMaxTextWidth);
  const int height = std::clamp(static_cast<int>(std::ceil(font.ascent + font.descent)), 1, 4 * size);
  reserve(width, height);
  cairo_t* to = context_.get();
  cairo_set_font_size(to, size);
  cairo_set_operator(to, CAIRO_OPERATOR_CLEAR);
  cairo_paint(to);
  cairo_set_operator(to, CAIRO_OPERATOR_OVER);
  cairo_set_source_rgba(to, 0, 0, 0, 1);
  cairo_move_to(to, 0, std::ceil(font.ascent));
  cairo_show_text(to, text_.c_str());
  cairo_surface_flush(surface_.get());
  coverage = {cairo_image_surface_get_data(surface_.get()), cairo_image_surface_get_stride(surface_.get()), width,
              height};
  return cairo_status(to) == CAIRO_STATUS_SUCCESS && coverage.data != nullptr;
}

Coverage TextRenderer::render(std::string_view text, int size) {
  text_.clear();
  append_printable(text_, text);
  Coverage coverage;
  if (try_render(size, coverage)) return coverage;
  // Invalid UTF-8 leaves a cairo context in an error state: a new one renders the ASCII characters.
  for (char& c : text_)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return try_render(size, coverage) ? coverage : Coverage{};
}

}  // namespace saccade
