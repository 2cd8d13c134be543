function duration(seconds) {
  if (seconds === null) return "–";
  const ms = seconds * 1000;
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms >= 9.95 ? Math.round(ms) : ms.toPrecision(2)} ms`;
}
