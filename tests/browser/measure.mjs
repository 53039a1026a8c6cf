// node measure.mjs HEED [CHROMIUM]: how long pages take to open, and each frame while a matrix is moved and zoomed: of
// 12 layers x 12 heads x 128 x 128, and of 2,048 x 2,048. To be run by hand, on a machine that does nothing else.
import { statSync } from "node:fs";
import { loadavg } from "node:os";
import { long } from "./traces.mjs";

const [heed, chromium = "/usr/bin/chromium-headless-shell"] = process.argv.slice(2);
Object.assign(process.env, { HEED: heed, CHROMIUM: chromium });
const { open } = await import("./browser.mjs");
const browser = await open();
const kOpenings = 5, kFrames = 120;

const ordered = (times) => [...times].sort((a, b) => a - b);
const quantile = (times, share) => ordered(times)[Math.min(times.length - 1, Math.floor(share * times.length))];
const ms = (time) => `${time.toFixed(1)} ms`;

// From the beginning of navigation to the first frame after the script has drawn.
async function opening(file, hash) {
  const page = await browser.visit(file, hash);
  const time = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))));
  await page.context().close();
  return time;
}

// The times between frames, and what the page's own script takes of each, while the pointer drags and zooms.
async function frames(file, prepare, step) {
  const page = await browser.visit(file, "#view=matrix");
  const canvas = page.locator(".view canvas[tabindex]");
  await canvas.scrollIntoViewIfNeeded();
  const times = await canvas.evaluate(async (node, { steps, prepare, step }) => {
    const at = node.getBoundingClientRect();
    const send = (type, x, y) => node.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: at.left + x, clientY: at.top + y, bubbles: true }));
    const wheel = (by) => node.dispatchEvent(new WheelEvent("wheel", { deltaY: by, ctrlKey: true, clientX: at.left + at.width / 2, clientY: at.top + at.height / 2, cancelable: true }));
    node.setPointerCapture = () => {};
    const frame = () => new Promise(requestAnimationFrame);
    for (let i = 0; i < prepare; ++i) wheel(-20);
    await frame();
    await frame();
    const [x, y] = [at.width * 0.6, at.height * 0.6];
    send("pointerdown", x, y);
    const between = [];
    let last = performance.now();
    for (let i = 1; i <= steps; ++i) {
      if (step === "drag") send("pointermove", x + 60 * Math.sin(i / 9), y + 60 * Math.cos(i / 7));
      else wheel(i % 40 < 20 ? -8 : 8);
      await frame();
      const now = performance.now();
      between.push(now - last);
      last = now;
    }
    send("pointerup", x, y);
    return between;
  }, { steps: kFrames, prepare, step });
  await page.context().close();
  return times;
}

console.log(`load ${loadavg().map((load) => load.toFixed(1)).join(" ")}; median of ${kOpenings} openings; ${kFrames} frames`);
for (const [name, traces, hash] of [["12 x 12 x 128 x 128", long(128, 12, 12), ""], ["12 x 12 x 128 x 128, all heads", long(128, 12, 12), "#view=overview"], ["2,048 x 2,048", long(2048), "#view=matrix"]]) {
  const file = browser.file(traces);
  const times = [];
  for (let i = 0; i < kOpenings; ++i) times.push(await opening(file, hash));
  console.log(`${name}: ${(statSync(file).size / 1e6).toFixed(1)} MB, opens in ${ms(quantile(times, 0.5))} (${times.map((time) => time.toFixed(0)).join(", ")})`);
}
const file = browser.file(long(2048));
for (const [name, prepare, step] of [["dragged at 8 pixels a cell", 16, "drag"], ["dragged at 1 pixel a cell", 5, "drag"], ["zoomed in and out", 0, "zoom"]]) {
  const times = await frames(file, prepare, step);
  console.log(`2,048 x 2,048, ${name}: frame median ${ms(quantile(times, 0.5))}, 95 % ${ms(quantile(times, 0.95))}, longest ${ms(Math.max(...times))}`);
}
await browser.close();
