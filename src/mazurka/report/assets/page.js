"use strict";
// The page of a report. Texts of the program get into the page as text nodes only, never as HTML.

const DATA = JSON.parse(document.getElementById("data").textContent);
const ROW = 28; // the height of a row, as in the style
const NARROWEST = 190; // column of a thread; with less room threads are lanes, and texts beside them
const LANE = 22;
const COLOURS = 8;
const SVG = "http://www.w3.org/2000/svg";
const ONLY_FOR_ONE = ["own", "constant"]; // groups of steps that no other thread can notice

const byId = (id) => document.getElementById(id);
const text = (number) => (number < 0 ? "" : DATA.strings[number]);
const colour = (number) => `var(--t${number % COLOURS})`;
const limited = (value, least, most) => Math.max(least, Math.min(most, value));
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  return filled(element, attributes, children);
}

function draw(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "class") element.setAttribute("class", value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// Text of which what stands between backquotes is a name in the program.
function words(sentence) {
  return sentence.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));
}

// Executions

function stepOf(row) {
  const [thread, file, line, action, operation, access, label, found, left, outcome, source, after, group, deciding] = row;
  return {
    thread: text(thread), file, line, action: text(action), operation: text(operation), access: text(access),
    label: text(label), found: found < 0 ? null : text(found), left: left < 0 ? null : text(left),
    outcome: text(outcome), source, after, group: text(group), deciding: Boolean(deciding),
  };
}

function waitingStep([thread, file, line, what, label, source, deciding]) {
  return {
    thread: text(thread), file, line, action: text(what), operation: "waits", access: "", label: text(label), found: null,
    left: null, outcome: "waits", source, after: source < 0 ? [] : [source], group: "", deciding: Boolean(deciding),
  };
}

function ending([thread, what]) {
  return {
    thread: text(thread), file: -1, line: 0, action: text(what), operation: "ends", access: "", label: "", found: null,
    left: null, outcome: "ends", source: -1, after: [], group: "", deciding: true,
  };
}

const read = new Map();

function executionOf(number) {
  if (!read.has(number)) {
    const raw = DATA.executions[number];
    const steps = raw.steps.map(stepOf);
    const count = steps.length;
    const failed = steps.findIndex((step) => step.outcome === "too late");
    if (raw.ending) steps.splice(failed < 0 ? count : failed, 0, ending(raw.ending));
    const moved = (at) => (raw.ending && failed >= 0 && at >= failed ? at + 1 : at);
    if (raw.ending && failed >= 0) {
      for (const step of steps) {
        step.source = moved(step.source);
        step.after = step.after.map(moved);
      }
    }
    steps.push(...raw.waiting.map(waitingStep));
    const shown = new Set(raw.shown ? raw.shown.map(moved) : []);
    steps.forEach((step, at) => {
      if (["waits", "ends"].includes(step.outcome)) shown.add(at);
      if (!raw.shown && step.group === "") shown.add(at);
    });
    const pairs = raw.pairs.map((pair) => pair.map(moved));
    const threads = [...new Set(steps.map((step) => step.thread).filter(Boolean))];
    read.set(number, { number, steps, shown, pairs, threads, values: valuesOf(steps) });
  }
  return read.get(number);
}

// The values of what is shared, each with the steps that change what is known of it.
function valuesOf(steps) {
  const values = new Map();
  steps.forEach((step, at) => {
    if (!step.label || (!step.access && step.outcome !== "waits")) return;
    if (!values.has(step.label)) values.set(step.label, { label: step.label, known: [], threads: new Set() });
    const value = values.get(step.label);
    if (!ONLY_FOR_ONE.includes(step.group) && step.group !== "threading") value.threads.add(step.thread);
    if (step.found !== null && step.left === null) {
      const before = value.known.at(-1);
      if (!before) value.known.push({ at: -1, value: step.found, by: "" });
      else if (before.value !== step.found) value.known.push({ at, value: step.found, by: before.by });
    }
    if (step.found !== null && step.left !== null && !value.known.length) {
      value.known.push({ at: -1, value: step.found, by: "" });
    }
    const left = leftBy(step);
    if (left !== null) value.known.push({ at, value: left, by: step.thread });
  });
  return [...values.values()];
}

function leftBy(step) {
  if (step.left !== null) return step.left;
  if (step.access === "" || step.access === "read" || step.outcome === "fails" || step.outcome === "too late") return null;
  if (step.operation === "acquire" || step.operation === "try acquire") return `held by ${step.thread}`;
  if (step.operation === "release") return "free";
  return step.action;
}

// What is shown

const state = { execution: -1, rows: [], rowOf: [], at: 0, opened: new Set(), all: false, edges: true };
let shown = null; // the execution

function showExecution(number, at) {
  if (number < 0 || number >= DATA.executions.length) return;
  state.execution = number;
  state.opened = new Set();
  shown = executionOf(number);
  byId("execution").value = String(number);
  showAccount();
  layOut();
  go(at === undefined ? firstDeciding() : at);
  revealCurrent(true);
}

function firstDeciding() {
  const at = state.rows.findIndex((row) => row.step >= 0 && shown.steps[row.step].deciding);
  return at < 0 ? state.rows.findIndex((row) => row.step >= 0) : at;
}

// Rows: steps, and gaps between them.
function layOut() {
  const { steps } = shown;
  state.rows = [];
  state.rowOf = new Array(steps.length).fill(-1);
  steps.forEach((step, at) => {
    const isShown = state.all || shown.shown.has(at) || state.opened.has(at);
    const latest = state.rows.at(-1);
    if (isShown) state.rows.push({ step: at });
    else if (latest && latest.step < 0) latest.folded.push(at);
    else state.rows.push({ step: -1, folded: [at] });
    state.rowOf[at] = state.rows.length - 1;
  });
  state.edgesShown = edgesOf();
  byId("canvas").style.height = `${state.rows.length * ROW}px`;
  byId("slider").max = String(Math.max(state.rows.length - 1, 0));
  measure();
}

// Edges between rows: [from, to, kind].
function edgesOf() {
  const { steps, pairs } = shown;
  const edges = new Map();
  const add = (from, to, kind) => {
    if (from < 0 || from >= steps.length || steps[from].thread === steps[to].thread) return;
    const [first, second] = [state.rowOf[from], state.rowOf[to]];
    if (first === second || (state.rows[first].step < 0 && state.rows[second].step < 0)) return;
    const key = `${first} ${second} ${steps[from].thread} ${steps[to].thread}`;
    edges.set(key, { from, to, first, second, kind });
  };
  steps.forEach((step, at) => step.after.forEach((before) => add(before, at, "")));
  steps.forEach((step, at) => add(step.source, at, "reads"));
  pairs.forEach(([first, second]) => add(first, second, "pair"));
  return [...edges.values()];
}

// The geometry: a column for each thread, or lanes if there is no room for columns.
const geometry = { margin: 0, column: 0, lanes: false, threads: [], width: 0 };

function measure() {
  const room = byId("diagram").clientWidth || 800;
  const used = new Set();
  for (const row of state.rows) if (row.step >= 0) used.add(shown.steps[row.step].thread);
  const threads = shown.threads.filter((thread) => used.has(thread));
  const several = new Set(state.rows.filter((row) => row.step >= 0).map((row) => shown.steps[row.step].file).filter((file) => file > 0 || text(file))).size > 1;
  const margin = several ? 128 : 56;
  const column = Math.floor((room - margin - 16) / Math.max(threads.length, 1));
  const lanes = column < NARROWEST;
  Object.assign(geometry, { margin: lanes && room < 700 ? 52 : margin, lanes, threads, several: several && !(lanes && room < 700) });
  geometry.column = lanes ? LANE : column;
  geometry.width = Math.max(room, lanes ? 0 : geometry.margin + column * threads.length);
  byId("canvas").style.width = `${geometry.width}px`;
  drawHeads();
  drawWindow();
}

const laneOf = (thread) => Math.max(geometry.threads.indexOf(thread), 0);
const xOf = (thread) => geometry.margin + laneOf(thread) * geometry.column + 9;
const textAt = (thread) =>
  geometry.lanes ? geometry.margin + geometry.threads.length * LANE + 8 : xOf(thread) + 12;

function drawHeads() {
  const heads = byId("heads");
  const left = byId("diagram").scrollLeft;
  heads.hidden = false;
  heads.replaceChildren(
    ...geometry.threads.map((thread, at) => {
      const width = geometry.lanes ? geometry.column - 4 : geometry.column - 14;
      const name = geometry.lanes ? String(at + 1) : thread;
      return make("span", {
        title: thread,
        style: { left: `${xOf(thread) - (geometry.lanes ? 4 : 6) - left}px`, maxWidth: `${width}px`, color: colour(laneIndex(thread)) },
      }, name);
    }),
  );
  const legend = [make("i", {}), "happens before", make("i", { class: "reads" }), "reads from", make("i", { class: "pair" }), "decides: the other way round, it passes"];
  if (geometry.lanes) {
    geometry.threads.forEach((thread, at) =>
      legend.push(make("span", { style: { color: colour(laneIndex(thread)), marginLeft: "10px" } }, `${at + 1} ${thread}`)));
  }
  byId("legend").replaceChildren(...legend);
}

const laneIndex = (thread) => Math.max(shown.threads.indexOf(thread), 0);

function fileName(number) {
  const file = DATA.files.find((each) => each[0] === number);
  return file ? file[1] : "";
}

// Only the rows in sight are drawn, and the edges that cross them.
function drawWindow() {
  const diagram = byId("diagram");
  const first = Math.max(0, Math.floor(diagram.scrollTop / ROW) - 10);
  const last = Math.min(state.rows.length, Math.ceil((diagram.scrollTop + diagram.clientHeight) / ROW) + 10);
  const rows = [];
  for (let at = first; at < last; at++) rows.push(rowElement(at));
  byId("canvas").replaceChildren(...rows, picture(first, last));
  const current = byId(`row-${state.at}`);
  if (current) diagram.setAttribute("aria-activedescendant", current.id);
  else diagram.removeAttribute("aria-activedescendant");
}

function rowElement(at) {
  const row = state.rows[at];
  const step = row.step >= 0 ? shown.steps[row.step] : null;
  const kinds = ["row"];
  if (!step) kinds.push("folded");
  if (step && step.deciding) kinds.push("deciding");
  if (step && step.outcome === "too late") kinds.push("late");
  if (at === state.at) kinds.push("current");
  const element = make("div", {
    class: kinds.join(" "), id: `row-${at}`, role: "option", "aria-selected": String(at === state.at),
    "aria-posinset": at + 1, "aria-setsize": state.rows.length,
    style: { top: `${at * ROW}px`, width: `${geometry.width}px` },
  });
  element.dataset.row = String(at);
  if (!step) {
    const groups = [...new Set(row.folded.map((each) => shown.steps[each].group).filter((group) => group && !ONLY_FOR_ONE.includes(group)))];
    const words = `\u2026 ${groups.length ? `${groups.join(", ")}: ` : ""}${plural(row.folded.length, "step")} \u2026`;
    element.append(make("span", { class: "what", style: { left: `${textAt(geometry.threads[0])}px` } }, words));
    element.title = "Click to show these steps";
    return element;
  }
  const place = step.line ? (geometry.several ? `${fileName(step.file)}:${step.line}` : String(step.line)) : "";
  const left = textAt(step.thread);
  const right = geometry.lanes ? geometry.width : xOf(step.thread) - 9 + geometry.column;
  const isLate = step.outcome === "too late" ? "(later) " : "";
  element.append(
    make("span", { class: "where", title: place, style: { width: `${geometry.margin - 10}px` } }, (step.deciding ? "\u2605" : "") + place),
    make("span", { class: "what", style: { left: `${left}px`, width: `${Math.max(right - left - 4, 40)}px`, color: colour(laneIndex(step.thread)) } }, isLate + step.action),
  );
  element.title = `${step.thread}: ${step.action}`;
  return element;
}

function picture(first, last) {
  const height = (last - first) * ROW;
  const svg = draw("svg", { width: geometry.width, height, "aria-hidden": "true", style: { top: `${first * ROW}px` } });
  const y = (row) => (row - first) * ROW + ROW / 2;
  const spans = new Map();
  state.rows.forEach((row, at) => {
    if (row.step < 0) return;
    const { thread } = shown.steps[row.step];
    if (!spans.has(thread)) spans.set(thread, [at, at]);
    spans.get(thread)[1] = at;
  });
  for (const [thread, [from, to]] of spans) {
    if (to < first || from >= last) continue;
    svg.append(draw("line", {
      class: "life", x1: xOf(thread), x2: xOf(thread), y1: y(Math.max(from, first)), y2: y(Math.min(to, last)), stroke: colour(laneIndex(thread)),
    }));
  }
  if (state.edges) for (const edge of state.edgesShown) if (edge.first < last && edge.second >= first) svg.append(edgeElement(edge, y));
  for (let at = first; at < last; at++) {
    const row = state.rows[at];
    if (row.step < 0) continue;
    const step = shown.steps[row.step];
    svg.append(draw("circle", {
      cx: xOf(step.thread), cy: y(at), r: step.deciding ? 5.5 : 4, fill: step.outcome === "waits" ? "var(--paper)" : colour(laneIndex(step.thread)),
      stroke: colour(laneIndex(step.thread)), "stroke-width": 2,
    }));
  }
  return svg;
}

function edgeElement(edge, y) {
  const [x1, x2] = [edge.from, edge.to].map((at) => xOf(shown.steps[at].thread));
  const [y1, y2] = [y(edge.first), y(edge.second)];
  const bend = Math.min(60, Math.abs(y2 - y1) / 2);
  const near = edge.first === state.at || edge.second === state.at ? " near" : "";
  return draw("path", { class: `edge ${edge.kind}${near}`, d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}` });
}

// Stepping

function go(at) {
  state.at = limited(at, 0, Math.max(state.rows.length - 1, 0));
  byId("slider").value = String(state.at);
  const row = state.rows[state.at];
  const steps = shown.steps.length;
  const number = row ? (row.step >= 0 ? row.step : row.folded.at(-1)) : 0;
  byId("place").textContent = steps ? `${(number + 1).toLocaleString("en")} of ${steps.toLocaleString("en")}` : "no steps";
  byId("back").disabled = byId("first").disabled = state.at === 0;
  byId("forward").disabled = byId("last").disabled = state.at >= state.rows.length - 1;
  byId("deciding").disabled = !shown.steps.some((step) => step.deciding);
  showNow(number);
  showSource(number);
  showValues(number);
  drawWindow();
  location.replace(`#execution-${state.execution + 1}-step-${number + 1}`);
}

function move(by) {
  let at = state.at + by;
  while (state.rows[at] && state.rows[at].step < 0) at += Math.sign(by);
  if (at < 0 || at >= state.rows.length) at = by < 0 ? 0 : state.rows.length - 1;
  go(at);
  revealCurrent(false);
}

function moveToDeciding(by) {
  for (let count = 1; count <= state.rows.length; count++) {
    const at = (state.at + by * count + count * state.rows.length) % state.rows.length;
    const row = state.rows[at];
    if (row.step >= 0 && shown.steps[row.step].deciding) {
      go(at);
      revealCurrent(false);
      return;
    }
  }
}

function open(at) {
  const { folded } = state.rows[at];
  folded.forEach((step) => state.opened.add(step));
  layOut();
  go(state.rowOf[folded[0]]);
}

function toggleAll(on) {
  const row = state.rows[state.at];
  const step = row ? (row.step >= 0 ? row.step : row.folded[0]) : 0;
  state.all = on;
  state.opened = new Set();
  byId("all").checked = on;
  layOut();
  go(state.rowOf[step]);
  revealCurrent(true);
}

function revealCurrent(inTheMiddle) {
  const diagram = byId("diagram");
  const top = state.at * ROW;
  const { scrollTop, clientHeight } = diagram;
  if (top < scrollTop + ROW || top > scrollTop + clientHeight - 3 * ROW || inTheMiddle) {
    diagram.scrollTop = top - clientHeight / 2;
  }
  drawWindow();
}

// Beside the diagram

function showNow(number) {
  const step = shown.steps[number];
  const now = byId("now");
  if (!step) {
    now.replaceChildren("This execution has no steps.");
    return;
  }
  const parts = [make("b", { style: { color: colour(laneIndex(step.thread)) } }, step.thread), " ", make("code", {}, step.action)];
  if (step.line) parts.push(` at ${fileName(step.file)}:${step.line}`);
  if (step.source >= 0 && shown.steps[step.source]) {
    const source = shown.steps[step.source];
    parts.push(step.operation === "waits" ? "; the latest change was made by " : "; it finds what was left by ", make("b", { style: { color: colour(laneIndex(source.thread)) } }, source.thread));
    if (source.line) parts.push(` at line ${source.line}`);
  }
  if (step.outcome === "fails") parts.push("; it has no effect");
  if (step.outcome === "waits") parts.push(", for ever");
  if (step.outcome === "too late") parts.push("; that comes after the failure");
  if (step.deciding && !["waits", "ends"].includes(step.outcome)) parts.push("; this step is one of those that decide");
  now.replaceChildren(...parts, ".");
}

const TOKENS = /(#.*|\/\/.*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(and|as|assert|async|await|break|case|class|continue|def|del|do|elif|else|except|finally|for|from|global|goto|if|import|in|is|lambda|match|nonlocal|not|or|pass|raise|return|static|struct|switch|try|typedef|while|with|yield|None|True|False|NULL)\b/g;

function coloured(line) {
  const parts = [];
  let from = 0;
  for (const found of line.matchAll(TOKENS)) {
    if (found.index > from) parts.push(line.slice(from, found.index));
    const kind = found[1] ? "comment" : found[2] ? "string" : "word";
    parts.push(make("span", { class: kind }, found[0]));
    from = found.index + found[0].length;
  }
  parts.push(line.slice(from));
  return parts;
}

let sourceShown = -1;
const sourceLines = new Map();

// Before a step without a line, the latest one of its thread that has one.
function lineBefore(number) {
  const { thread } = shown.steps[number];
  for (let at = number; at >= 0; at--) {
    const step = shown.steps[at];
    if (step.thread === thread && step.line) return step;
  }
  return null;
}

function showSource(number) {
  const step = shown.steps[number] ? lineBefore(number) : null;
  if (!step) return;
  if (step.file !== sourceShown) loadSource(step.file);
  const places = placesOfThreads(number);
  for (const [line, element] of sourceLines) {
    element.className = line === step.line ? "code here" : "code";
    const others = places.get(`${step.file} ${line}`) || [];
    const dots = others.map((thread) => make("b", { title: thread, style: { background: colour(laneIndex(thread)) } }));
    const holder = element.children[1];
    if (dots.length || holder.childElementCount) holder.replaceChildren(...dots.slice(0, 3));
  }
  const here = sourceLines.get(step.line);
  if (here) {
    const source = byId("source");
    source.scrollTop = here.offsetTop - source.clientHeight / 2 + here.clientHeight / 2;
  }
}

function loadSource(number) {
  sourceShown = number;
  sourceLines.clear();
  const file = DATA.files.find((each) => each[0] === number);
  byId("file").textContent = file ? file[1] : "Source";
  const rows = [];
  (file ? file[2] : []).forEach(([first, lines], block) => {
    if (block) rows.push(make("div", { class: "gap" }, "\u22EE"));
    lines.forEach((line, at) => {
      const row = make("div", { class: "code" },
        make("span", { class: "number" }, String(first + at)), make("span", { class: "others" }), make("span", {}, ...coloured(line)));
      sourceLines.set(first + at, row);
      rows.push(row);
    });
  });
  byId("source").replaceChildren(...rows);
}

// Where each thread is: at its latest step.
function placesOfThreads(number) {
  const places = new Map();
  const seen = new Set();
  for (let at = number; at >= 0 && seen.size < shown.threads.length; at--) {
    const step = shown.steps[at];
    if (seen.has(step.thread) || !step.line) continue;
    seen.add(step.thread);
    const key = `${step.file} ${step.line}`;
    places.set(key, [...(places.get(key) || []), step.thread]);
  }
  return places;
}

const MOST_VALUES = 100;

function showValues(number) {
  const step = shown.steps[number];
  const isOfIt = (value) => step && value.label === step.label;
  const values = shown.values.filter((value) => value.known.length && (state.all || value.threads.size > 1 || isOfIt(value)));
  const listed = values.filter((value, at) => at < MOST_VALUES || isOfIt(value));
  const rows = listed.map((value) => {
    const known = knownAt(value.known, number);
    const kind = known && known.at === number && step.access !== "read" ? "changed" : isOfIt(value) ? "found" : "";
    return make("tr", { class: kind }, make("td", { class: "name" }, value.label),
      make("td", { class: "value" }, known ? known.value : "not known yet"), make("td", {}, known && known.by ? `by ${known.by}` : ""));
  });
  const head = make("tr", {}, make("th", {}, "name"), make("th", {}, "value"), make("th", {}, "last change"));
  const more = values.length > listed.length ? `and ${values.length - listed.length} more` : "";
  byId("values").replaceChildren(rows.length ? make("table", {}, head, ...rows) : "Nothing is shared.", more);
}

function knownAt(known, number) {
  let [low, high] = [0, known.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (known[middle].at <= number) low = middle + 1;
    else high = middle;
  }
  return low ? known[low - 1] : null;
}

// The account above the diagram

function showAccount() {
  const failure = DATA.failures.find((each) => each.execution === state.execution || each.passing === state.execution);
  const details = byId("details");
  if (!failure) {
    byId("sentence").textContent = byId("execution").selectedOptions[0]?.textContent || DATA.verdict;
    details.replaceChildren();
    return;
  }
  if (failure.passing === state.execution) {
    byId("sentence").textContent = "An execution that passes, and differs little from the one that fails.";
    details.replaceChildren();
    return;
  }
  byId("sentence").replaceChildren(...words(failure.sentence || failure.headline));
  const lines = failure.details.map((line) => make("p", {}, line));
  if (failure.sentence) lines.unshift(make("p", { class: "headline" }, failure.headline));
  if (failure.alike > 1) lines.push(make("p", {}, `${plural(failure.alike, "execution")} fail like this.`));
  if (failure.remark) lines.push(make("p", {}, `(${failure.remark})`));
  details.replaceChildren(...lines);
}

function fillPicker() {
  const failing = make("optgroup", { label: "Failures" });
  const passing = make("optgroup", { label: "Passing neighbours" });
  const returning = make("optgroup", { label: "Outcomes" });
  DATA.failures.forEach((failure, at) => {
    const name = `${at + 1}. ${failure.name}`;
    if (failure.execution >= 0) failing.append(make("option", { value: failure.execution }, name));
    if (failure.passing >= 0) passing.append(make("option", { value: failure.passing }, `Passes, beside ${name}`));
  });
  DATA.outcomes.forEach(([outcome, count, execution]) => {
    if (execution >= 0) returning.append(make("option", { value: execution }, `Returns ${outcome} (${plural(count, "execution")})`));
  });
  const known = new Set([...failing.children, ...passing.children, ...returning.children].map((option) => Number(option.value)));
  const others = make("optgroup", { label: "Of the tree" });
  DATA.executions.forEach((_, at) => {
    if (!known.has(at)) others.append(make("option", { value: at }, `Execution ${leafNumber(at)} of the tree`));
  });
  byId("execution").replaceChildren(...[failing, passing, returning, others].filter((group) => group.childElementCount));
}

function leafNumber(execution) {
  return DATA.tree ? DATA.tree.leaves.findIndex((leaf) => leaf[3] === execution) + 1 : execution + 1;
}

// Outcomes

function fillOutcomes() {
  const panel = byId("outcomes");
  panel.className = "plain";
  if (!DATA.outcomes.length) {
    panel.replaceChildren("No outcomes: no execution ran to its end without failing.");
    return;
  }
  const rows = DATA.outcomes.map(([outcome, count, execution]) =>
    make("tr", {}, make("td", { class: "number" }, count.toLocaleString("en")), make("td", { class: "value" }, outcome), make("td", {}, showButton(execution))));
  const head = make("tr", {}, make("th", {}, "executions"), make("th", {}, "what the program returned"), make("th", {}, ""));
  panel.replaceChildren(make("table", {}, head, ...rows));
}

function showButton(execution) {
  if (execution < 0) return "";
  const button = make("button", { type: "button" }, "Show an execution");
  button.addEventListener("click", () => {
    select("steps");
    showExecution(execution, 0);
  });
  return button;
}

// The tree of executions

const TREE = { nodes: [], zoom: 1, chosen: -1 };
const MOST_DRAWN = 1500;
const ENDS = { complete: "var(--good)", failed: "var(--accent)", blocked: "var(--t1)", redundant: "var(--soft)", cut: "var(--warn)" };

// Branches with one branch below are drawn as one node.
function readTree() {
  const { branches, leaves } = DATA.tree;
  const below = branches.map(() => []);
  branches.forEach(([parent], at) => {
    if (parent >= 0) below[parent].push(at);
  });
  const endsAt = new Map();
  leaves.forEach((leaf, at) => endsAt.set(leaf[0], [...(endsAt.get(leaf[0]) || []), at]));
  const counts = branches.map((_, at) => (endsAt.get(at) || []).length);
  const failures = branches.map((_, at) => (endsAt.get(at) || []).filter((leaf) => leaves[leaf][1] === "failed").length);
  for (let at = branches.length - 1; at > 0; at--) {
    counts[branches[at][0]] += counts[at];
    failures[branches[at][0]] += failures[at];
  }
  const nodes = [];
  const pending = [[0, -1]];
  while (pending.length) {
    const [branch, parent] = pending.pop();
    const chain = branch ? [branch] : [];
    let at = branch;
    while (below[at].length === 1 && !endsAt.has(at)) chain.push((at = below[at][0]));
    const number = nodes.length;
    nodes.push({ parent, chain, at, below: [], open: false, leaves: endsAt.get(at) || [], count: counts[at], failures: failures[at], depth: parent < 0 ? 0 : nodes[parent].depth + 1 });
    if (parent >= 0) nodes[parent].below.push(number);
    for (const next of below[at].slice().reverse()) pending.push([next, number]);
  }
  TREE.nodes = nodes;
  openSome(40);
}

// Open the tree from the root on, as long as it stays small; then what leads to the first failure.
function openSome(most) {
  let drawn = 1;
  const row = TREE.nodes.length ? [0] : [];
  while (row.length && drawn < most) {
    const node = TREE.nodes[row.shift()];
    node.open = true;
    drawn += node.below.length;
    row.push(...node.below);
  }
  let failing = TREE.nodes.findIndex((node) => node.leaves.some((leaf) => DATA.tree.leaves[leaf][1] === "failed"));
  while (failing >= 0) {
    if (TREE.nodes[failing].below.length) TREE.nodes[failing].open = true;
    failing = TREE.nodes[failing].parent;
  }
}

function chainWords(node) {
  if (!node.chain.length) return "start";
  const [, thread, what] = DATA.tree.branches[node.chain[0]];
  const more = node.chain.length > 1 ? `  + ${plural(node.chain.length - 1, "step")}` : "";
  return `${text(thread)}: ${cut(text(what), 44)}${more}`;
}

const cut = (long, most) => (long.length > most ? `${long.slice(0, most - 1)}\u2026` : long);

function drawTree() {
  const visible = [];
  const pending = TREE.nodes.length ? [0] : [];
  while (pending.length && visible.length < MOST_DRAWN) {
    const number = pending.pop();
    visible.push(number);
    const node = TREE.nodes[number];
    if (node.open) pending.push(...node.below.slice().reverse());
  }
  const [indent, height] = [26, 24];
  const rowOf = new Map(visible.map((number, row) => [number, row]));
  const deepest = Math.max(0, ...visible.map((number) => TREE.nodes[number].depth));
  const [wide, high] = [deepest * indent + 640, visible.length * height + 16];
  const svg = draw("svg", { width: wide * TREE.zoom, height: high * TREE.zoom, viewBox: `0 0 ${wide} ${high}`, role: "tree" });
  const x = (node) => 14 + node.depth * indent;
  const y = (number) => 18 + rowOf.get(number) * height;
  for (const number of visible) {
    const node = TREE.nodes[number];
    if (node.parent >= 0) {
      const parent = TREE.nodes[node.parent];
      svg.append(draw("path", { class: "link", d: `M${x(parent)} ${y(node.parent)}V${y(number)}H${x(node)}` }));
    }
  }
  for (const number of visible) svg.append(nodeElement(number, x(TREE.nodes[number]), y(number)));
  byId("forest").replaceChildren(svg);
  const more = pending.length ? `; ${MOST_DRAWN} nodes are drawn: fold some to see others` : "";
  byId("treenote").textContent = `${plural(DATA.tree.leaves.length, "execution")}${DATA.why ? `: ${DATA.why}` : ""}${more}`;
}

function nodeElement(number, x, y) {
  const node = TREE.nodes[number];
  const end = node.leaves.length ? DATA.tree.leaves[node.leaves[0]] : null;
  const fill = end ? ENDS[end[1]] : node.failures ? "var(--accent)" : "var(--link)";
  const sign = node.below.length ? (node.open ? "\u2212" : "+") : "";
  let label = chainWords(node);
  if (end) label += `  \u2192 ${end[1]}${end[2] >= 0 && text(end[2]) ? `: ${cut(text(end[2]), 40)}` : ""}`;
  else if (!node.open) label += `  (${plural(node.count, "execution")}${node.failures ? `, ${node.failures} of which fail` : ""})`;
  const element = draw("g", { class: number === TREE.chosen ? "node chosen" : "node", role: "treeitem", tabindex: "0", "aria-level": node.depth + 1, "aria-label": label });
  if (node.below.length) element.setAttribute("aria-expanded", String(node.open));
  element.append(
    draw("circle", { cx: x, cy: y, r: 7, fill: node.below.length ? "var(--paper)" : fill, stroke: fill, "stroke-width": 2 }),
    draw("text", { x, y: y + 4, "text-anchor": "middle" }, sign),
    draw("text", { x: x + 14, y: y + 4 }, label),
  );
  element.addEventListener("click", () => choose(number));
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(number);
  });
  return element;
}

function choose(number) {
  const node = TREE.nodes[number];
  if (node.below.length) node.open = !node.open;
  TREE.chosen = number;
  drawTree();
  const steps = node.chain.slice(0, 12).map((branch) => `${text(DATA.tree.branches[branch][1])}: ${text(DATA.tree.branches[branch][2])}`);
  const rest = node.chain.length > 12 ? ` and ${plural(node.chain.length - 12, "more step")}` : "";
  const shownLeaf = node.leaves.map((leaf) => DATA.tree.leaves[leaf]).find((leaf) => leaf[3] >= 0);
  const buttons = shownLeaf ? [" ", showButton(shownLeaf[3])] : [];
  byId("leaf").replaceChildren(steps.length ? `${steps.join("; ")}${rest}.` : "All executions begin here.", ...buttons);
  byId("forest").querySelector(".chosen")?.focus({ preventScroll: true });
}

function zoom(factor) {
  TREE.zoom = limited(TREE.zoom * factor, 0.2, 4);
  drawTree();
}

function fillTree() {
  if (!DATA.tree) {
    byId("tree").className = "plain";
    byId("tree").replaceChildren(DATA.why);
    return;
  }
  readTree();
  byId("unfold").addEventListener("click", () => setAllOpen(true));
  byId("fold").addEventListener("click", () => setAllOpen(false));
  byId("closer").addEventListener("click", () => zoom(1.25));
  byId("farther").addEventListener("click", () => zoom(0.8));
  byId("forest").addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.1 : 1 / 1.1);
  }, { passive: false });
}

function setAllOpen(open) {
  for (const node of TREE.nodes) node.open = open && node.below.length > 0;
  drawTree();
}

// The search

function fillSearch() {
  const panel = byId("search");
  panel.className = "plain";
  const rows = DATA.figures.map(([name, value]) =>
    make("tr", {}, make("td", {}, name), make("td", { class: "number" }, typeof value === "number" ? value.toLocaleString("en") : value)));
  const parts = [make("p", {}, DATA.summary)];
  if (DATA.warnings) parts.push(make("p", { class: "warning" }, DATA.warnings));
  parts.push(DATA.samples.length ? chart() : "", make("table", {}, ...rows));
  panel.replaceChildren(...parts);
}

function chart() {
  const [wide, high, left, bottom] = [820, 300, 70, 34];
  const lines = [
    ["executions", "var(--link)", (sample) => sample[1] + sample[2] + sample[3] + sample[4]],
    ["complete", "var(--good)", (sample) => sample[1]],
    ["failures", "var(--accent)", (sample) => sample[5]],
  ];
  const samples = [[0, 0, 0, 0, 0, 0], ...DATA.samples];
  const end = Math.max(...samples.map((sample) => sample[0]), 0.001);
  const most = Math.max(...samples.map(lines[0][2]), 1);
  const x = (seconds) => left + (seconds / end) * (wide - left - 20);
  const y = (count) => high - bottom - (count / most) * (high - bottom - 30);
  const svg = draw("svg", { id: "chart", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": `Executions over ${seconds(end)}` });
  for (const part of [0, 0.5, 1]) {
    const [across, up] = [x(end * part), y(most * part)];
    svg.append(
      draw("line", { class: "axis", x1: left, x2: wide - 20, y1: up, y2: up }),
      draw("text", { x: left - 8, y: up + 4, "text-anchor": "end" }, Math.round(most * part).toLocaleString("en")),
      draw("text", { x: across, y: high - 12, "text-anchor": part ? "end" : "start" }, seconds(end * part)),
    );
  }
  lines.forEach(([name, stroke, count], at) => {
    const points = samples.map((sample) => `${x(sample[0]).toFixed(1)},${y(count(sample)).toFixed(1)}`);
    svg.append(
      draw("polyline", { points: points.join(" "), stroke }),
      draw("text", { x: left + 10 + at * 120, y: 16, style: { fill: stroke } }, name),
    );
  });
  return svg;
}

const seconds = (time) => (time < 1 ? `${(time * 1000).toFixed(1)} ms` : `${time.toFixed(1)} s`);

// Tabs, keys, colours

const TABS = [["steps", "Executions"], ["outcomes", "Outcomes"], ["tree", "Tree"], ["search", "The search"]];

function fillTabs() {
  byId("tabs").replaceChildren(
    ...TABS.map(([id, name]) => {
      const count = id === "outcomes" && DATA.outcomes.length ? ` (${DATA.outcomes.length})` : "";
      const tab = make("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": id }, name + count);
      tab.addEventListener("click", () => select(id));
      return tab;
    }),
  );
}

function select(id) {
  for (const [each] of TABS) {
    byId(each).hidden = each !== id;
    byId(`tab-${each}`).setAttribute("aria-selected", String(each === id));
  }
  if (id === "tree" && DATA.tree) drawTree();
  if (id === "steps" && shown) measure();
}

const KEYS = {
  ArrowRight: () => move(1), ArrowDown: () => move(1), j: () => move(1),
  ArrowLeft: () => move(-1), ArrowUp: () => move(-1), k: () => move(-1),
  PageDown: () => move(10), PageUp: () => move(-10),
  Home: () => move(-state.rows.length), End: () => move(state.rows.length),
  n: () => moveToDeciding(1), p: () => moveToDeciding(-1),
  a: () => toggleAll(!state.all), e: () => toggleEdges(!state.edges),
  Enter: () => state.rows[state.at].step < 0 && open(state.at),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  if (target.tagName === "SELECT" || target.tagName === "BUTTON" && ["Enter", " "].includes(event.key)) return;
  if (event.key >= "1" && event.key <= String(TABS.length)) select(TABS[Number(event.key) - 1][0]);
  else if (event.key === "t") changeTheme();
  else if (byId("tree").hidden === false && event.key === "+") zoom(1.25);
  else if (byId("tree").hidden === false && event.key === "-") zoom(0.8);
  else if (byId("steps").hidden || !shown || !Object.hasOwn(KEYS, event.key)) return;
  else if (["source", "values"].includes(target.id) && event.key.startsWith("Arrow")) return;
  else KEYS[event.key]();
  event.preventDefault();
}

function toggleEdges(on) {
  state.edges = on;
  byId("edges").checked = on;
  drawWindow();
}

function changeTheme() {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
}

function listen() {
  byId("execution").addEventListener("change", (event) => showExecution(Number(event.target.value)));
  byId("first").addEventListener("click", () => move(-state.rows.length));
  byId("last").addEventListener("click", () => move(state.rows.length));
  byId("back").addEventListener("click", () => move(-1));
  byId("forward").addEventListener("click", () => move(1));
  byId("deciding").addEventListener("click", () => moveToDeciding(1));
  byId("slider").addEventListener("input", (event) => {
    go(Number(event.target.value));
    revealCurrent(false);
  });
  byId("all").addEventListener("change", (event) => toggleAll(event.target.checked));
  byId("edges").addEventListener("change", (event) => toggleEdges(event.target.checked));
  byId("theme").addEventListener("click", changeTheme);
  byId("diagram").addEventListener("scroll", () => {
    drawHeads();
    drawWindow();
  });
  byId("canvas").addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    const at = Number(row.dataset.row);
    if (state.rows[at].step < 0) open(at);
    else go(at);
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("resize", () => shown && measure());
}

function begin() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  byId("target").textContent = DATA.title;
  byId("verdict").textContent = DATA.verdict;
  byId("verdict").classList.add(DATA.verdict);
  byId("summary").textContent = DATA.summary;
  fillTabs();
  fillPicker();
  fillOutcomes();
  fillTree();
  fillSearch();
  listen();
  select(DATA.executions.length ? "steps" : DATA.outcomes.length ? "outcomes" : "search");
  const asked = /^#execution-(\d+)-step-(\d+)$/.exec(location.hash);
  const number = asked ? Number(asked[1]) - 1 : 0;
  if (DATA.executions[number]) {
    showExecution(number);
    if (asked) goToStep(Number(asked[2]) - 1);
  } else {
    byId("tab-steps").disabled = true;
  }
}

function goToStep(step) {
  if (step < 0 || step >= state.rowOf.length) return;
  if (state.rows[state.rowOf[step]].step < 0) toggleAll(true);
  go(state.rowOf[step]);
  revealCurrent(true);
}

begin();
