#include "measure/report/page.hpp"

#include <fmt/format.h>

#include "measure/report/markup.hpp"
#include "saccade/version.hpp"

namespace saccade {
namespace {

std::string element(std::string_view name, std::string_view text, std::string_view style = {}) {
  if (text.empty()) return {};
  const std::string attribute = style.empty() ? std::string() : fmt::format(R"( class="{}")", style);
  return fmt::format("<{0}{1}>{2}</{0}>\n", name, attribute, escape_markup(text));
}

std::string cell(std::string_view name, std::string_view scope, const Table::Column& column, std::string_view text) {
  return fmt::format("<{0}{1}{2}>{3}</{0}>", name, scope, column.is_number ? R"( class="number")" : "",
                     escape_markup(text));
}

/// Whether a table is wider than the text column.
bool is_broad(const Table& table) {
  constexpr std::size_t kColumn = 100;
  return line_width(table) > kColumn;
}

}  // namespace

Page::Page(std::string_view title, std::string_view subtitle) : title_(title), subtitle_(subtitle) {}

void Page::tile(const Tile& tile) {
  tiles_ += fmt::format("<div class=\"tile\">\n<dt>{}</dt>\n<dd class=\"figure\">{}</dd>\n", escape_markup(tile.label),
                        escape_markup(tile.value));
  tiles_ += element("dd", tile.note, "note") + "</div>\n";
}

void Page::lead(std::string_view sentence) { lead_ += element("p", sentence, "lead"); }

void Page::end_section() {
  if (sections_ > 0) body_ += "</section>\n";
}

void Page::section(std::string_view heading) {
  end_section();
  ++sections_;
  body_ += fmt::format("<section id=\"section-{}\">\n", sections_) + element("h2", heading);
  links_ += fmt::format("<a href=\"#section-{}\">{}</a>\n", sections_, escape_markup(heading));
}

void Page::text(std::string_view paragraph) { body_ += element("p", paragraph); }

void Page::table(const Table& table) {
  body_ += fmt::format(R"(<div class="scroll{}" role="region" tabindex="0" aria-label="{}">)"
                       "<table>\n{}<thead><tr>",
                       is_broad(table) ? " broad" : "", escape_markup(table.caption.empty() ? "table" : table.caption),
                       element("caption", table.caption));
  for (const Table::Column& column : table.columns) body_ += cell("th", R"( scope="col")", column, column.title);
  body_ += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    body_ += "<tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const std::string_view text = i < row.size() ? std::string_view(row[i]) : std::string_view();
      body_ += i == 0 ? cell("th", R"( scope="row")", table.columns[i], text) : cell("td", "", table.columns[i], text);
    }
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

void Page::images(const std::vector<PageImage>& images) {
  body_ += "<div class=\"images\">\n";
  for (const PageImage& image : images)
    body_ += fmt::format("<figure><img alt=\"{}\" src=\"data:{};base64,{}\">\n{}</figure>\n",
                         escape_markup(image.description), escape_markup(image.media_type), base64(image.bytes),
                         element("figcaption", image.caption));
  body_ += "</div>\n";
}

void Page::figure(std::string_view title, std::string_view wide, std::string_view narrow, std::string_view caption) {
  body_ += "<figure>\n" + element("h3", title);
  body_ += fmt::format("<div class=\"wide\">{}</div>\n<div class=\"narrow\">{}</div>\n", wide, narrow);
  body_ += element("figcaption", caption) + "</figure>\n";
}

std::string Page::html() const {
  std::string text = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  text += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  text += fmt::format("<meta name=\"generator\" content=\"Saccade {}\">\n", escape_markup(version()));
  text += element("title", title_) + fmt::format("<style>\n{}</style>\n</head>\n<body>\n", page_style());
  text += "<header>\n" + element("h1", title_) + element("p", subtitle_, "subtitle") + "</header>\n<main>\n";
  if (!tiles_.empty()) text += fmt::format("<dl class=\"tiles\">\n{}</dl>\n", tiles_);
  text += lead_;
  if (sections_ > 1) text += fmt::format("<nav aria-label=\"Sections\">\n{}</nav>\n", links_);
  text += body_ + (sections_ > 0 ? "</section>\n" : "");
  text += fmt::format("</main>\n<footer>Saccade {}</footer>\n</body>\n</html>\n", escape_markup(version()));
  return text;
}

}  // namespace saccade
