// The camera: a frame at a time, so that none waits.

const kMostTries = 3;  // when the server is busy

let camera = null;       // MediaStream
let isStarting = false;  // the browser asks whether the page may have it

const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

async function startCamera() {
  if (isStarting) return;
  running?.abort();
  showSummary();
  setError("error", null);
  if (!navigator.mediaDevices) return setError("error", new Error("Browsers give the camera only to pages of HTTPS or of this machine."));
  isStarting = true;
  try {
    const wanted = { width: { ideal: 1280 }, height: { ideal: 720 }, facingMode: "environment" };
    camera = await navigator.mediaDevices.getUserMedia({ video: wanted });
  } catch (error) {
    const reasons = { NotAllowedError: "The browser does not allow the camera.", NotFoundError: "There is no camera.",
                      NotReadableError: "Another program uses the camera." };
    return setError("error", new Error(reasons[error.name] ?? `The camera can't be used: ${error.message}`));
  } finally {
    isStarting = false;
  }
  const stream = camera;
  for (const track of stream.getTracks()) track.addEventListener("ended", () => stream === camera && stopCamera());
  $("camera").textContent = "Stop the camera";
  $("camera").setAttribute("aria-pressed", "true");
  // A reader of the screen would hear nothing but frames.
  $("summary").setAttribute("aria-live", "off");
  $("video").srcObject = stream;
  try {
    await $("video").play();
    await runCamera(stream);
  } catch (error) {
    if (stream === camera) setError("error", error);
  }
  if (stream === camera) stopCamera();
}

async function runCamera(stream) {
  const canvas = document.createElement("canvas");
  const ends = [];
  let tries = 0;
  while (stream === camera) {
    const image = await createImageBitmap($("video"));
    canvas.width = image.width;
    canvas.height = image.height;
    canvas.getContext("2d").drawImage(image, 0, 0);
    const file = await new Promise(resolve => canvas.toBlob(resolve, "image/jpeg", 0.85));
    try {
      const result = await predict(file);
      if (stream !== camera) return;
      tries = 0;
      ends.push(performance.now());
      if (ends.length > 20) ends.shift();
      const perSecond = (ends.length - 1) * 1000 / (ends.at(-1) - ends[0]);
      current?.image.close?.();
      setResult(image, file, result, ends.length > 1 ? `; ${perSecond.toFixed(1)} frames per second` : "");
      setError("error", null);
    } catch (error) {
      if (stream !== camera) return;
      if (![429, 503].includes(error.status) || ++tries > kMostTries) throw error;
      setError("error", error);
      await pause((error.wait || 1) * 1000);
    }
  }
}

function stopCamera() {
  if (!camera) return;
  const stream = camera;
  camera = null;
  for (const track of stream.getTracks()) track.stop();
  $("video").srcObject = null;
  $("camera").textContent = "Start the camera";
  $("camera").setAttribute("aria-pressed", "false");
  $("summary").setAttribute("aria-live", "polite");
}
