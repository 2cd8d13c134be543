// Predictions and loads as text.

const kMostRows = 100;

const nameOf = each => each.class || `class ${each.class_id}`;
const percent = ratio => (ratio === null ? "–" : `${Math.round(ratio * 100)} %`);
const number = value => (value === null ? "–" : Number(value.toPrecision(3)).toString());
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** ELEMENT with PROPERTIES and CHILDREN, which are nodes or text. */
function make(element, properties = {}, ...children) {
  const made = Object.assign(document.createElement(element), properties);
  made.append(...children);
  return made;
}

const latency = quantile => (quantile ? `${quantile.isBeyond ? "> " : ""}${duration(quantile.value)}` : "–");

function size(bytes) {
  if (!(bytes >= 0)) return "–";
  return bytes < 1e9 ? `${Math.round(bytes / (1 << 20))} MiB` : `${(bytes / (1 << 30)).toFixed(1)} GiB`;
}

function rate(value) {
  if (value === null) return "–";
  return value >= 100 ? Math.round(value).toString() : value.toFixed(1);
}

/** "3 objects: 2 person, 1 car" */
function countsOf(detections) {
  const counts = new Map();
  for (const each of detections) counts.set(nameOf(each), (counts.get(nameOf(each)) ?? 0) + 1);
  const list = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([name, count]) => `${count} ${name}`);
  if (counts.size > 5) list.push("others");
  return plural(detections.length, "object") + (list.length ? `: ${list.join(", ")}` : "");
}

/** One line about PREDICTION. */
function summaryOf(prediction, minConfidence) {
  const parts = [];
  if (prediction.invalid) parts.push("The model's numbers are not valid");
  if (prediction.detections) parts.push(countsOf(prediction.detections.filter(each => each.confidence >= minConfidence)));
  const best = prediction.classes?.[0];
  if (best) parts.push(`${nameOf(best)}, ${percent(best.confidence)}`);
  if (prediction.segments) parts.push(plural(prediction.segments.length, "segment"));
  if (prediction.depth) parts.push(`Depth from ${number(prediction.depth.min)} to ${number(prediction.depth.max)}`);
  if (prediction.image) parts.push(`An image of ${prediction.image.width} x ${prediction.image.height}`);
  if (prediction.embedding) parts.push(`A vector of ${plural(prediction.embedding.length, "number")}`);
  if (prediction.text !== undefined) parts.push(`“${prediction.text}”, ${percent(prediction.text_confidence)}`);
  return parts.join(". ");
}

function bar(ratio) {
  const inside = make("i");
  inside.style.width = `${Math.max(0, Math.min(1, ratio)) * 100}%`;
  const made = make("span", { className: "bar" }, inside);
  made.setAttribute("aria-hidden", "true");
  return made;
}

/** A table of ROWS: {id, name, note, ratio, text}; VALUE is the title of the numbers. */
function table(title, value, rows) {
  const body = make("tbody");
  for (const row of rows.slice(0, kMostRows)) {
    const swatch = make("span", { className: "swatch" });
    swatch.style.background = colorOf(row.id);
    const name = make("td", {}, swatch, row.name);
    if (row.note) name.append(make("span", { className: "soft", textContent: ` ${row.note}` }));
    body.append(make("tr", {}, name, make("td", { className: "number" }, bar(row.ratio), make("span", { textContent: row.text }))));
  }
  const head = make("tr", {}, make("th", { scope: "col", textContent: title }),
                    make("th", { scope: "col", className: "number", textContent: value }));
  const made = [make("table", {}, make("thead", {}, head), body)];
  if (rows.length > kMostRows) made.push(make("p", { className: "soft", textContent: `and ${rows.length - kMostRows} more` }));
  return made;
}

const confidenceRow = each =>
  ({ id: each.class_id, name: nameOf(each), note: noteOf(each), ratio: each.confidence, text: percent(each.confidence) });

/** What else is known of an object. */
function noteOf(detection) {
  const notes = [];
  if (detection.classes?.length) notes.push(`${nameOf(detection.classes[0])} ${percent(detection.classes[0].confidence)}`);
  if (detection.text) notes.push(`“${detection.text}”`);
  return notes.join(", ");
}

/** Nodes that list PREDICTION. */
function listOf(prediction, minConfidence) {
  const nodes = [];
  const detections = (prediction.detections ?? []).filter(each => each.confidence >= minConfidence);
  if (detections.length) nodes.push(...table("Object", "Confidence", detections.map(confidenceRow)));
  if (prediction.classes?.length) nodes.push(...table("Class", "Confidence", prediction.classes.map(confidenceRow)));
  if (prediction.segments?.length) {
    const all = prediction.width * prediction.height;
    const rows = prediction.segments.map(each => ({ id: each.class_id, name: nameOf(each), ratio: each.pixels / all,
                                                    text: `${(each.pixels / all * 100).toFixed(1)} %` }));
    nodes.push(...table("Segment", "Share of the image", rows));
  }
  return nodes;
}

/** A list of STATS: [term, value, whether it is bad]. */
function statsOf(stats) {
  return stats.map(([term, value, isBad]) => make("div", { className: isBad ? "bad" : "" }, make("dt", { textContent: term }),
                                                  make("dd", { textContent: value, title: value })));
}

function curveOf(points) {
  const svgOf = name => document.createElementNS("http://www.w3.org/2000/svg", name);
  const svg = svgOf("svg"), line = svgOf("polyline");
  svg.setAttribute("viewBox", "0 0 100 34");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const most = Math.max(1, ...points.map(([, value]) => value));
  line.setAttribute("points", points.map(([ago, value]) => `${(100 - ago / kShown * 100).toFixed(2)},${(33 - value / most * 32).toFixed(2)}`).join(" "));
  svg.append(line);
  return svg;
}

/** What became of all requests; outcomes without requests are omitted. */
function ledgerText({ outcomes, waiting }) {
  const counts = Object.entries({ ...outcomes, waiting }).filter(([, count]) => count > 0);
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  return `${all} requests` + (all > 0 ? ": " + counts.map(([outcome, count]) => `${count} ${outcome}`).join(", ") : "");
}

/** The card of the model NAME with its LOAD, null if there is none yet. */
function modelCard({ name, task, isLoaded }, load, points) {
  const state = isLoaded ? task ?? "tensors only" : "not loaded";
  const card = make("article", { className: "card model" },
                    make("header", {}, make("h3", { textContent: name }), make("span", { textContent: state })));
  if (!isLoaded || !load) return card;
  if (points.length > 1) card.append(curveOf(points));
  card.append(make("dl", { className: "stats" }, ...statsOf([
    ["requests/s", rate(load.rate)], ["p50", latency(load.p50)], ["p99", latency(load.p99)],
    ["waiting", load.waiting.toString()], ["batch", load.batch === null ? "–" : load.batch.toFixed(1)],
    ["failed / refused", `${load.outcomes.failed} / ${load.outcomes.refused}`, load.outcomes.failed + load.outcomes.refused > 0],
  ])), make("p", { className: "soft ledger", textContent: ledgerText(load) }));
  return card;
}

/** What HISTORY says about the machine. */
function machineStats(history) {
  const { machine, gpus } = history.last;
  const stats = [["processors", history.processors === null ? "–" : history.processors.toFixed(1)],
                 ["memory", size(machine.process_resident_memory_bytes)], ["threads", String(machine.process_threads ?? "–")]];
  for (const [number, gpu] of gpus) {
    const watts = gpu.saccade_gpu_power_watts;
    stats.push([`GPU ${number}`, percent(gpu.saccade_gpu_use_ratio ?? null)],
               [`memory of GPU ${number}`, size(gpu.saccade_gpu_memory_bytes)],
               [`power of GPU ${number}`, watts >= 0 ? `${Math.round(watts)} W` : "–"]);
  }
  return stats;
}
