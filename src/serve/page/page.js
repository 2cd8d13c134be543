// The parts of the page at work.

const kPeriod = 2000;       // of the metrics, ms
const kModelPeriods = 5;    // of the list of models, in periods of the metrics
const kDrawnByServer = ["semantic", "depth", "upscale"];  // what the JSON has no pixels of

let models = [];            // {name, isLoaded, task}: task is undefined if it makes no predictions
let current = null;         // {image, file, prediction, isDrawn}
let running = null;         // AbortController of the request for a file
const history_ = new History();

const minConfidence = () => Number($("confidence").value) / 100;
const chosen = () => models.find(model => model.name === $("model").value);

function setError(id, error) {
  const message = error ? error.message[0].toUpperCase() + error.message.slice(1) : "";
  if ($(id).textContent !== message) $(id).textContent = message;
  $(id).hidden = !error;
}

// The image and its predictions.

/** Shows, and returns, the summary of the predictions on the page; that a model runs is over. */
function showSummary() {
  const summary = current?.prediction ? summaryOf(current.prediction, minConfidence()) : "";
  if ($("summary").textContent !== summary) $("summary").textContent = summary;
  return summary;
}

function render() {
  if (!current) return;
  const { image, prediction, isDrawn } = current;
  $("hint").hidden = true;
  $("drop").classList.add("full");
  $("view").hidden = false;
  const room = { width: $("drop").clientWidth, height: Math.max(240, innerHeight * 0.7) };
  show($("view"), image, isDrawn ? null : prediction, minConfidence(), room);
  const summary = showSummary();
  $("view").setAttribute("aria-label", prediction ? `The image: ${summary}` : "The image");
  $("results").replaceChildren(...(prediction ? listOf(prediction, minConfidence()) : []));
  $("confidence-field").hidden = Boolean(prediction) && !prediction.detections;
  $("json").hidden = !prediction;
  if (prediction && $("json").open) $("json").querySelector("pre").textContent = JSON.stringify(prediction, null, 2);
}

function clearPrediction() {
  if (current) Object.assign(current, { prediction: null, isDrawn: false });
  $("times").textContent = "";
  render();
}

/** What the chosen model makes of FILE: {prediction, drawn, elapsed}. */
async function predict(file, signal) {
  const model = chosen();
  if (!model) throw new Error("There is no model that makes predictions from images.");
  const path = `predict/${encodeURIComponent(model.name)}`;
  const options = { method: "POST", body: file, signal, type: file.type || "application/octet-stream" };
  const start = performance.now();
  const prediction = await (await request(path, options)).json();
  const elapsed = performance.now() - start;
  const isDrawn = kDrawnByServer.includes(prediction.task);
  const drawn = isDrawn ? await createImageBitmap(await (await request(`${path}?draw=1`, options)).blob()) : null;
  return { prediction, drawn, elapsed };
}

function setResult(image, file, { prediction, drawn, elapsed }, more = "") {
  current = { image: drawn ?? image, file, prediction, isDrawn: drawn !== null };
  const { pre, model, post } = prediction.latency_ms;
  $("times").textContent = `${duration(elapsed / 1000)} with the network; the server's pre ${duration(pre / 1000)}, model ` +
    `${duration(model / 1000)}, post ${duration(post / 1000)}${more}`;
  render();
}

async function tryFile(file) {
  stopCamera();
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  setError("error", null);
  $("summary").textContent = "The model runs.";
  let image = null;
  try {
    // A file that the browser can't show may still be one for the server, which says what is wrong with it.
    image = await createImageBitmap(file).catch(() => null);
    const result = await predict(file, signal);
    if (signal.aborted) return;
    setResult(image ?? new OffscreenCanvas(result.prediction.width, result.prediction.height), file, result);
  } catch (error) {
    if (signal.aborted) return;
    current = image ? { image, file, prediction: null, isDrawn: false } : null;
    $("summary").textContent = "";
    if (!current) hideImage();
    clearPrediction();
    setError("error", error);
  }
}

function hideImage() {
  $("view").hidden = true;
  $("hint").hidden = false;
  $("drop").classList.remove("full");
  $("results").replaceChildren();
  $("json").hidden = true;
}

// Models and their load.

/** An entry of the repository's index with the task of its model. */
async function describe({ name, state }) {
  const model = { name, isLoaded: state === "READY" };
  if (!model.isLoaded) return model;
  try {
    const metadata = await (await request(`v2/models/${encodeURIComponent(name)}`)).json();
    model.task = metadata.parameters?.task;
  } catch (error) {
    if (error.status !== 404) throw error;
    model.isLoaded = false;  // it was unloaded meanwhile
  }
  return model;
}

async function loadModels() {
  const entries = await (await request("v2/repository/index", { method: "POST" })).json();
  models = await Promise.all(entries.map(describe));
  const usable = models.filter(model => model.task);
  const select = $("model"), before = select.value;
  const options = usable.map(({ name, task }) => make("option", { value: name, textContent: `${name} (${task})` }));
  if (options.length === 0) options.push(make("option", { value: "", textContent: "no model takes images" }));
  // An open list would close.
  const textOf = list => [...list].map(option => option.textContent).join("\n");
  if (textOf(options) === textOf(select.options)) return;
  select.replaceChildren(...options);
  if (usable.some(model => model.name === before)) select.value = before;
  select.disabled = usable.length === 0;
}

function renderLoad() {
  const cards = models.map(model => modelCard(model, history_.of(model.name), history_.curve(model.name)));
  $("models").replaceChildren(...cards);
  $("machine").replaceChildren(...statsOf(machineStats(history_)));
  $("machine").hidden = $("load-note").hidden = false;
}

function setConnection(text, isOff = false) {
  if ($("connection").textContent !== text) $("connection").textContent = text;
  $("connection").classList.toggle("off", isOff);
}

let timer = 0;
let updates = 0;
async function update() {
  clearTimeout(timer);
  try {
    if (!document.hidden) {
      const text = await (await request("metrics")).text();
      history_.add(momentOf(parseMetrics(text), performance.now()));
      if (updates++ % kModelPeriods === 0) await loadModels();
      renderLoad();
      setConnection(`${plural(models.filter(model => model.isLoaded).length, "model")} served`);
      setError("load-error", null);
    }
  } catch (error) {
    if (error.status === 401) return setConnection("a token is needed", true);  // its event continues
    setConnection(error.status === 0 ? "no connection" : "no metrics", true);
    setError("load-error", error);
  }
  clearTimeout(timer);
  timer = setTimeout(update, kPeriod);
}

// What people do.

const isImage = file => file && (file.type.startsWith("image/") || file.type === "");
const firstFile = transfer => [...transfer?.files ?? []].find(isImage) ?? transfer?.files?.[0];

$("file").addEventListener("change", event => {
  const file = event.target.files[0];
  if (file) tryFile(file);
  event.target.value = "";  // the same file again is a change, too
});
$("camera").addEventListener("click", () => (camera ? stopCamera() : startCamera()));
$("confidence").addEventListener("input", () => {
  $("confidence-value").textContent = percent(minConfidence());
  render();
});
$("model").addEventListener("change", () => {
  if (!camera && current?.file) tryFile(current.file);
});
$("json").addEventListener("toggle", render);
document.addEventListener("token", () => {
  setError("error", null);
  updates = 0;
  update();
});
document.addEventListener("visibilitychange", () => document.hidden || update());
document.addEventListener("paste", event => {
  const file = firstFile(event.clipboardData);
  if (file) tryFile(file);
});
for (const type of ["dragenter", "dragover", "dragleave", "drop"])
  document.addEventListener(type, event => {
    event.preventDefault();
    $("drop").classList.toggle("over", type === "dragenter" || type === "dragover");
    const file = type === "drop" ? firstFile(event.dataTransfer) : null;
    if (file) tryFile(file);
  });
let width = 0;
new ResizeObserver(() => {
  // Drawing changes the height.
  if (width !== $("drop").clientWidth) render();
  width = $("drop").clientWidth;
}).observe($("drop"));
update();
