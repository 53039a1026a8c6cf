// Pages of models that the command trained or reads, held against the traces that it wrote beside them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { Trace } from "../../heed/viz/page/trace.js";
import { done, drawn, open, saved } from "./browser.mjs";

const { HEED, HEED_DATA } = process.env;
const data = HEED_DATA || fileURLToPath(new URL("../../../shared/data", import.meta.url));
let browser;
before(async () => {
  browser = await open();
  heed("corpus", "--out", corpus(""), "--pairs", "200", "--validation", "10", "--test", "10");
});
after(() => browser.close());

const heed = (...args) => execFileSync(HEED, args, { stdio: ["ignore", "ignore", "pipe"] });
const corpus = (name) => join(browser.folder, "corpus", name);
const parallel = () => ["--source", corpus("train.de"), "--target", corpus("train.en"), "--valid-source", corpus("valid.de"), "--valid-target", corpus("valid.en")];
const small = ["--max-tokens", "99", "--batch-tokens", "600", "--vocabulary-size", "200", "--max-updates", "4", "--validate-every", "2"];
const wide = ["--width", "16", "--ffn-width", "32", "--heads", "2", "--decoder-layers", "2", "--max-length", "100"];

const models = {
  "a Transformer": { train: () => [...parallel(), ...wide, "--encoder-layers", "2", ...small], text: "Der Hund schläft.", kinds: ["Cross", "Encoder", "Decoder"] },
  "an RNN with Bahdanau's attention": { train: () => ["--model", "bahdanau", ...parallel(), ...small], text: "Der Hund schläft.", kinds: [] },
  "a language model": {
    train: () => ["--task", "language-model", "--train", corpus("train.en"), "--valid", corpus("valid.en"), ...wide, ...small], text: "The dog sleeps.", kinds: [],
  },
  "a model that reads Arabic": { folder: join(data, "models", "aren-transliteration"), text: "محمد", kinds: ["Cross", "Encoder", "Decoder"] },
};

for (const [name, { train, folder, text, kinds }] of Object.entries(models)) {
  const missing = folder && !existsSync(folder) ? `${folder} is not there` : false;
  test(`${name}: the page's numbers are the trace's, of every kind`, { skip: missing }, async () => {
    const model = folder ?? join(browser.folder, name.replaceAll(/\W/gu, "-"));
    if (train) heed("train", ...train(), "--out", model);
    const out = (ending) => join(browser.folder, `${name.replaceAll(/\W/gu, "-")}.${ending}`);
    heed("view", model, "--text", text, "--out", out("html"), "--trace", out("json"));
    const trace = new Trace(JSON.parse(readFileSync(out("json"), "utf8")).traces[0]);
    const page = await browser.visit(out("html"), "#view=matrix");
    assert.deepEqual(await page.getByRole("group", { name: "Attention" }).locator("button:visible").allTextContents(), kinds);
    for (const map of trace.kinds.map((kind) => trace.map(kind, -1))) {
      const position = trace.mapsOf(map.kind).indexOf(map);
      for (const head of new Set([0, map.heads - 1])) {
        await page.evaluate((hash) => (location.hash = hash), `#view=matrix&kind=${map.kind}&layer=${position}&head=${head}`);
        await page.waitForFunction((hash) => location.hash === hash, `#view=matrix&kind=${map.kind}&layer=${position}&head=${head}`);
        await drawn(page);
        const { rows, path } = JSON.parse((await saved(page, "json")).content);
        assert.equal(path, map.path);
        assert.equal(rows.length, map.queries * map.keys);
        for (const [query, , key, , weight] of rows) {
          assert.ok(Math.abs(weight - map.head(head)[query * map.keys + key]) <= 2 / 65535, `${map.path}, head ${head}: ${query}, ${key}`);
        }
      }
    }
    for (const tab of await page.locator("[role=tab]").all()) await tab.click();
    assert.deepEqual(page.requests.filter((url) => !url.startsWith("file://")), []);
    await done(page);
  });
}
