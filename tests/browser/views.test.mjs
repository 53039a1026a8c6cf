// Every view of every kind of page: opened, looked at, checked for accessibility, and nothing asked of a network.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, done, open, outside } from "./browser.mjs";
import { traces } from "./traces.mjs";

let browser;
before(async () => (browser = await open()));
after(() => browser.close());

for (const [kind, list] of Object.entries(traces)) {
  for (const [look, options] of Object.entries({ wide: {}, "narrow and dark": { width: 390, height: 844, dark: true } })) {
    test(`${kind}, ${look}: every view opens, is accessible, keeps inside its page and asks for nothing`, async () => {
      const page = await browser.page(list, "", options);
      const tabs = await page.locator("[role=tab]").count();
      assert.ok(tabs >= 3);
      for (let i = 0; i < tabs; ++i) {
        const tab = page.locator("[role=tab]").nth(i);
        const name = await tab.textContent();
        await tab.click();
        assert.equal(await tab.getAttribute("aria-selected"), "true");
        assert.ok(await page.locator("[role=tabpanel] .view > *").count() > 0, `${name} is empty`);
        assert.deepEqual(await outside(page), [], `${name}: text outside of its picture`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(wide <= 0, `${name} is ${wide} pixels wider than the window`);
        await accessible(page, name);
      }
      assert.deepEqual(page.requests.filter((url) => !url.startsWith("file://")), []);
      assert.equal(page.requests.length, 1);
      assert.equal(await page.locator("#injected").count(), 0);
      await done(page);
    });
  }
}

test("in Chinese every view has Chinese words, and the switch changes all of them", async () => {
  const page = await browser.page(traces.transformer, "", { arguments: ["--language", "zh"] });
  const tabs = () => page.locator("[role=tab]").allTextContents();
  for (const name of await tabs()) assert.match(name, /\p{Script=Han}/u);
  assert.equal(await page.locator("h1").textContent(), "注意力");
  await page.getByRole("button", { name: "English" }).click();
  for (const name of await tabs()) assert.doesNotMatch(name, /\p{Script=Han}/u);
  assert.match(page.url(), /language=en/u);
  await done(page);
});

test("printed, it is light, without its controls", async () => {
  const page = await browser.page(traces.transformer, "#view=matrix", { dark: true });
  const ground = () => page.evaluate(() => getComputedStyle(document.querySelector(".heed-attention")).backgroundColor);
  const dark = await ground();
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.notEqual(await ground(), dark);
  assert.equal(await page.locator(".tabs").isVisible(), false);
  assert.equal(await page.locator(".legend").isVisible(), true);
  assert.equal(await page.locator(".view canvas[tabindex]").isVisible(), true);
  await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.equal(await ground(), dark);
  await done(page);
});
