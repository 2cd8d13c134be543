#!/usr/bin/env python3
"""serve_page.py --binary SACCADE --shared DIR --model MODEL [--screenshots DIR]: the page of `saccade serve` in Chromium.

One browser for all tests; skipped without Debian's package chromium. --screenshots keeps what it looked like.
"""
import base64
import json
import os
import sys
import tempfile
import unittest

import browser
import serving
from serving import ARGS, NAME, TOKEN, Server, rendered

NO_OVERFLOW = "document.documentElement.scrollWidth <= innerWidth"
PREDICTED = "document.querySelectorAll('#results tbody tr').length > 0"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.image = rendered(cls.folder.name)
        cls.bad = os.path.join(cls.folder.name, "bad.jpg")
        with open(cls.bad, "wb") as file:
            file.write(b"no image")
        cls.token = os.path.join(cls.folder.name, "token")
        with open(cls.token, "w") as file:
            file.write(TOKEN)
        cls.browser = cls.enterClassContext(browser.Browser())
        cls.browser.resize(1440)
        tensors = os.path.join(cls.folder.name, "sum.onnx")
        serving.write_sum(tensors)
        cls.server = cls.enterClassContext(Server(models=[ARGS.model, tensors]))
        cls.address = f"http://127.0.0.1:{cls.server.port}/"

    def load(self, address=None):
        self.browser.open(address or self.address)
        self.browser.wait_for(f"document.querySelector('#model').value === {json.dumps(NAME)}", "the model in the list")

    def keep(self, name):
        if SCREENSHOTS:
            self.browser.screenshot(os.path.join(SCREENSHOTS, name + ".png"))

    def test_predicts_an_image(self):
        page = self.browser
        page.take_errors()
        self.load()
        page.choose_file("#file", self.image)
        page.wait_for(PREDICTED, "objects")
        self.assertRegex(page.evaluate("document.querySelector('#summary').textContent"), r"^\d+ objects?: ")
        self.assertRegex(page.evaluate("document.querySelector('#times').textContent"), r"ms with the network")
        rows = page.evaluate("document.querySelectorAll('#results tbody tr').length")
        page.evaluate("const slider = document.querySelector('#confidence'); slider.value = 100; slider.dispatchEvent(new Event('input'))")
        self.assertLess(page.evaluate("document.querySelectorAll('#results tbody tr').length"), rows)
        page.evaluate("slider.value = 0; slider.dispatchEvent(new Event('input'))")
        # The boxes are on the canvas: the image alone has no such colours.
        self.assertTrue(page.evaluate("""(() => {
          const canvas = document.querySelector('#view');
          const pixels = () => {
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
            copy.drawImage(canvas, 0, 0);
            return copy.getImageData(0, 0, canvas.width, canvas.height).data;
          };
          const before = pixels();
          show(canvas, current.image, null, 0, {width: canvas.width, height: canvas.height});
          const after = pixels();
          render();
          return before.length === after.length && before.some((value, i) => value !== after[i]);
        })()"""))
        page.wait_for("[...document.querySelectorAll('.model')].some(card => /[1-9]\\S* ms/.test(card.textContent))", "a latency")
        self.assertEqual(page.evaluate("document.querySelectorAll('.model').length"), 2)
        page.wait_for("[...document.querySelectorAll('.ledger')].some(text => /^[1-9]\\d* requests: [1-9]\\d* run/.test(text.textContent))",
                      "the requests that were run")
        self.assertIn("tensors only", page.evaluate("document.querySelector('#models').textContent"))
        self.assertEqual(page.take_errors(network=True), [])
        for width in (1440, 390):
            for scheme in ("light", "dark"):
                page.resize(width)
                page.set_scheme(scheme)
                self.assertTrue(page.evaluate(NO_OVERFLOW), (width, scheme))
                self.keep(f"{width}-{scheme}")
        self.assertNotEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(244, 245, 247)")
        page.set_scheme("light")
        self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(244, 245, 247)")
        page.resize(1440)
        self.assertEqual(page.take_errors(network=True), [])

    def test_what_is_wrong_is_said(self):
        page = self.browser
        self.load()
        page.choose_file("#file", self.bad)
        page.wait_for("!document.querySelector('#error').hidden", "an error")
        self.assertIn("neither a JPEG nor a PNG", page.evaluate("document.querySelector('#error').textContent"))
        self.keep("error")
        # Good ones afterwards, dropped and pasted.
        with open(self.image, "rb") as file:
            content = base64.b64encode(file.read()).decode()
        page.evaluate(f"""const data = new DataTransfer();
          data.items.add(new File([Uint8Array.from(atob('{content}'), c => c.charCodeAt(0))], 'a.jpg', {{type: 'image/jpeg'}})); 0""")
        for event in ("DragEvent('drop', {dataTransfer: data, cancelable: true})", "ClipboardEvent('paste', {clipboardData: data})"):
            page.evaluate("document.querySelector('#results').replaceChildren()")
            page.evaluate(f"document.dispatchEvent(new {event}); 0")
            page.wait_for(PREDICTED, event)
            self.assertTrue(page.evaluate("document.querySelector('#error').hidden"))
        self.assertEqual(page.take_errors(), [])

    def test_what_is_drawn(self):
        """Masks are as long as the image, and keypoints and oriented boxes lie where they are."""
        page = self.browser
        self.load()
        page.choose_file("#file", self.image)
        page.wait_for(PREDICTED, "objects")
        self.assertTrue(page.evaluate("""current.prediction.detections.filter(each => each.mask).every(
          ({mask}) => runLengths(mask.counts).reduce((sum, length) => sum + length) === mask.size[0] * mask.size[1])"""))
        # COCO's compressed text of a column of 2 after 3 pixels, in 4 x 3.
        self.assertEqual(page.evaluate("runLengths('327')"), [3, 2, 7])
        points = page.evaluate("""(() => {
          const context = new OffscreenCanvas(100, 100).getContext('2d', {willReadFrequently: true});
          const object = {box: [0, 0, 0, 0], class_id: 1, class: '', confidence: 1};
          new Painter(context, {detections: [
            {...object, obb: {x: 50, y: 50, width: 40, height: 20, angle: Math.PI / 2}},
            {...object, keypoints: [[20, 90, 0.9], [80, 90, 0.1]]}]}, 1, 1).draw(0);
          return [[50, 70], [60, 50], [70, 50], [20, 90], [80, 90]].map(([x, y]) => context.getImageData(x, y, 1, 1).data[3] > 0);
        })()""")
        self.assertEqual(points, [True, True, False, True, False])

    def test_the_camera(self):
        page = self.browser
        self.load()
        page.take_errors()
        page.evaluate("document.querySelector('#camera').focus()")
        page.press("Enter", text="\r")
        page.wait_for("/frames per second/.test(document.querySelector('#times').textContent)", "frames of the camera")
        page.wait_for("document.querySelector('#view').width > 100", "a frame")
        self.keep("camera")
        page.press("Enter", text="\r")
        page.wait_for("document.querySelector('#video').srcObject === null", "the end of the camera")
        self.assertEqual(page.evaluate("document.querySelector('#camera').getAttribute('aria-pressed')"), "false")
        self.assertEqual(page.take_errors(network=True), [])

    def test_a_camera_that_is_refused(self):
        page = self.browser
        self.load()
        page.choose_file("#file", self.image)
        page.wait_for(PREDICTED, "objects")
        summary = page.evaluate("document.querySelector('#summary').textContent")
        page.evaluate("""{
          navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'));
          const sent = window.fetch;
          window.fetch = (path, options) => !String(path).startsWith('predict/') ? sent(path, options) :
            new Promise((_, fail) => options.signal.addEventListener('abort', () => fail(options.signal.reason)));
        } 0""")
        # Beside the predictions of an image, and without any.
        for before in (summary, ""):
            if not before:
                page.evaluate("current = null; hideImage(); 0")
            page.choose_file("#file", self.image)
            page.wait_for("document.querySelector('#summary').textContent === 'The model runs.'", "the request")
            page.evaluate("document.querySelector('#camera').click()")
            page.wait_for("/does not allow the camera/.test(document.querySelector('#error').textContent)", "that it is refused")
            self.assertEqual(page.evaluate("document.querySelector('#summary').textContent"), before)
            self.assertEqual(page.evaluate("document.querySelector('#camera').getAttribute('aria-pressed')"), "false")
        self.assertEqual(page.take_errors(), [])

    def test_the_keyboard_reaches_everything(self):
        page = self.browser
        self.load()
        page.evaluate("document.activeElement.blur()")
        seen = []
        for _ in range(12):
            page.press("Tab")
            seen.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
            if seen[-1] == "BODY":
                break
        for wanted in ("model", "confidence", "file", "camera"):
            self.assertIn(wanted, seen)
        self.assertEqual(page.evaluate("""[...document.querySelectorAll('input, select')].filter(each => !each.labels.length).length"""), 0)

    def test_a_token(self):
        page = self.browser
        with Server("--token-file", self.token, models=[ARGS.model]) as server:
            status, _, headers = server.request("GET", "/")
            self.assertEqual(status, 200)
            self.assertRegex(headers["Content-Security-Policy"], r"^default-src 'none'; .*script-src 'sha256-[\w+/]{43}='")
            page.open(f"http://127.0.0.1:{server.port}/")
            page.wait_for("!document.querySelector('#token-form').hidden", "the field of the token")
            self.keep("token")
            for token in ("x" * 20, TOKEN):
                page.evaluate(f"document.querySelector('#token').value = '{token}'")
                page.evaluate("document.querySelector('#token-form button').click()")
                if token != TOKEN:
                    page.wait_for("/not take/.test(document.querySelector('#token-note').textContent)", "a wrong token")
            page.wait_for(f"document.querySelector('#model').value === {json.dumps(NAME)}", "the model in the list")
            page.choose_file("#file", self.image)
            page.wait_for(PREDICTED, "objects")
        page.wait_for("document.querySelector('#connection').textContent === 'no connection'", "that the server has ended")
        page.take_errors()


if __name__ == "__main__":
    if browser.PROGRAM is None:
        print("skipped: chromium is not installed; ./script/bootstrap --browser installs it")
        sys.exit(77)
    serving.PARSER.add_argument("--screenshots")
    known, serving.REST = serving.PARSER.parse_known_args()
    SCREENSHOTS = known.screenshots
    serving.main()
