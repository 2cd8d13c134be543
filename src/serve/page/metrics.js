// The server's load, from its metrics for Prometheus.

const kWindow = 10_000;  // of rates and latencies, ms
const kShown = 60_000;   // of the curve

/** The samples of TEXT: {name, labels, value}. */
function parseMetrics(text) {
  const samples = [];
  for (const line of text.split("\n")) {
    const match = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/i.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
      labels[name] = value.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
    samples.push({ name: match[1], labels, value: Number(match[3]) });
  }
  return samples;
}

/** A moment of the server: {time, models, machine, gpus}. */
function momentOf(samples, time) {
  const moment = { time, models: new Map(), machine: {}, gpus: new Map() };
  const entry = (map, key, made) => map.get(key) ?? map.set(key, made).get(key);
  for (const { name, labels, value } of samples) {
    if (labels.model !== undefined) {
      const model = entry(moment.models, labels.model, { outcomes: {}, buckets: new Map(), waiting: 0, runs: 0, images: 0 });
      if (name === "saccade_requests_total") model.outcomes[labels.outcome] = value;
      else if (name === "saccade_waiting_requests") model.waiting = value;
      else if (name === "saccade_request_seconds_bucket")
        model.buckets.set(labels.le === "+Inf" ? Infinity : Number(labels.le), value);
      else if (name === "saccade_batch_images_count") model.runs = value;
      else if (name === "saccade_batch_images_sum") model.images = value;
    } else if (labels.gpu !== undefined) {
      entry(moment.gpus, labels.gpu, {})[name] = value;
    } else {
      moment.machine[name] = value;
    }
  }
  return moment;
}

/** The QUANTILE of the samples between two sets of cumulative BUCKETS, interpolated as Prometheus does; null: none. */
function quantileBetween(before, after, quantile) {
  const bounds = [...after.keys()].sort((a, b) => a - b);
  const counts = bounds.map(bound => after.get(bound) - (before?.get(bound) ?? 0));
  const total = counts.at(-1) ?? 0;
  if (total <= 0) return null;
  const rank = quantile * total;
  const at = counts.findIndex(count => count >= rank);
  const low = at > 0 ? bounds[at - 1] : 0;
  if (bounds[at] === Infinity) return { value: low, isBeyond: true };
  const below = at > 0 ? counts[at - 1] : 0;
  return { value: low + (bounds[at] - low) * (rank - below) / (counts[at] - below), isBeyond: false };
}

/** The last minute of a server. */
class History {
  moments = [];

  add(moment) {
    const last = this.moments.at(-1);
    // The server has started again: its counters have, too.
    if (last && moment.machine.process_cpu_seconds_total < last.machine.process_cpu_seconds_total) this.moments = [];
    this.moments.push(moment);
    while (this.moments[0].time < moment.time - kShown) this.moments.shift();
  }

  get last() { return this.moments.at(-1); }

  /** The newest moment that is at least the window older than the last one; otherwise the first. */
  get base() {
    const since = this.last.time - kWindow;
    return this.moments.findLast(moment => moment.time <= since) ?? this.moments[0];
  }

  /** The load of the model NAME. */
  of(name) {
    const now = this.last.models.get(name);
    if (!now) return null;
    const then = this.base.models.get(name);
    const seconds = (this.last.time - this.base.time) / 1000;
    const change = read => read(now) - (then ? read(then) : 0);
    const runs = change(model => model.runs);
    return {
      rate: seconds > 0 ? change(model => model.outcomes.run ?? 0) / seconds : null,
      p50: seconds > 0 ? quantileBetween(then?.buckets, now.buckets, 0.5) : null,
      p99: seconds > 0 ? quantileBetween(then?.buckets, now.buckets, 0.99) : null,
      waiting: now.waiting,
      batch: seconds > 0 && runs > 0 ? change(model => model.images) / runs : null,
      outcomes: { failed: 0, refused: 0, ...now.outcomes },
    };
  }

  /** Requests per second of the model NAME from moment to moment: [milliseconds ago, rate]. */
  curve(name) {
    const points = [];
    for (let i = 1; i < this.moments.length; ++i) {
      const [a, b] = [this.moments[i - 1], this.moments[i]];
      const run = moment => moment.models.get(name)?.outcomes.run ?? 0;
      points.push([this.last.time - b.time, (run(b) - run(a)) * 1000 / (b.time - a.time)]);
    }
    return points;
  }

  /** Processors that the server keeps busy; null: not known yet. */
  get processors() {
    const cpu = moment => moment.machine.process_cpu_seconds_total;
    const seconds = (this.last.time - this.base.time) / 1000;
    return seconds > 0 ? (cpu(this.last) - cpu(this.base)) / seconds : null;
  }
}
