// Parts of the tables that stand beside pictures (class "listing").
import { element } from "./dom.js";

export const heading = (names) => element("thead", {}, element("tr", {}, names.map((name) => element("th", { scope: "col" }, name))));

// A cell with a bar behind its words, share of 1 long.
export const barCell = (share, words) =>
  element("td", { class: "bar", style: { "--share": `${(100 * share).toFixed(1)}%` } }, element("span", {}, words));
