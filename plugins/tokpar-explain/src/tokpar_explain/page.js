"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const KINDS = ["differing", "uncertified", "certified"];
const SIGNS = ["▼ differs", "no rule", ""];
const PAGE = 200;
const [KEPT, MATCHED, DIFFERS, SHARED] = [1, 2, 4, 8];
const POSITION = 0, LINE = 1, COLUMN = 2, RULE = 3, THEOREM = 4, RANK = 5;
const seams = data.seams;
const $ = (id) => document.getElementById(id);
const count = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;
let chosen = null;
let listed = [];
let first = 0;

function make(name, classes, text) {
  const element = document.createElement(name);
  if (classes) element.className = classes;
  if (text !== undefined) element.textContent = text;
  return element;
}

function draw(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/* The bar: of the seams that fall on one pixel the worst is drawn. */

function across(position, width) {
  return 6 + (position / Math.max(1, data.code_points)) * (width - 12);
}

function drawBar() {
  const bar = $("bar");
  const width = bar.clientWidth;
  const svg = draw("svg", { viewBox: `0 0 ${width} 50`, "aria-hidden": "true" });
  svg.append(draw("path", { class: "axis", d: `M6 25H${width - 6}` }));
  for (const [start, stop] of data.regions) {
    const [x, end] = [across(start, width), across(stop, width)];
    svg.append(draw("rect", { class: "region", x, y: 12, width: Math.max(1, end - x), height: 26 }));
  }
  const worst = new Map();
  for (const seam of seams) {
    const x = Math.round(across(seam[POSITION], width));
    worst.set(x, Math.min(worst.get(x) ?? 2, seam[RANK]));
  }
  const paths = ["", "", ""];
  for (const [x, rank] of worst) {
    if (rank === 0) paths[0] += `M${x} 44V10M${x - 5} 3H${x + 5}L${x} 12Z`;
    if (rank === 1) paths[1] += `M${x} 10V40`;
    if (rank === 2) paths[2] += `M${x} 18V32`;
  }
  for (const rank of [2, 1, 0]) svg.append(draw("path", { class: KINDS[rank], d: paths[rank] }));
  if (seams[chosen]) {
    const x = across(seams[chosen][POSITION], width);
    svg.append(draw("path", { class: "chosen", d: `M${x} 14V42M${x - 5} 49H${x + 5}L${x} 41Z` }));
  }
  bar.replaceChildren(svg);
}

function clickBar(event) {
  const width = $("bar").clientWidth;
  const x = event.clientX - $("bar").getBoundingClientRect().left;
  let best = -1;
  let least = Infinity;
  seams.forEach((seam, n) => {
    const away = Math.abs(across(seam[POSITION], width) - x);
    const cost = away < 5 ? seam[RANK] + away / 10 : 10 + away;
    if (cost < least) [best, least] = [n, cost];
  });
  if (best >= 0) go(best);
}

/* The list: so many at a time. */

function fillFilter() {
  const rules = [...new Set(seams.filter((seam) => seam[RULE]).map((seam) => seam[RULE]))].sort();
  const choices = [
    ["all", "all", seams.length],
    ["0", "ids differ", seams.filter((seam) => seam[RANK] === 0).length],
    ["none", "no rule", seams.filter((seam) => !seam[RULE]).length],
    ...rules.map((rule) => [rule, rule, seams.filter((seam) => seam[RULE] === rule).length]),
  ];
  for (const [value, words, number] of choices) {
    if (!number && value !== "all") continue;
    const option = make("option", "", `${words} (${number.toLocaleString("en")})`);
    option.value = value;
    $("filter").append(option);
  }
}

function applyFilter() {
  const value = $("filter").value;
  const fits = {
    all: () => true,
    0: (seam) => seam[RANK] === 0,
    none: (seam) => !seam[RULE],
  }[value] ?? ((seam) => seam[RULE] === value);
  listed = seams.map((_, n) => n).filter((n) => fits(seams[n]));
  const place = listed.indexOf(chosen);
  first = place < 0 ? 0 : place - (place % PAGE);
  drawList();
}

function drawList() {
  const shown = listed.slice(first, first + PAGE);
  $("list").replaceChildren(...shown.map(listEntry));
  $("which").textContent = listed.length
    ? `${first + 1} to ${first + shown.length} of ${listed.length.toLocaleString("en")}`
    : "none";
  $("turn").hidden = listed.length <= PAGE;
  $("back").disabled = first === 0;
  $("on").disabled = first + PAGE >= listed.length;
  const current = $("list").querySelector("[aria-current]");
  if (current) $("list").scrollTop = Math.max(0, current.offsetTop - $("list").offsetTop - 80);
}

function listEntry(n) {
  const seam = seams[n];
  const button = make("button");
  button.type = "button";
  button.dataset.seam = n;
  if (n === chosen) button.setAttribute("aria-current", "true");
  button.append(
    make("span", "number", String(n)),
    make("span", "rule", seam[RULE] || "–"),
    make("span", "", `${seam[LINE].toLocaleString("en")}:${seam[COLUMN].toLocaleString("en")}`),
    make("span", `sign ${["bad", "doubt", "good"][seam[RANK]]}`, SIGNS[seam[RANK]]),
  );
  button.title = `code point ${seam[POSITION].toLocaleString("en")}`;
  button.addEventListener("click", () => go(n));
  return button;
}

function turn(step) {
  first += step * PAGE;
  drawList();
  $("list").scrollTop = 0;
}

/* The seam that is chosen. */

function textParts(parts) {
  return parts.map(([text, shared]) => make("span", shared ? "shared" : "", text));
}

function tokenBox([number, id, text, start, stop, flags]) {
  const classes = ["token"];
  if (number % 2) classes.push("odd");
  if (!(flags & KEPT)) classes.push("dropped");
  if (flags & MATCHED) classes.push("matched");
  if (flags & DIFFERS) classes.push("differs");
  if (flags & SHARED) classes.push("shared");
  const box = make("span", classes.join(" "));
  const where = start < 0 ? "place unknown" : `code points ${start} to ${stop}`;
  box.title = `token ${number}, id ${id}, ${where}`;
  box.append(make("span", "name", text || `#${id}`), make("span", "id", String(id)));
  if (start >= 0) box.append(make("span", "at", String(start)));
  return box;
}

function seamMark() {
  const mark = make("span", "seam");
  mark.title = "the seam";
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", "seam");
  return mark;
}

function rowBox([tokens, total, seam], none) {
  const row = make("div", "row");
  let last = null;
  for (const token of tokens) {
    if (last !== null && token[0] !== last + 1) row.append(make("span", "gap", "…"));
    if (token[0] === seam) row.append(seamMark());
    row.append(tokenBox(token));
    last = token[0];
  }
  if (last !== null && last + 1 === seam) row.append(seamMark());
  if (!tokens.length) row.append(make("span", "gap", none));
  if (none === "nothing" && tokens.length < total) row.append(make("span", "gap", "…"));
  return row;
}

function labelled(label, box) {
  return [make("h3", "", label), box];
}

function range([start, stop]) {
  return `code points ${start.toLocaleString("en")} to ${stop.toLocaleString("en")}`;
}

function head(n) {
  const seam = seams[n];
  const box = make("div", "head");
  const licence = seam[RULE] ? `${seam[RULE]}, theorem ${seam[THEOREM]}` : "no rule";
  const step = make("span", "step");
  for (const [words, to] of [["Previous", n - 1], ["Next", n + 1]]) {
    const button = make("button", "", words);
    button.type = "button";
    button.disabled = to < 0 || to >= seams.length;
    button.addEventListener("click", () => go(to));
    step.append(button, " ");
  }
  box.append(
    make("h2", "", `Seam ${n}`),
    make("span", `licence ${seam[RULE] ? "good" : "doubt"}`, licence),
    make("span", `verdict ${seam[RANK] ? "" : "bad"}`, seam[RANK] ? "ids equal" : "≠ ids differ"),
    step,
  );
  return box;
}

function proofLine(seam, detail) {
  const line = make("p", "proof");
  if (detail.says) line.append(`Theorem ${seam[THEOREM]}: ${detail.says}. `);
  if (detail.page) {
    const link = make("a", "", `proofs/${detail.page}`);
    link.href = `${data.proofs}/${detail.page}`;
    line.append(link);
  }
  return line;
}

function witnessList(witness) {
  const list = make("dl");
  for (const [name, value] of witness) {
    list.append(make("dt", "", name), make("dd", "", String(value)));
  }
  return list;
}

function drawDetail() {
  const box = $("detail");
  if (!seams[chosen]) {
    box.replaceChildren(make("p", "", `There is no seam: ${data.why || data.plan}.`));
    return;
  }
  const seam = seams[chosen];
  const place = `Code point ${seam[POSITION].toLocaleString("en")}, line ${seam[LINE]}, column ` +
    `${seam[COLUMN]}.`;
  box.replaceChildren(head(chosen), make("p", "place", place));
  const detail = data.details[chosen];
  if (!detail) {
    box.append(make("p", "", "This page holds the details of the first " +
      `${count(Object.keys(data.details).length, "seam")} only, those that differ first. See ` +
      `this one with: tokpar explain --seam ${chosen}`));
    return;
  }
  box.append(make("p", "meaning", data.meanings[detail.meaning]), proofLine(seam, detail));
  const words = make("ul");
  words.append(...detail.words.map((each) => make("li", "", each)));
  box.append(words);
  const text = make("div", "text");
  text.append(...textParts(detail.before), seamMark(), ...textParts(detail.after));
  box.append(
    ...labelled("Text", text),
    ...labelled(`Left chunk, ${range(detail.left)}`, rowBox(detail.rows[0], "no token here")),
    ...labelled(`Right chunk, ${range(detail.right)}`, rowBox(detail.rows[1], "no token here")),
    ...labelled(`Joined, ${count(data.ids, "id")}`, rowBox(detail.rows[2], "no token here")),
    ...labelled(`Serial, ${count(data.serial, "id")}`, rowBox(detail.rows[3], "no token here")),
    ...detail.differences.map(differenceBox),
  );
  if (detail.more) box.append(make("p", "", `And ${count(detail.more, "more difference")}.`));
  if (detail.witness.length) {
    box.append(...labelled("Witness", witnessList(detail.witness)));
  }
  box.append(keyLine());
}

function differenceBox([words, joined, serial]) {
  const box = make("div", "difference");
  box.append(
    make("p", "bad", `≠ ${words}`),
    ...labelled("Joined", rowBox(joined, "nothing")),
    ...labelled("Serial", rowBox(serial, "nothing")),
  );
  return box;
}

function keyLine() {
  const line = make("p", "key");
  const sample = (classes, words) => {
    const box = make("span", `token ${classes}`);
    box.append(make("span", "name", words));
    return box;
  };
  line.append(
    sample("", "kept"), " ", sample("dropped", "dropped"), " ",
    sample("matched", "both chunks found it"), " ", sample("shared", "in the overlap"), " ",
    sample("differs", "joined and serial differ"), " ␣ is a space. Below a token: its id, and @ the code point where it begins.",
  );
  return line;
}

/* Choosing: the URL's fragment says which. */

function go(n) {
  choose(n);
  location.hash = `seam-${n}`;
}

function choose(n) {
  chosen = n;
  const bar = $("bar");
  bar.setAttribute("aria-valuenow", String(Math.max(0, n)));
  const seam = seams[n];
  bar.setAttribute("aria-valuetext", seam ? `seam ${n}, ${seam[RULE] || "no rule"}` : "no seam");
  const place = listed.indexOf(n);
  if (place >= 0) first = place - (place % PAGE);
  drawBar();
  drawList();
  drawDetail();
}

function fromFragment() {
  const named = /^#seam-(\d+)$/.exec(location.hash);
  const n = named ? Number(named[1]) : data.first;
  const to = n < seams.length ? n : data.first;
  if (to !== chosen) choose(to);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const inside = $("list").contains(event.target);
  const onBar = event.target === $("bar");
  let to = null;
  if (event.key === "j") to = chosen + 1;
  if (event.key === "k") to = chosen - 1;
  if (onBar && (event.key === "ArrowRight" || event.key === "ArrowUp")) to = chosen + 1;
  if (onBar && (event.key === "ArrowLeft" || event.key === "ArrowDown")) to = chosen - 1;
  if (onBar && event.key === "Home") to = 0;
  if (onBar && event.key === "End") to = seams.length - 1;
  if (inside && event.key === "ArrowDown") to = listed[listed.indexOf(chosen) + 1];
  if (inside && event.key === "ArrowUp") to = listed[listed.indexOf(chosen) - 1];
  if (to === null || to === undefined || to < 0 || to >= seams.length) return;
  event.preventDefault();
  go(to);
  if (inside) $("list").querySelector("[aria-current]")?.focus();
}

$("summary").textContent = data.summary;
$("verdict").textContent = data.verdict;
$("verdict").className = data.ok ? "good" : data.equal ? "doubt" : "bad";
$("region-legend").hidden = !data.regions.length;
$("bar").setAttribute("aria-valuemax", String(Math.max(0, seams.length - 1)));
$("bar").addEventListener("click", clickBar);
$("back").addEventListener("click", () => turn(-1));
$("on").addEventListener("click", () => turn(1));
$("filter").addEventListener("change", applyFilter);
addEventListener("hashchange", fromFragment);
addEventListener("keydown", onKey);
addEventListener("resize", drawBar);
fillFilter();
applyFilter();
fromFragment();
