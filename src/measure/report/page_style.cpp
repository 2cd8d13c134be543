#include "measure/report/page.hpp"

namespace saccade {

// The palette is Okabe and Ito's (2008), distinguishable with all common forms of colour blindness; it is brightened
// for dark pages. Greys have a contrast of at least 4.5 to 1 for text.
std::string_view page_style() {
  return R"css(:root {
  color-scheme: light dark;
  --page: #ffffff; --panel: #f5f7f9; --ink: #1a1f26; --soft: #566070; --line: #dfe4ea;
  --bar: #a8cfea; --accent: #0072b2; --mark: #a33b00;
  --capture: #cc79a7; --queue: #b4bac4; --pre: #e69f00; --model: #0072b2; --post: #009e73; --other: #7f8a99;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181e; --panel: #1d232b; --ink: #e7ebf0; --soft: #a0abba; --line: #323a45;
    --bar: #2f5f80; --accent: #56b4e9; --mark: #ff9f5f;
    --capture: #d991ba; --queue: #5e6978; --pre: #f0b429; --model: #4aa3df; --post: #2fc49a; --other: #8d98a8;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 3rem; max-width: 820px; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
}
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { margin: 2.75rem 0 0.75rem; padding-bottom: 0.35rem; border-bottom: 1px solid var(--line); font-size: 1.25rem; }
h3 { margin: 0 0 0.6rem; font-size: 0.95rem; }
p { margin: 0.6rem 0; max-width: 44rem; }
.subtitle { margin: 0.4rem 0 0; color: var(--soft); }
.lead { max-width: none; margin: 1.25rem 0; padding: 0.8rem 1rem; border-left: 4px solid var(--accent); background: var(--panel); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.4rem, 1fr)); gap: 0.75rem; margin: 1.5rem 0 0; }
.tile { padding: 0.75rem 0.9rem; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); }
.tile dt { color: var(--soft); font-size: 0.8rem; }
.tile dd { margin: 0; }
.tile .figure { font-size: 1.5rem; font-weight: 650; line-height: 1.3; font-variant-numeric: tabular-nums; }
.tile .note { color: var(--soft); font-size: 0.78rem; line-height: 1.35; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.1rem; margin: 1.25rem 0 0; font-size: 0.88rem; }
a { color: var(--accent); }
figure { margin: 1.5rem 0; }
figcaption, caption { color: var(--soft); font-size: 0.85rem; }
figcaption { margin-top: 0.3rem; }
caption { padding-bottom: 0.4rem; text-align: left; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.32rem 0.6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 500; }
.number { text-align: right; white-space: nowrap; }
.images { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 0.9rem; }
.images figure { margin: 0; }
img { display: block; max-width: 100%; height: auto; border-radius: 6px; }
footer { margin-top: 3rem; color: var(--soft); font-size: 0.8rem; }
.chart { display: block; max-width: 100%; height: auto; overflow: visible; }
.chart text { fill: var(--ink); font-size: 12px; font-family: inherit; }
.chart .tick { fill: var(--soft); font-size: 11px; }
.chart .label { fill: var(--soft); }
.chart .value { font-variant-numeric: tabular-nums; }
.chart .inside { fill: var(--page); font-size: 11px; }
.chart .halo { paint-order: stroke; stroke: var(--page); stroke-width: 3px; stroke-linejoin: round; }
.chart .grid { stroke: var(--line); stroke-width: 1; }
.chart .axis { stroke: var(--soft); stroke-width: 1; }
.chart .bar { fill: var(--bar); }
.chart .bound { fill: var(--accent); }
.chart .track { fill: var(--panel); }
.chart .density { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }
.chart .mark { stroke: var(--mark); stroke-width: 1.25; stroke-dasharray: 4 3; }
.chart .roof { stroke: var(--ink); stroke-width: 1.5; }
.chart .dot { fill-opacity: 0.7; stroke: var(--page); stroke-width: 0.75; }
.chart .s-capture { fill: var(--capture); }
.chart .s-queue { fill: var(--queue); }
.chart .s-pre { fill: var(--pre); }
.chart .s-model { fill: var(--model); }
.chart .s-post { fill: var(--post); }
.chart .s-other { fill: var(--other); }
.narrow { display: none; }
@media (min-width: 1120px) {
  .broad { margin-left: -140px; margin-right: -140px; }
}
@media (max-width: 640px) {
  body { padding: 1.25rem 1rem 2rem; }
  h1 { font-size: 1.4rem; }
  .wide { display: none; }
  .narrow { display: block; }
}
@media print {
  :root { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 11pt; }
  nav { display: none; }
  figure, .tile, tr { break-inside: avoid; }
  .wide { display: block; }
  .narrow { display: none; }
}
)css";
}

}  // namespace saccade
