// Where the page's script begins: every place that waits for a page gets one.
import style from "heed-style";
import { mountApp } from "./app.js";

for (const host of document.querySelectorAll(".heed-attention:not([data-there])")) {
  host.dataset.there = "";
  const data = JSON.parse(host.querySelector("script").textContent);
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  mountApp(host, data);
}
