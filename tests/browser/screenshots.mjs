// node screenshots.mjs PAGE.html FOLDER [CHROMIUM]: every view of a page as pictures, wide, narrow and dark, to be
// looked at.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const [file, folder, executablePath = "/usr/bin/chromium-headless-shell"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const [look, width, height, colorScheme] of [["wide", 1280, 900, "light"], ["dark", 1280, 900, "dark"], ["narrow", 390, 844, "light"]]) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, deviceScaleFactor: 2 });
  await page.goto(`file://${resolve(file)}`);
  for (const tab of await page.locator("[role=tab]").all()) {
    await tab.click();
    await page.waitForTimeout(300);
    const name = (await tab.getAttribute("id")).replace("tab-", "");
    await page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage: true });
  }
  await page.close();
}
await browser.close();
