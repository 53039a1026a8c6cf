"use strict";
// The data: { light, dark: 256 colours each, traces: [{ model, source_text, target_text,
// source, decoder, target: tokens each, maps: [{ path, layer (a number or null), kind, heads, queries, keys,
// weights: [thousandths, heads x queries x keys] }] }] }.
// Everything that comes from it is shown through textContent and setAttribute, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const kSvg = "http://www.w3.org/2000/svg";
  const kMean = -1;
  const kinds = {
    cross: { name: "Cross", title: "Cross-attention", rows: "target", columns: "source",
             text: "How much each token of the translation reads of each source token." },
    encoder: { name: "Encoder", title: "Encoder self-attention", rows: "source", columns: "source",
               text: "How much each source token reads of each source token." },
    decoder: { name: "Decoder", title: "Decoder self-attention", rows: "decoder", columns: "decoder",
               text: "How much each token that the decoder has been given reads of itself and of those before it." },
  };
  const $ = (id) => document.getElementById(id);
  const darkness = window.matchMedia("(prefers-color-scheme: dark)");

  // What is shown, and the row and column under the mouse or the arrow keys (null: none).
  const state = { sentence: 0, kind: "cross", map: 0, head: kMean, view: "map", row: null, column: null };
  let shown = null;  // { rows, columns: tokens, weights: numbers, most: the scale's end }, of the state
  let mark = () => {};  // brings the picture in line with state.row and state.column

  // --- The numbers -------------------------------------------------------------------------------------------------

  const trace = () => data.traces[state.sentence];
  const mapsOf = (kind) => trace().maps.filter((map) => map.kind === kind);
  const currentMap = () => mapsOf(state.kind)[state.map];
  const nameOf = (map) => (map.layer === null ? map.path : "Layer " + map.layer);
  const headName = (head, map) => (head === kMean ? "mean of " + map.heads + " heads" : "head " + head);

  function weightsOf(map, head) {
    const cells = map.queries * map.keys;
    if (head !== kMean) return Float64Array.from(map.weights.slice(head * cells, (head + 1) * cells), (w) => w / 1000);
    const mean = new Float64Array(cells);
    for (let h = 0; h < map.heads; ++h) {
      for (let i = 0; i < cells; ++i) mean[i] += map.weights[h * cells + i] / (1000 * map.heads);
    }
    return mean;
  }

  // The end of the colour scale: the smallest round number that holds every weight.
  function roundScale(weights) {
    let most = 0;
    for (const w of weights) if (w > most) most = w;
    if (most <= 0) return 1;
    const power = 10 ** Math.floor(Math.log10(most));
    for (const factor of [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8]) if (factor * power >= most * (1 - 1e-6)) return factor * power;
    return 10 * power;
  }

  function colourOf(weight, most) {
    const table = darkness.matches ? data.dark : data.light;
    return table[Math.round(Math.min(Math.max(weight / most, 0), 1) * (table.length - 1))];
  }

  const decimals = (weight) => weight.toFixed(3);
  const weightAt = (row, column) => shown.weights[row * shown.columns.length + column];

  // The strongest cells of a row (or of a column), as [other token's index, weight], falling.
  function strongest(row, column, count) {
    const along = row === null ? shown.rows : shown.columns;
    return along.map((_, i) => [i, row === null ? weightAt(i, column) : weightAt(row, i)])
      .filter(([, weight]) => weight >= 0.0005).sort((a, b) => b[1] - a[1]).slice(0, count);
  }

  // --- Small tools for the document --------------------------------------------------------------------------------

  function add(parent, name, attributes = {}, text = null) {
    const inSvg = name === "svg" || parent.namespaceURI === kSvg;
    const node = inSvg ? document.createElementNS(kSvg, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== null) node.textContent = text;
    parent.appendChild(node);
    return node;
  }

  // One pixel for each cell.
  function paintCells(canvas, weights, columns, most) {
    canvas.width = columns;
    canvas.height = weights.length / columns;
    const context = canvas.getContext("2d");
    weights.forEach((weight, i) => {
      context.fillStyle = colourOf(weight, most);
      context.fillRect(i % columns, Math.floor(i / columns), 1, 1);
    });
  }

  const ruler = document.createElement("canvas").getContext("2d");
  function textWidth(text) {
    ruler.font = "13px " + getComputedStyle(document.body).fontFamily;
    return ruler.measureText(text).width;
  }

  // SentencePiece writes a space as U+2581, which many fonts draw as a thick bar.
  const readable = (token) => token.replaceAll("\u2581", "_");

  function label(token) {
    const letters = Array.from(readable(token));
    if (textWidth(letters.join("")) <= 118) return letters.join("");
    while (letters.length > 0 && textWidth(letters.join("") + "\u2026") > 118) letters.pop();
    return letters.join("") + "\u2026";
  }

  function point(row, column) {
    if (row === state.row && column === state.column) return;
    state.row = row;
    state.column = column;
    mark();
    readOut();
  }

  // --- The heat map ------------------------------------------------------------------------------------------------

  function drawMap(host) {
    const { rows, columns, weights, most } = shown;
    const rowLabels = rows.map(label), columnLabels = columns.map(label);
    const left = Math.max(40, ...rowLabels.map(textWidth)) + 30;
    const longest = Math.max(20, ...columnLabels.map(textWidth));
    // As large as the window shows whole, and never too small to read.
    const below = window.innerHeight - host.getBoundingClientRect().top - window.scrollY - 70;
    const room = Math.min((host.clientWidth - left - 40) / columns.length,
                          (below - 26 - longest * Math.SQRT1_2) / rows.length);
    const cell = Math.floor(Math.min(Math.max(room, host.clientWidth < 560 ? 15 : 20), 40));
    const slanted = cell >= 20;
    const top = 26 + (slanted ? longest * Math.SQRT1_2 + 14 : longest + 6);
    const overhang = slanted ? longest * Math.SQRT1_2 + 8 : 8;
    const gridWidth = cell * columns.length, gridHeight = cell * rows.length;
    const width = Math.ceil(left + gridWidth + overhang), height = Math.ceil(top + gridHeight + 4);

    const svg = add(host, "svg", { width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img" });
    add(svg, "text", { class: "axis", x: left + gridWidth / 2, y: 14, "text-anchor": "middle" },
        kinds[state.kind].columns + " (keys)");
    add(svg, "text", { class: "axis", "text-anchor": "middle",
                       transform: `translate(14 ${top + gridHeight / 2}) rotate(-90)` },
        kinds[state.kind].rows + " (queries)");

    const image = document.createElement("canvas");
    paintCells(image, weights, columns.length, most);
    add(svg, "image", { class: "cells", x: left, y: top, width: gridWidth, height: gridHeight, preserveAspectRatio: "none",
                        href: image.toDataURL() });
    let lines = "";
    for (let c = 0; c <= columns.length; ++c) lines += `M${left + c * cell} ${top}v${gridHeight}`;
    for (let r = 0; r <= rows.length; ++r) lines += `M${left} ${top + r * cell}h${gridWidth}`;
    add(svg, "path", { class: "gridlines", d: lines });

    const rowTexts = rowLabels.map((text, r) => add(svg, "text",
      { x: left - 8, y: top + (r + 0.5) * cell + 4.5, "text-anchor": "end", "data-row": r }, text));
    const columnTexts = columnLabels.map((text, c) => add(svg, "text",
      { transform: `translate(${left + (c + 0.5) * cell + (slanted ? 2 : 4.5)} ${top - 8}) rotate(${slanted ? -45 : -90})`,
        "data-column": c }, text));
    const catcher = add(svg, "rect", { class: "catch", x: left, y: top, width: gridWidth, height: gridHeight });
    const rowFrame = add(svg, "rect", { class: "frame", x: left, width: gridWidth, height: cell });
    const columnFrame = add(svg, "rect", { class: "frame", y: top, width: cell, height: gridHeight });

    const feel = (event) => {
      if (event.target === catcher) {
        const box = catcher.getBoundingClientRect();
        const inside = (at, count) => Math.min(Math.max(Math.floor(at / cell), 0), count - 1);
        point(inside(event.clientY - box.top, rows.length), inside(event.clientX - box.left, columns.length));
      } else if (event.target.dataset.row !== undefined) {
        point(Number(event.target.dataset.row), null);
      } else if (event.target.dataset.column !== undefined) {
        point(null, Number(event.target.dataset.column));
      } else {
        point(null, null);
      }
    };

    mark = () => {
      rowTexts.forEach((node, r) => node.classList.toggle("on", r === state.row));
      columnTexts.forEach((node, c) => node.classList.toggle("on", c === state.column));
      rowFrame.setAttribute("visibility", state.row === null ? "hidden" : "visible");
      columnFrame.setAttribute("visibility", state.column === null ? "hidden" : "visible");
      if (state.row !== null) rowFrame.setAttribute("y", top + state.row * cell);
      if (state.column !== null) columnFrame.setAttribute("x", left + state.column * cell);
    };
    return { svg, feel };
  }

  // --- The lines ---------------------------------------------------------------------------------------------------

  function drawLines(host) {
    const { rows, columns, most } = shown;
    const step = 24, top = 34;
    const rowLabels = rows.map(label), columnLabels = columns.map(label);
    const left = Math.max(60, ...rowLabels.map(textWidth)) + 20, right = Math.max(60, ...columnLabels.map(textWidth)) + 20;
    const between = Math.min(Math.max(host.clientWidth - left - right - 8, 140), 420);
    const width = Math.ceil(left + between + right), height = top + step * Math.max(rows.length, columns.length) + 8;
    const yOf = (i) => top + (i + 0.5) * step;

    const svg = add(host, "svg", { width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img" });
    add(svg, "text", { class: "axis", x: left - 10, y: 18, "text-anchor": "end" }, kinds[state.kind].rows + " (queries)");
    add(svg, "text", { class: "axis", x: left + between + 10, y: 18 }, kinds[state.kind].columns + " (keys)");

    const links = [];
    rows.forEach((_, r) => columns.forEach((__, c) => {
      const strength = Math.min(weightAt(r, c) / most, 1);
      if (strength < 0.02) return;
      const from = left, to = left + between, bend = between * 0.4;
      const node = add(svg, "path", { class: "link", "stroke-width": (0.8 + 3.2 * strength).toFixed(2),
        d: `M${from} ${yOf(r)}C${from + bend} ${yOf(r)} ${to - bend} ${yOf(c)} ${to} ${yOf(c)}` });
      links.push({ r, c, strength, node });
    }));

    // A token: a patch that shows its weight while a token of the other side is chosen, its text, and over both a box
    // that feels the mouse.
    const side = (labels, name, x, width, anchor, textX) => labels.map((token, i) => {
      const y = yOf(i) - step / 2;
      const patch = add(svg, "rect", { class: "patch", x, y: y + 1, width, height: step - 2, rx: 4 });
      const text = add(svg, "text", { x: textX, y: yOf(i) + 4.5, "text-anchor": anchor }, token);
      add(svg, "rect", { class: "catch", x, y, width, height: step, ["data-" + name]: i });
      return { patch, text };
    });
    const leftSide = side(rowLabels, "row", 2, left - 4, "end", left - 10);
    const rightSide = side(columnLabels, "column", left + between + 2, right - 4, "start", left + between + 10);

    const feel = (event) => {
      const { row, column } = event.target.dataset;
      point(row === undefined ? null : Number(row), column === undefined ? null : Number(column));
    };

    mark = () => {
      const { row, column } = state;
      const free = row === null && column === null;
      for (const { r, c, strength, node } of links) {
        const on = free || ((row === null || r === row) && (column === null || c === column));
        const faintest = free ? 0.06 : 0.25;  // one token's few lines may stand out more than all
        node.setAttribute("stroke-opacity", on ? (faintest + (1 - faintest) * strength).toFixed(3) : "0.03");
      }
      const show = (items, chosen, other, weightOf) => items.forEach(({ patch, text }, i) => {
        text.classList.toggle("on", i === chosen);
        const strength = other === null ? 0 : Math.min(Math.max(weightOf(i) / most, 0), 1);
        patch.setAttribute("fill-opacity", (0.55 * strength).toFixed(3));
      });
      show(leftSide, row, column, (i) => weightAt(i, column));
      show(rightSide, column, row, (i) => weightAt(row, i));
    };
    return { svg, feel };
  }

  // --- Words and numbers -------------------------------------------------------------------------------------------

  function listing(pairs, tokens) {
    return pairs.map(([i, weight]) => `${readable(tokens[i])}\u00a0${decimals(weight)}`).join(",  ") || "nothing";
  }

  function readOut() {
    const { row, column } = state;
    const readout = $("readout");
    readout.textContent = "";
    const strong = (text) => add(readout, "b", {}, text);
    const plain = (text) => readout.append(text);
    if (row !== null && column !== null) {
      strong(readable(shown.rows[row]));
      plain(" reads ");
      strong(readable(shown.columns[column]));
      plain(" with weight " + decimals(weightAt(row, column)));
    } else if (row !== null) {
      strong(readable(shown.rows[row]));
      plain(" reads  " + listing(strongest(row, null, 5), shown.columns));
    } else if (column !== null) {
      strong(readable(shown.columns[column]));
      plain(" is read by  " + listing(strongest(null, column, 5), shown.rows));
    } else {
      plain("Point at a cell or a token, or choose the picture and use the arrow keys.");
    }
  }

  function fillStrongest() {
    const list = $("strongest").querySelector("ol");
    list.textContent = "";
    if (!$("strongest").open) return;
    shown.rows.forEach((token, r) => {
      const item = add(list, "li");
      add(item, "b", {}, readable(token));
      item.append(": " + listing(strongest(r, null, 3), shown.columns));
    });
  }

  function fillNumbers() {
    const host = $("numbers").querySelector(".scroll");
    host.textContent = "";
    if (!$("numbers").open) return;
    host.tabIndex = 0;
    const table = add(host, "table");
    add(table, "caption", {}, $("caption").textContent);
    const head = add(add(table, "thead"), "tr");
    add(head, "th", { scope: "col" }, kinds[state.kind].rows + " \\ " + kinds[state.kind].columns);
    for (const token of shown.columns) add(head, "th", { scope: "col" }, readable(token));
    const body = add(table, "tbody");
    shown.rows.forEach((token, r) => {
      const line = add(body, "tr");
      add(line, "th", { scope: "row" }, readable(token));
      shown.columns.forEach((_, c) => add(line, "td", {}, decimals(weightAt(r, c))));
    });
  }

  // --- The overview ------------------------------------------------------------------------------------------------

  function fillOverview() {
    const host = $("overview");
    host.textContent = "";
    const maps = mapsOf(state.kind);
    const heads = Math.max(...maps.map((map) => map.heads));
    const table = add(host, "table");
    const top = add(add(table, "thead"), "tr");
    add(top, "td");
    if (heads > 1) add(top, "th", { scope: "col" }, "mean");
    for (let h = 0; h < heads; ++h) add(top, "th", { scope: "col" }, "head " + h);
    const body = add(table, "tbody");
    maps.forEach((map, m) => {
      const line = add(body, "tr");
      add(line, "th", { scope: "row" }, nameOf(map));
      for (let h = heads > 1 ? kMean : 0; h < map.heads; ++h) {
        const button = add(add(line, "td"), "button", { type: "button", "aria-label": `${nameOf(map)}, ${headName(h, map)}` });
        button.dataset.map = m;
        button.dataset.head = h;
        const weights = weightsOf(map, h);
        paintCells(add(button, "canvas"), weights, map.keys, roundScale(weights));
      }
    });
    markOverview();
  }

  function markOverview() {
    for (const button of $("overview").querySelectorAll("button")) {
      const chosen = Number(button.dataset.map) === state.map && Number(button.dataset.head) === state.head;
      button.setAttribute("aria-pressed", chosen);
    }
  }

  // --- Putting it together -----------------------------------------------------------------------------------------

  function drawPicture() {
    const map = currentMap(), kind = kinds[state.kind];
    const weights = weightsOf(map, state.head);
    shown = { rows: trace()[kind.rows], columns: trace()[kind.columns], weights, most: roundScale(weights) };
    state.row = state.column = null;
    $("caption").textContent = `${kind.title} \u00b7 ${nameOf(map).toLowerCase()} \u00b7 ${headName(state.head, map)}`;
    $("explanation").textContent = kind.text;
    const hadFocus = $("picture").contains(document.activeElement);
    $("picture").textContent = "";
    const { svg, feel } = (state.view === "map" ? drawMap : drawLines)($("picture"));
    svg.setAttribute("aria-label", `${$("caption").textContent}. ${shown.rows.length} by ${shown.columns.length} weights; ` +
      "move with the arrow keys; they are also given below in words and as a table.");
    svg.addEventListener("pointermove", feel);
    svg.addEventListener("pointerdown", feel);
    svg.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") point(null, null);  // a lifted finger leaves what it chose
    });
    svg.addEventListener("keydown", onKey);
    if (hadFocus) svg.focus();
    $("legend").hidden = state.view !== "map";
    paintCells($("bar"), Float64Array.from({ length: 256 }, (_, i) => i / 255), 256, 1);
    $("most").textContent = String(Number(shown.most.toPrecision(3)));
    mark();
    readOut();
    fillStrongest();
    fillNumbers();
  }

  function onKey(event) {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Escape") return point(null, null);
    if (!move) return;
    event.preventDefault();
    const clamp = (value, count) => Math.min(Math.max(value, 0), count - 1);
    const { row, column } = state;
    if (row === null && column === null) {
      point(0, state.view === "map" ? 0 : null);
    } else if (state.view === "map") {
      point(clamp((row ?? 0) + move[0], shown.rows.length), clamp((column ?? 0) + move[1], shown.columns.length));
    } else {  // up and down along a side, left and right between the sides
      const at = row ?? column, onLeft = move[1] === 0 ? row !== null : move[1] < 0;
      const next = clamp(at + move[0], (onLeft ? shown.rows : shown.columns).length);
      point(onLeft ? next : null, onLeft ? null : next);
    }
  }

  function fillSelect(select, names, chosen) {
    select.textContent = "";
    names.forEach(([value, name]) => add(select, "option", { value }, name));
    select.value = String(chosen);
  }

  function fillHeads() {
    const map = currentMap();
    const names = Array.from({ length: map.heads }, (_, h) => [h, "Head " + h]);
    state.head = map.heads === 1 ? 0 : Math.min(state.head, map.heads - 1);
    fillSelect($("head"), map.heads === 1 ? names : [[kMean, "Mean of heads"], ...names], state.head);
  }

  function chooseKind(kind) {
    state.kind = kind;
    const maps = mapsOf(kind);
    state.map = Math.min(state.map, maps.length - 1);
    fillSelect($("layer"), maps.map((map, m) => [m, nameOf(map)]), state.map);
    fillHeads();
    fillOverview();
    drawPicture();
  }

  function chooseMap(map, head) {
    state.map = map;
    state.head = head;
    $("layer").value = String(map);
    fillHeads();
    markOverview();
    drawPicture();
  }

  function chooseSentence(sentence) {
    state.sentence = sentence;
    $("model").textContent = trace().model;
    const source = trace().source.length > 0;  // a language model's text has none
    $("source-part").hidden = !source;
    $("target-name").textContent = source ? "Translation" : "Text";
    $("source-text").textContent = trace().source_text;
    $("target-text").textContent = trace().target_text;
    const there = Object.keys(kinds).filter((kind) => mapsOf(kind).length > 0);
    if (!there.includes(state.kind)) state.kind = there[0];
    const host = $("kinds");
    for (const old of host.querySelectorAll("label")) old.remove();
    for (const kind of there) {
      const field = add(host, "label");
      add(field, "input", { type: "radio", name: "kind", value: kind }).checked = kind === state.kind;
      add(field, "span", {}, kinds[kind].name);
    }
    chooseKind(state.kind);
  }

  const names = data.traces.map((one, i) => {
    const letters = Array.from(one.source_text || one.source.map(readable).join(" ") || one.target_text);
    return [i, `${i + 1}. ` + (letters.length > 60 ? letters.slice(0, 59).join("") + "\u2026" : letters.join(""))];
  });
  fillSelect($("sentence"), names, 0);
  $("sentence-field").hidden = data.traces.length === 1;

  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("sentence").addEventListener("change", (event) => chooseSentence(Number(event.target.value)));
  $("layer").addEventListener("change", (event) => chooseMap(Number(event.target.value), state.head));
  $("head").addEventListener("change", (event) => chooseMap(state.map, Number(event.target.value)));
  $("kinds").addEventListener("change", (event) => chooseKind(event.target.value));
  $("views").addEventListener("change", (event) => {
    state.view = event.target.value;
    drawPicture();
  });
  $("overview").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) chooseMap(Number(button.dataset.map), Number(button.dataset.head));
  });
  $("strongest").addEventListener("toggle", fillStrongest);
  $("numbers").addEventListener("toggle", fillNumbers);
  darkness.addEventListener("change", () => {
    fillOverview();
    drawPicture();
  });
  let resizing = 0, lastWidth = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === lastWidth) return;  // a phone's address bar comes and goes
    lastWidth = window.innerWidth;
    cancelAnimationFrame(resizing);
    resizing = requestAnimationFrame(drawPicture);
  });

  // "#sentence=1&kind=encoder&layer=2&head=3&view=lines" opens the page there.
  const asked = new URLSearchParams(location.hash.slice(1));
  const number = (name, most, fallback) => {
    const value = asked.has(name) ? Number(asked.get(name)) : NaN;
    return Number.isInteger(value) && value >= 0 && value <= most ? value : fallback;
  };
  state.sentence = number("sentence", data.traces.length - 1, 0);
  if (asked.has("kind") && mapsOf(asked.get("kind")).length > 0) state.kind = asked.get("kind");
  state.map = number("layer", Math.max(mapsOf(state.kind).length - 1, 0), 0);
  state.head = number("head", Infinity, kMean);
  if (asked.get("view") === "lines") {
    state.view = "lines";
    document.querySelector("input[value=lines]").checked = true;
  }
  $("sentence").value = String(state.sentence);
  chooseSentence(state.sentence);
})();
