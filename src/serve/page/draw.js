// Predictions on a canvas.

// The limbs of COCO's person, by the indices of its keypoints.
const kLimbs = [[0, 1], [0, 2], [1, 3], [2, 4], [5, 6], [5, 7], [7, 9], [6, 8], [8, 10], [5, 11], [6, 12], [11, 12],
                [11, 13], [13, 15], [12, 14], [14, 16]];
const kSeenKeypoint = 0.5;
const kSmall = 500;  // pixels of the page: labels are smaller

/** Neighbouring classes differ by the golden angle. All are light enough for black text. */
const colorOf = id => `oklch(75% 0.19 ${(id * 137.508 + 250) % 360})`;

/** The run lengths in COCO's compressed text. */
function runLengths(text) {
  const lengths = [];
  for (let at = 0; at < text.length;) {
    let value = 0, shift = 0, digit;
    do {
      digit = text.charCodeAt(at++) - 48;
      value |= (digit & 31) << shift;
      shift += 5;
    } while (digit & 32);
    if (digit & 16 && shift < 32) value |= -1 << shift;
    // From the third on they are differences to the last but one.
    lengths.push(lengths.length > 2 ? value + lengths.at(-2) : value);
  }
  return lengths;
}

/** A canvas with MASK, of which the pixels lie column by column, in RGB. */
function maskCanvas(mask, [red, green, blue]) {
  const [height, width] = mask.size;
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const color = (115 << 24 | blue << 16 | green << 8 | red) >>> 0;  // little-endian, as browsers' machines are
  let at = 0, isInside = false;
  for (const length of runLengths(mask.counts)) {
    const end = Math.min(at + length, width * height);
    for (let i = at; isInside && i < end; ++i) pixels[i % height * width + Math.floor(i / height)] = color;
    at = end;
    isInside = !isInside;
  }
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

const probe = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
function rgbOf(color) {
  probe.fillStyle = color;
  probe.fillRect(0, 0, 1, 1);
  return probe.getImageData(0, 0, 1, 1).data;
}

/** Draws PREDICTION over an image in a canvas of SCALE pixels for each of the image's, and LINE pixels wide lines. */
class Painter {
  constructor(context, prediction, scale, line) {
    Object.assign(this, { context, prediction, scale, line });
    context.lineWidth = 2 * line;
    context.lineJoin = "round";
    this.text = context.canvas.width / line < kSmall ? 10 * line : 13 * line;
    context.font = `600 ${this.text}px system-ui, sans-serif`;
    context.textBaseline = "middle";
  }

  draw(minConfidence) {
    const shown = (this.prediction.detections ?? []).filter(each => (each.confidence ?? 0) >= minConfidence);
    const { width, height } = this.context.canvas;
    for (const each of shown)
      if (each.mask) this.context.drawImage(maskCanvas(each.mask, rgbOf(colorOf(each.class_id))), 0, 0, width, height);
    for (const each of shown) this.outline(each);
    // The surest last: on top of the others.
    for (const each of shown.sort((a, b) => a.confidence - b.confidence)) this.label(each);
  }

  outline(detection) {
    const { context, scale } = this;
    context.strokeStyle = colorOf(detection.class_id);
    if (detection.obb) {
      const { x, y, width, height, angle } = detection.obb;
      context.save();
      context.translate(x * scale, y * scale);
      context.rotate(angle);
      context.strokeRect(-width / 2 * scale, -height / 2 * scale, width * scale, height * scale);
      context.restore();
    } else {
      const [x1, y1, x2, y2] = detection.box.map(side => side * scale);
      context.strokeRect(x1, y1, x2 - x1, y2 - y1);
    }
    if (detection.keypoints) this.keypoints(detection.keypoints);
  }

  keypoints(points) {
    const { context, scale, line } = this;
    const isSeen = point => point[2] === null || point[2] >= kSeenKeypoint;
    context.fillStyle = context.strokeStyle;
    for (const [a, b] of points.length === 17 ? kLimbs : [])
      if (isSeen(points[a]) && isSeen(points[b])) {
        context.beginPath();
        context.moveTo(points[a][0] * scale, points[a][1] * scale);
        context.lineTo(points[b][0] * scale, points[b][1] * scale);
        context.stroke();
      }
    for (const [x, y] of points.filter(isSeen)) {
      context.beginPath();
      context.arc(x * scale, y * scale, 3 * line, 0, 2 * Math.PI);
      context.fill();
    }
  }

  label(detection) {
    const { context, scale, line } = this;
    const text = `${nameOf(detection)} ${percent(detection.confidence)}`;
    const width = context.measureText(text).width + 8 * line, height = 1.5 * this.text;
    const x = Math.max(0, Math.min(detection.box[0] * scale - line, context.canvas.width - width));
    const above = detection.box[1] * scale - height;
    const y = Math.max(0, above >= 0 ? above : detection.box[1] * scale);
    context.fillStyle = colorOf(detection.class_id);
    context.fillRect(x, y, width, height);
    context.fillStyle = "#000";
    context.fillText(text, x + 4 * line, y + height / 2);
  }
}

/** Shows IMAGE in CANVAS, as large as ROOM (pixels of the page) allows, with PREDICTION if there is one. */
function show(canvas, image, prediction, minConfidence, room) {
  const fit = Math.min(room.width / image.width, room.height / image.height, 3);
  const density = devicePixelRatio || 1;
  canvas.style.width = `${Math.floor(image.width * fit)}px`;
  canvas.width = Math.max(1, Math.floor(image.width * fit * density));
  canvas.height = Math.max(1, Math.floor(image.height * fit * density));
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  if (prediction) new Painter(context, prediction, canvas.width / prediction.width, density).draw(minConfidence);
}
