"use strict";
/* Everything from a sample is inserted as text (textContent) or shown by an <img>, <audio> or <video>. */
const LIMIT = 48, KEYS = 100, QUEUE = 4, SMALL = 64, MASK = 1024, CLASSES = 64;
const $ = id => document.getElementById(id);
const make = (tag, text, name) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (name) e.className = name; return e; };
const whole = n => Number(n).toLocaleString("en-US");
const short = n => n >= 99.95 ? n.toFixed(0) : n.toFixed(1).replace(/\.0$/, "");
const bytes = n => n >= 1e9 ? short(n / 1e9) + " GB" : n >= 1e6 ? short(n / 1e6) + " MB" : n >= 1e3 ? short(n / 1e3) + " kB" : whole(n) + " B";
const plural = (n, one) => whole(n) + " " + one + (n === 1 ? "" : "s");
const time = ms => new Date(ms).toISOString().replace("T", " ").slice(0, 16) + " UTC";

let dataset = null, version = null, counting = 0;
/* What the grid shows. Pages before this one are remembered by where they begin. */
let view = {from: "", before: []};
let cards = [], next = null, request = null, opened = -1;
/* The keys that were selected, on any page. */
const selected = new Set();

async function api(name, parameters, signal) {
  const query = new URLSearchParams();
  for (const key in parameters) if (parameters[key] !== "" && parameters[key] !== null && parameters[key] !== undefined) query.set(key, parameters[key]);
  let answer;
  try {
    answer = await fetch("api/" + name + "?" + query, {signal});
  } catch (e) {
    throw e.name === "AbortError" ? e : new Error("stoker browse does not answer; has it been stopped?");
  }
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.problem || "error " + answer.status);
  return body;
}

const placeOf = (number, card, field) => ({version: number, chunk: card.chunk, row: card.row, field});
const payload = parameters => "payload?" + new URLSearchParams(parameters);

function report(error) {
  if (error.name === "AbortError") return;
  $("problem").textContent = error.message;
  $("problem").hidden = false;
}

/* Contents */

const waiting = [];
let running = 0;

/** Asks for one content after another, a few at a time. */
function enqueue(task) {
  waiting.push(task);
  while (running < QUEUE && waiting.length) {
    running++;
    waiting.shift()().finally(() => { running--; if (waiting.length) enqueue(waiting.pop()); });
  }
}

const seen = new IntersectionObserver(entries => {
  for (const entry of entries) if (entry.isIntersecting) {
    seen.unobserve(entry.target);
    entry.target.load?.();
  }
}, {rootMargin: "200px"});

const note = (text, name) => { const e = make("div", text, "note" + (name ? " " + name : "")); e.title = text; return e; };

/** Shows a content in a box. In the grid, sound and video are loaded when they are played. */
function show(box, number, card, content, isLarge) {
  const parameters = placeOf(number, card, content.field);
  const again = large => api("content", {...parameters, large: large ? 1 : ""})
    .then(found => show(box, number, card, found, isLarge), e => box.replaceChildren(note(e.message, "bad")));
  const failed = what => () => box.replaceChildren(note(`The browser cannot show this ${what} (${content.type}, ${bytes(content.bytes)})`, "bad"));
  switch (content.kind) {
    case "image": {
      const image = make("img");
      image.alt = card.key || "";
      image.decoding = "async";
      if (!isLarge) image.loading = "lazy";
      if (content.width && content.width <= SMALL && content.height <= SMALL) image.className = "small";
      if (content.width && content.height) { image.width = Math.min(content.width, 4096); image.height = Math.min(content.height, 4096); }
      image.onerror = failed("picture");
      if (content.gray) image.onload = () => colorMask(box, image);
      image.src = payload(parameters);
      box.replaceChildren(image);
      if (content.cut) box.append(make("div", "Cut off: the file ends before the picture", "remark bad"));
      return;
    }
    case "audio":
    case "video": {
      const player = make(content.kind);
      player.controls = true;
      player.preload = isLarge ? "metadata" : "none";
      player.setAttribute("aria-label", (content.kind === "audio" ? "Sound of " : "Video of ") + (card.key || "a sample"));
      player.onerror = failed(content.kind === "audio" ? "sound" : "video");
      player.src = payload(parameters);
      return box.replaceChildren(player);
    }
    case "text":
      return box.replaceChildren(content.text === "" ? note("empty text") : make("pre", content.text));
    case "bytes":
      return box.replaceChildren(content.bytes ? make("pre", bytes(content.bytes) + "\n" + content.text) : note("no bytes"));
    case "numbers":
      return box.replaceChildren(make("pre", plain(content.value)));
    case "null":
      return box.replaceChildren(note("null"));
    case "damaged":
      return box.replaceChildren(note("Damaged: " + content.text, "bad"));
    case "large": {
      const size = content.width ? `${whole(content.width)} × ${whole(content.height)} pixels` : bytes(content.bytes);
      const button = make("button", "Show " + size);
      button.onclick = () => { button.disabled = true; again(true); };
      return box.replaceChildren(button);
    }
    case "later":
      box.replaceChildren(note("…"));
      box.load = () => enqueue(() => again(false));
      return seen.observe(box);
    default:
      return box.replaceChildren(note("unknown content"));
  }
}

/** Shows the class numbers of a mask, which is nearly black, as colors. */
function colorMask(box, image) {
  image.onload = null;
  const canvas = make("canvas"), scale = Math.min(1, MASK / Math.max(image.naturalWidth, image.naturalHeight));
  canvas.width = Math.max(1, Math.round(image.naturalWidth * scale));
  canvas.height = Math.max(1, Math.round(image.naturalHeight * scale));
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height), data = pixels.data;
  let most = 0;
  for (let i = 0; i < data.length; i += 4) most = Math.max(most, data[i]);
  if (most === 0 || most >= CLASSES) return;
  for (let i = 0; i < data.length; i += 4) [data[i], data[i + 1], data[i + 2]] = classColor(data[i]);
  context.putImageData(pixels, 0, 0);
  canvas.className = image.className;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", image.alt);
  const button = make("button", undefined, "remark");
  let isColored = false;
  button.onclick = () => {
    isColored = !isColored;
    (isColored ? image : canvas).replaceWith(isColored ? canvas : image);
    button.textContent = `values 0 to ${most} ${isColored ? "as colors" : "as they are"}`;
  };
  box.append(button);
  button.onclick();
}

/** A color for a number: 0 is black, and neighbours differ by the golden angle. */
function classColor(number) {
  if (number === 0) return [0, 0, 0];
  const hue = number * 137.508 / 60;
  return [5, 3, 1].map(n => { const k = (n + hue) % 6; return Math.round(255 * (0.95 - 0.7 * Math.max(0, Math.min(k, 4 - k, 1)))); });
}

/** A number with three significant digits, as cards have little room. */
const rounded = value => /^-?\d+\.\d+(E-?\d+)?$/.test(value) ? String(Number(Number(value).toPrecision(3))) : value;
const brief = value => Array.isArray(value) ? "[" + value.map(brief).join(", ") + "]" : rounded(String(value));

/** Shows a key on one line. Its end tells more than its middle, which is cut if the key is too long. */
function keyText(key) {
  const box = make("span", undefined, "key"), at = key.length > 24 ? key.length - 12 : key.length;
  box.append(make("span", key.slice(0, at), "begin"), make("span", key.slice(at), "end"));
  box.title = key;
  return box;
}

const plain = value => value === null ? "null" : Array.isArray(value) ? "[" + value.map(plain).join(", ") + "]" : String(value);

/* The grid */

function filters() {
  const chosen = $("class").selectedOptions[0];
  return {
    version: version.version, prefix: $("prefix").value, split: $("split").value,
    order: $("order").value.replace(/^-/, ""), descending: $("order").value.startsWith("-") ? 1 : "",
    where: $("where").value.trim(),
    field: chosen && chosen.dataset.field || "", class: chosen && chosen.dataset.field ? chosen.dataset.name : "",
    show: $("show").value,
  };
}

/** Reads a page. A search that finds little continues, and can be stopped by another one. */
async function load() {
  request?.abort();
  const mine = request = new AbortController();
  const asked = filters();
  waiting.length = 0;
  $("problem").hidden = true;
  $("grid").classList.add("waiting");
  let from = view.from, found = [], searched = 0, page;
  try {
    do {
      page = await api("samples", {...asked, from, limit: LIMIT - found.length}, mine.signal);
      found = found.concat(page.samples);
      searched += page.searched;
      from = page.next;
      if (page.problems.length) report(new Error(page.problems.join("\n")));
      if (found.length < LIMIT && page.next !== null) {
        $("status").textContent = `${whole(found.length)} found, ${whole(searched)} of ${whole(page.total)} samples searched …`;
        draw(found, asked.version);
      }
    } while (found.length < LIMIT && page.next !== null);
  } catch (e) {
    if (e.name !== "AbortError") { report(e); $("status").textContent = ""; draw([], asked.version); next = null; pager(); }
    return;
  }
  $("grid").classList.remove("waiting");
  next = page.next;
  view.position = page.position;
  draw(found, asked.version);
  status(page, asked, searched);
  pager();
  remember();
}

function status(page, asked, searched) {
  const isAll = !asked.prefix && !asked.class && !asked.where;
  $("jump-label").hidden = $("random").hidden = !(isAll && page.order === "stored");
  let text;
  if (page.order === "sorted") {
    text = cards.length ? `${whole(page.position - cards.length + 1)}–${whole(page.position)} of ${plural(page.found, "sample")}` : "No sample found";
  } else if (isAll && page.order === "stored") {
    text = cards.length ? `${whole(page.position - cards.length + 1)}–${whole(page.position)} of ${plural(page.total, "sample")}` : plural(page.total, "sample");
  } else if (isAll) {
    text = `${plural(cards.length, "sample")} on this page, of ${whole(page.total)} by key`;
  } else {
    text = cards.length ? `${plural(cards.length, "sample")} found` : "No sample found";
    if (next !== null) text += "; there are more";
    else if (!view.before.length) text += ", and no more";
    if (asked.prefix && !version.searchable) text += ". Searched in stored order; stoker index makes keys fast to find";
  }
  $("status").textContent = text;
}

function pager() {
  $("first").disabled = $("previous").disabled = !view.before.length && !view.from;
  $("next").disabled = next === null;
}

function draw(found, number) {
  for (const box of document.querySelectorAll("#grid .media")) seen.unobserve(box);
  cards = found;
  $("grid").replaceChildren(...found.map((card, i) => {
    const item = make("li", undefined, "card"), box = make("div", undefined, "media"), caption = make("div", undefined, "caption");
    const open = make("button", undefined, "open");
    open.setAttribute("aria-label", "Open " + (card.key ?? `row ${card.row} of chunk ${card.chunk}`));
    open.onclick = () => look(i);
    const key = keyText(card.key ?? `chunk ${card.chunk}, row ${card.row}`);
    const values = Object.entries(card.fields || {}).filter(([name, value]) => value !== null && name !== shownField());
    caption.append(key, ...values.slice(0, 3).map(([name, value]) => {
      const line = make("span", `${name}: ${brief(value)}`, "values");
      line.title = `${name}: ${plain(value)}`;
      return line;
    }));
    if (card.key !== undefined) caption.append(mark(card.key));
    item.append(box, caption, open);
    if (card.problem) box.replaceChildren(note(card.problem, "bad"));
    else if (card.content) show(box, number, card, card.content, false);
    else box.replaceChildren(note("no content"));
    return item;
  }));
}

/** The field whose content the cards show; its value is not repeated below. */
const shownField = () => version.fields[Number($("show").value)]?.name;

/** A box that selects a key for "Copy keys". */
function mark(key) {
  const box = make("input", undefined, "mark");
  box.type = "checkbox";
  box.checked = selected.has(key);
  box.setAttribute("aria-label", "Select " + key);
  box.onchange = () => { if (box.checked) selected.add(key); else selected.delete(key); marked(); };
  return box;
}

function marked() {
  $("copy").textContent = selected.size ? `Copy ${plural(selected.size, "key")}` : "Copy keys";
}

/** Copies keys as stoker delete --keys-from reads them. */
async function copy() {
  const keys = selected.size ? [...selected] : cards.map(card => card.key).filter(key => key !== undefined);
  const odd = keys.find(key => /[\r\n]/.test(key));
  if (odd !== undefined) return report(new Error(`The key ${JSON.stringify(odd)} has a line break, so a list of lines cannot hold it.`));
  try {
    await navigator.clipboard.writeText(keys.map(key => key + "\n").join(""));
    $("copy").textContent = `Copied ${plural(keys.length, "key")}`;
    setTimeout(marked, 2000);
  } catch (e) {
    report(new Error("The browser does not let this page copy: " + e.message));
  }
}

function restart() {
  view = {from: "", before: []};
  load();
}

function forward() {
  if (next === null) return;
  view.before.push(view.from);
  view.from = next;
  load().then(() => scrollTo(0, 0));
}

function back() {
  if (!view.before.length && !view.from) return;
  view.from = view.before.length ? view.before.pop() : String(Math.max(0, Number(view.from) - LIMIT) || "");
  load().then(() => scrollTo(0, 0));
}

function jump() {
  const wanted = Number($("jump").value.replace(/[,\s]/g, ""));
  if (!Number.isInteger(wanted) || wanted < 1) return report(new Error("Enter the number of a sample, such as 1000."));
  view = {from: String(wanted - 1), before: []};
  load();
}

function random() {
  const split = version.splits.find(one => one.name === $("split").value);
  const all = split ? split.samples : version.samples;
  view = {from: String(Math.floor(Math.random() * Math.max(1, all - LIMIT + 1)) || ""), before: []};
  load();
}

/* One sample */

async function look(i) {
  opened = i;
  const card = cards[i];
  if (!card) return;
  $("sample-previous").disabled = i <= 0;
  $("sample-next").disabled = i + 1 >= cards.length;
  await describe(version.version, card);
}

async function describe(number, card) {
  const body = $("sample-body"), dialog = $("sample");
  $("sample-key").textContent = card.key ?? `row ${card.row} of chunk ${card.chunk}`;
  if (!dialog.open) dialog.showModal();
  body.dataset.key = card.key ?? "";
  try {
    const sample = await api("sample", card.chunk === undefined ? {version: number, key: card.key} : {version: number, chunk: card.chunk, row: card.row});
    if (body.dataset.key !== (card.key ?? "")) return;
    const left = make("div"), right = make("dl");
    const add = (name, value, style) => right.append(make("dt", name), make("dd", value, style));
    const payloads = sample.fields.filter(f => f.payload);
    /* The text is what matters of a sample without payload. */
    const texts = payloads.length ? [] : sample.fields.filter(f => f.type === "utf8" && f.value !== null);
    for (const field of texts) left.append(make("h3", field.name), make("pre", field.value, "text"));
    for (const field of payloads) {
      const box = make("div", undefined, "media"), about = field.content;
      const size = about.width ? `, ${whole(about.width)} × ${whole(about.height)}` : "";
      const title = make("h3", `${field.name}: ${about.type ?? field.type}${about.bytes === undefined ? "" : ", " + bytes(about.bytes)}${size}, CRC-32C ${field.crc32c}`);
      left.append(title, box);
      show(box, number, sample, about, true);
      if (field.file && about.kind !== "damaged") {
        const link = make("a", "Save as a file");
        link.href = payload({...placeOf(number, sample, field.number), download: 1});
        left.append(link);
      }
    }
    for (const field of sample.fields.filter(f => !f.payload && !texts.includes(f))) add(`${field.name} (${field.type})`, plain(field.value));
    add("key", sample.key, "code");
    add("split", sample.split);
    if (payloads.length) {
      add("length", `${whole(sample.bytes)} bytes`);
      add("checksum", `CRC-32C ${sample.crc32c}`, "code");
    }
    add("chunk", `${sample.chunk} (${sample.chunk_id})`, "code");
    add("row", `${sample.row} (the chunk has ${plural(sample.chunk_rows, "row")})`);
    add("chunk file", bytes(sample.chunk_bytes));
    add("version", String(number));
    add("added in", `version ${sample.added_in}, ingest ${sample.ingest}`);
    if (sample.updated) add("updated", "the chunk has an overlay; this version shows the new values");
    body.classList.toggle("narrow", !left.childNodes.length);
    body.replaceChildren(...left.childNodes.length ? [left, right] : [right]);
  } catch (e) {
    body.replaceChildren(make("p", e.message, "problem"));
  }
}

function step(by) {
  if (opened + by >= 0 && opened + by < cards.length) look(opened + by);
}

/* Versions */

let log = {next: null}, difference = null, polling = 0;

async function readLog(from) {
  const page = await api("versions", {from, limit: 20});
  log.next = page.next ?? null;
  $("older").hidden = log.next === null;
  const body = $("log").tBodies[0];
  for (const one of page.versions) {
    const row = make("tr");
    for (const side of ["from", "to"]) {
      const cell = make("td"), radio = make("input");
      radio.type = "radio"; radio.name = side; radio.value = one.version;
      radio.setAttribute("aria-label", `${side === "from" ? "From" : "To"} version ${one.version}`);
      radio.checked = one.version === (side === "from" ? Math.max(1, page.newest - 1) : page.newest);
      cell.append(radio);
      row.append(cell);
    }
    row.append(make("td", String(one.version), "n"), make("td", time(one.committed_ms)), make("td", one.operation), make("td", whole(one.added_samples), "n"), make("td", whole(one.removed_samples), "n"), make("td", one.updated_samples === null ? "unknown" : whole(one.updated_samples), "n"), make("td", one.tags.join(", ")), make("td", one.committed_by));
    body.append(row);
  }
}

async function compare(offset) {
  const side = name => document.querySelector(`input[name=${name}]:checked`)?.value;
  const mine = ++polling;
  $("diff-status").classList.remove("problem");
  try {
    while (true) {
      const found = await api("diff", {from: side("from"), to: side("to"), offset, limit: KEYS});
      if (mine !== polling) return;
      if (found.state === "failed") throw new Error(found.problem);
      if (found.state === "done") return drawDiff(found);
      $("diff-status").textContent = `Comparing: ${whole(found.read)} of ${plural(found.chunks, "chunk")} read …`;
      await new Promise(done => setTimeout(done, 250));
    }
  } catch (e) {
    if (mine !== polling) return;
    $("diff").hidden = true;
    $("diff-status").textContent = e.message;
    $("diff-status").classList.add("problem");
  }
}

function drawDiff(found) {
  difference = found;
  $("diff").hidden = false;
  $("diff-status").textContent = found.splits.length ? `Version ${found.to} compared with version ${found.from}` : `Versions ${found.from} and ${found.to} have the same samples`;
  const rows = [];
  for (const split of found.splits) {
    const row = make("tr");
    row.append(make("td", split.split), make("td", ""), make("td", whole(split.added), "n"), make("td", whole(split.removed), "n"), make("td", whole(split.changed), "n"));
    rows.push(row);
    for (const one of split.classes) {
      const of = make("tr");
      of.append(make("td", split.split), make("td", `${one.field}: ${one.class}`), make("td", whole(one.added), "n"), make("td", whole(one.removed), "n"), make("td", ""));
      rows.push(of);
    }
  }
  $("counts").tBodies[0].replaceChildren(...rows);
  $("counts").hidden = !rows.length;
  $("diff-range").textContent = found.total ? `${whole(found.offset + 1)}–${whole(found.offset + found.samples.length)} of ${plural(found.total, "key")}` : "";
  $("diff-previous").disabled = found.offset === 0;
  $("diff-next").disabled = found.offset + found.samples.length >= found.total;
  $("keys").replaceChildren(...found.samples.map(sample => {
    const item = make("li"), button = make("button", sample.key, sample.change);
    button.setAttribute("aria-label", `${sample.change}: ${sample.key}`);
    button.onclick = () => {
      opened = -1;
      $("sample-previous").disabled = $("sample-next").disabled = true;
      describe(sample.change === "removed" ? found.from : found.to, {key: sample.key});
    };
    item.append(button);
    return item;
  }));
}

function turn(name) {
  for (const one of ["samples", "versions"]) {
    $(one).hidden = one !== name;
    $("to-" + one).setAttribute("aria-pressed", String(one === name));
  }
  $("filters").hidden = name !== "samples";
  if (name === "versions" && !$("log").tBodies[0].rows.length) readLog("").catch(e => { $("diff-status").textContent = e.message; });
}

/* Start */

function options(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => {
    const option = make("option", text);
    option.value = value;
    option.selected = value === chosen;
    return option;
  }));
}

/** Fills the filters for a version, and keeps what was chosen. */
function adopt(found) {
  const keep = {split: $("split").value, class: $("class").value, show: $("show").value};
  version = found;
  $("about").textContent = `version ${found.version}, ${plural(found.samples, "sample")} in ${plural(found.chunks, "chunk")}, ${bytes(found.bytes)}`;
  options($("split"), [["", "all"], ...found.splits.map(s => [s.name, `${s.name} (${whole(s.samples)})`])], keep.split);
  $("split-label").hidden = found.splits.length < 2;
  const shown = found.fields.map((field, i) => [String(i), field.name]).filter(([i]) => found.fields[i].shown);
  options($("show"), shown, keep.show || String(found.show));
  $("show-label").hidden = shown.length < 2;
  const fields = found.fields.filter(field => field.classes.length), groups = [];
  options($("class"), [["", "all"]], "");
  for (const field of fields) {
    const group = make("optgroup");
    group.label = field.name;
    for (const name of field.classes) {
      const option = make("option", name);
      option.value = JSON.stringify([field.name, name]);
      option.dataset.field = field.name;
      option.dataset.name = name;
      option.title = name;
      option.selected = option.value === keep.class;
      group.append(option);
    }
    groups.push(group);
  }
  $("class").append(...groups);
  $("class-label").hidden = !fields.length;
  const order = $("order").value;
  options($("order"), [["stored", "stored"], ["key", "by key"], ["size", "smallest first"], ["-size", "largest first"],
    ...found.fields.filter(field => field.sortable).flatMap(({name}) => [["field:" + name, name + ", ascending"], ["-field:" + name, name + ", descending"]])], order || "stored");
  count();
}

/** Adds the number of samples to the names of the classes, while the page can be used. */
async function count() {
  const mine = ++counting, counts = new Map();
  if ($("class-label").hidden) return;
  try {
    for (let from = ""; from !== undefined;) {
      const part = await api("classes", {version: version.version, split: $("split").value, from});
      if (mine !== counting) return;
      for (const field of part.fields) for (const [name, samples] of Object.entries(field.classes)) {
        const id = JSON.stringify([field.name, name]);
        counts.set(id, (counts.get(id) || 0) + samples);
      }
      from = part.next;
    }
  } catch (e) {
    return;
  }
  for (const option of $("class").options) if (option.dataset.field) option.textContent = `${option.dataset.name} (${whole(counts.get(option.value) || 0)})`;
}

async function choose(number) {
  try {
    adopt(await api("version", {version: number}));
    restart();
  } catch (e) {
    report(e);
    $("version").value = String(version.version);
  }
}

/** Keeps the view in the address, so that it survives a reload. */
function remember() {
  const state = new URLSearchParams();
  const asked = filters();
  for (const key of ["version", "prefix", "split", "where", "show"]) if (asked[key] !== "") state.set(key, asked[key]);
  state.set("order", $("order").value);
  if ($("class").value) state.set("class", $("class").value);
  if (view.from) state.set("from", view.from);
  history.replaceState(null, "", "#" + state);
}

async function restore() {
  const state = new URLSearchParams(location.hash.slice(1));
  const wanted = Number(state.get("version"));
  if (wanted && wanted !== version.version) {
    try {
      adopt(await api("version", {version: wanted}));
    } catch (e) {
      return report(e);
    }
  }
  for (const key of ["prefix", "split", "where", "order", "show", "class"]) if (state.has(key)) $(key).value = state.get(key);
  for (const key of ["split", "order", "show", "class"]) if ($(key).selectedIndex < 0) $(key).selectedIndex = 0;
  view.from = state.get("from") || "";
}

async function versionsOfMenu() {
  const page = await api("versions", {limit: 100});
  const entries = page.versions.map(one => [String(one.version), one.version + (one.tags.length ? ` (${one.tags.join(", ")})` : "")]);
  if (!entries.some(([value]) => value === String(version.version))) entries.push([String(version.version), String(version.version)]);
  options($("version"), entries, String(version.version));
}

async function start() {
  dataset = await api("dataset");
  $("name").textContent = dataset.name;
  document.title = dataset.name + " – Stoker";
  adopt(dataset.version);
  options($("version"), [[String(version.version), String(version.version)]], String(version.version));
  await restore();
  await load();
  await versionsOfMenu();
}

let typing = 0;
$("filters").onsubmit = event => event.preventDefault();
$("prefix").oninput = () => { clearTimeout(typing); typing = setTimeout(restart, 250); };
/* A condition is complete when Enter is pressed or the field is left. */
$("where").onchange = restart;
for (const id of ["class", "order", "show"]) $(id).onchange = restart;
$("split").onchange = () => { restart(); count(); };
$("random").onclick = random;
$("copy").onclick = copy;
$("version").onchange = () => choose($("version").value);
$("first").onclick = restart;
$("previous").onclick = back;
$("next").onclick = forward;
$("jump").onkeydown = event => { if (event.key === "Enter") jump(); };
$("to-samples").onclick = () => turn("samples");
$("to-versions").onclick = () => turn("versions");
$("older").onclick = () => readLog(log.next);
$("compare").onclick = () => compare(0);
$("diff-previous").onclick = () => compare(Math.max(0, difference.offset - KEYS));
$("diff-next").onclick = () => compare(difference.offset + KEYS);
$("sample-close").onclick = () => $("sample").close();
$("sample-previous").onclick = () => step(-1);
$("sample-next").onclick = () => step(1);
/* Stops what plays. The event comes later than the end of the dialog, perhaps after the next sample was opened. */
$("sample").onclose = () => {
  if ($("sample").open) return;
  $("sample-body").replaceChildren();
  document.querySelectorAll("#grid .open")[opened]?.focus();
};

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const arrows = {ArrowLeft: -1, ArrowRight: 1};
  if ($("sample").open) {
    if (event.key in arrows && !/^(AUDIO|VIDEO)$/.test(event.target.tagName)) step(arrows[event.key]);
    return;
  }
  if (/^(INPUT|SELECT|TEXTAREA|AUDIO|VIDEO)$/.test(event.target.tagName) || $("samples").hidden) return;
  if (event.key === "/") { event.preventDefault(); $("prefix").focus(); }
  if (event.key === "n") forward();
  if (event.key === "p") back();
  const all = [...document.querySelectorAll("#grid .open")], at = all.indexOf(document.activeElement);
  const columns = getComputedStyle($("grid")).gridTemplateColumns.split(" ").length;
  const by = {...arrows, ArrowUp: -columns, ArrowDown: columns}[event.key];
  if (by === undefined || !all.length) return;
  if (at < 0 && by !== 1 && by !== columns) return;
  event.preventDefault();
  (at < 0 ? all[0] : all[at + by])?.focus();
});

start().catch(e => { report(e); $("status").textContent = ""; });
