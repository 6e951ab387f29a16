// Words that people mark in a text, by mouse, touch and keyboard, with a card of answers for each mark.
//
// A text (`.marked`) belongs to a field of marks (`fieldset[data-marks]`), whose hidden textarea holds what is sent: a JSON
// list of {part, start, end, quote, …answers}. Offsets count code points there, and UTF-16 units everywhere in this file
// but in `Text.place` and `Text.units`. The browser's own selection is the selection; marks are painted with the CSS Custom
// Highlight API, which leaves the text as it is, so that letters stay joined. Without that API the cards are all there is.

const painted = "highlights" in CSS;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const mac = navigator.platform.startsWith("Mac");
const texts = [];
const fields = new Map();
let active = null; // the mark whose card is being answered

// ---- A text -------------------------------------------------------------------------------------------------------------

class Text {
  constructor(node) {
    node.normalize();
    this.node = node;
    this.part = node.dataset.part;
    this.shown = JSON.parse(node.dataset.shown ?? "[]"); // marks that are looked at and cannot be changed
    this.text = node.textContent;
    this.caret = document.createElement("span");
    this.caret.className = "caret";
    this.caret.hidden = true;
    this.caret.setAttribute("aria-hidden", "true");
    node.append(this.caret);
    this.starts = []; // of each code point, in units
    let unit = 0;
    for (const point of this.text) { this.starts.push(unit); unit += point.length; }
    this.starts.push(unit);
    this.boundaries = [...graphemes.segment(this.text)].map((segment) => segment.index).concat(this.text.length);
  }

  get field() { return fields.get(this.node.dataset.for); }
  get marks() { return [...this.shown, ...(this.field?.marks ?? [])].filter((mark) => mark.part === this.part && mark.start !== null); }

  // A place as it is sent, of units.
  place(start, end) {
    const before = [...this.text.slice(0, start)].length;
    const quote = this.text.slice(start, end);
    return { part: this.part, start: before, end: before + [...quote].length, quote };
  }

  // The units of a place; null where the text is another one than the mark was made in.
  units(mark) {
    const [start, end] = [this.starts[mark.start], this.starts[mark.end]];
    return end !== undefined && this.text.slice(start, end) === mark.quote ? [start, end] : null;
  }

  range(start, end) {
    const range = document.createRange();
    const walker = document.createTreeWalker(this.node, NodeFilter.SHOW_TEXT);
    let before = 0;
    range.selectNodeContents(this.node);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const after = before + node.length;
      if (start >= before && start <= after && (start < after || end === start || after === this.text.length)) range.setStart(node, start - before);
      if (end > before && end <= after || end === 0 && before === 0) { range.setEnd(node, end - before); break; }
      before = after;
    }
    return range;
  }

  rangeOf(mark) {
    const units = this.units(mark);
    return units && this.range(...units);
  }

  offset(node, offset) {
    const range = document.createRange();
    range.selectNodeContents(this.node);
    range.setEnd(node, offset);
    return range.toString().length;
  }

  // What is selected in this text: anchor and focus in units, cut where the selection leaves the text.
  selected() {
    const selection = getSelection();
    if (!selection.rangeCount || !this.node.contains(selection.anchorNode)) return null;
    const anchor = this.offset(selection.anchorNode, selection.anchorOffset);
    let focus;
    if (this.node.contains(selection.focusNode)) focus = this.offset(selection.focusNode, selection.focusOffset);
    else focus = this.node.compareDocumentPosition(selection.focusNode) & Node.DOCUMENT_POSITION_PRECEDING ? 0 : this.text.length;
    return { anchor, focus };
  }

  // Whole characters as people see them, without the space around them.
  snap(from, to) {
    let [start, end] = from < to ? [from, to] : [to, from];
    start = this.boundaries.findLast((place) => place <= start);
    end = this.boundaries.find((place) => place >= end);
    const words = this.text.slice(start, end);
    if (!words.trim()) return [start, end];
    return [start + words.length - words.trimStart().length, end - words.length + words.trimEnd().length];
  }

  wordAt(offset) {
    const words = new Intl.Segmenter(this.node.lang || undefined, { granularity: "word" }).segment(this.text);
    let word = words.containing(Math.min(offset, this.text.length - 1));
    if (word && !word.isWordLike && offset > 0) word = words.containing(offset - 1);
    return word?.isWordLike ? [word.index, word.index + word.segment.length] : null;
  }

  // The shortest mark at a point of the window; after the active one comes the next longer.
  markAt(x, y) {
    const hit = (box) => x >= box.left - 1 && x <= box.right + 1 && y >= box.top && y <= box.bottom;
    return this.choose((mark) => [...(this.rangeOf(mark)?.getClientRects() ?? [])].some(hit));
  }

  markOver(offset) {
    return this.choose((mark) => { const units = this.units(mark); return units && units[0] <= offset && offset <= units[1]; });
  }

  choose(fits) {
    const hits = this.marks.filter(fits).sort((one, other) => one.end - one.start - (other.end - other.start));
    return hits[(hits.indexOf(active) + 1) % hits.length];
  }

  select(anchor, focus) {
    const from = this.range(anchor, anchor);
    const to = this.range(focus, focus);
    getSelection().setBaseAndExtent(from.startContainer, from.startOffset, to.startContainer, to.startOffset);
  }

  // The caret, where the selection ends; the text is not editable, so browsers draw none.
  drawCaret() {
    const at = this.selected();
    this.caret.hidden = !at || document.activeElement !== this.node;
    if (this.caret.hidden) return;
    this.last = at.focus;
    const box = this.boxAt(at.focus);
    const frame = this.node.getBoundingClientRect();
    Object.assign(this.caret.style, {
      left: `${box.left - frame.left - this.node.clientLeft + this.node.scrollLeft}px`,
      top: `${box.top - frame.top - this.node.clientTop + this.node.scrollTop}px`,
      height: `${box.height}px`,
    });
  }

  boxAt(offset) {
    const [box] = this.range(offset, offset).getClientRects();
    if (box) return box;
    const before = this.boundaries.findLast((place) => place < offset) ?? 0; // after a line's end there may be no box
    const boxes = [...this.range(before, offset).getClientRects()];
    const last = boxes.at(-1) ?? this.node.getBoundingClientRect();
    return { left: last.right, top: last.top, height: last.height };
  }
}

// ---- A field of marks, with a card for each -------------------------------------------------------------------------------

class Marks {
  constructor(fieldset) {
    this.node = fieldset;
    this.name = fieldset.dataset.marks;
    this.value = fieldset.querySelector("textarea[name]");
    this.list = fieldset.querySelector(".mark-list");
    this.button = fieldset.querySelector(".mark-here");
    this.status = fieldset.querySelector("[role=status]");
    this.template = fieldset.querySelector("template.mark-card");
    this.marks = [];
    this.cards = new Map();
    this.undoing = [];
    this.made = 0;
    const missing = fieldset.querySelector("[data-act=missing]");
    if (missing) {
      missing.hidden = false;
      missing.addEventListener("click", () => this.add({ part: missing.dataset.part, start: null, end: null, quote: "" }));
    }
    fieldset.append(this.button);
    this.button.addEventListener("pointerdown", (event) => { event.preventDefault(); this.held = pending; });
    this.button.addEventListener("click", () => this.markSelection(this.held ?? pending));
    this.list.addEventListener("input", (event) => this.answer(event));
    this.list.addEventListener("change", (event) => this.answer(event));
    this.list.addEventListener("focusin", (event) => activate(this.markOf(event.target)));
    this.list.addEventListener("click", (event) => this.act(event));
    this.list.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { event.stopPropagation(); this.goTo(this.markOf(event.target)); }
    });
  }

  get texts() { return texts.filter((text) => text.field === this); }
  markOf(node) { return this.marks.find((mark) => this.cards.get(mark)?.contains(node)) ?? null; }

  // Take over what the field holds: what the server sent, or a draft of this device.
  load() {
    let given = [];
    try { given = JSON.parse(this.value.value || "[]"); } catch { /* a draft that cannot be read is empty */ }
    for (const card of this.cards.values()) card.remove();
    this.cards.clear();
    this.marks = Array.isArray(given) ? given.filter((mark) => mark && typeof mark === "object") : [];
    for (const mark of this.marks) this.addCard(mark);
    this.sort();
  }

  save() {
    this.value.value = JSON.stringify(this.marks);
    this.value.dispatchEvent(new Event("input", { bubbles: true }));
    paint();
  }

  sort() {
    const parts = this.texts.map((text) => text.part);
    const key = (mark) => [parts.indexOf(mark.part), mark.start === null ? Infinity : mark.start, mark.end ?? Infinity];
    this.marks.sort((one, other) => {
      const [a, b] = [key(one), key(other)];
      return a[0] - b[0] || (a[1] === b[1] ? 0 : a[1] - b[1]) || (a[2] === b[2] ? 0 : a[2] - b[2]);
    });
    const focused = document.activeElement;
    for (const mark of this.marks) this.list.append(this.cards.get(mark)); // moving a node takes the focus from it
    if (this.list.contains(focused)) focused.focus({ preventScroll: true });
    this.list.hidden = !this.marks.length;
    this.node.classList.toggle("empty-marks", !this.marks.length);
    this.node.dispatchEvent(new CustomEvent("marks", { bubbles: true, detail: this.marks.length }));
  }

  markSelection(at) {
    this.held = null;
    if (!at) return;
    const [start, end] = at.text.snap(at.anchor, at.focus);
    if (start === end) return;
    at.text.select(end, end);
    this.add(at.text.place(start, end));
  }

  add(mark) {
    const same = mark.start !== null && this.marks.find((each) => each.part === mark.part && each.start === mark.start && each.end === mark.end);
    if (same) { this.open(same); return; }
    this.marks.push(mark);
    this.undoing.push(() => this.take(mark));
    this.addCard(mark);
    this.read(mark);
    this.sort();
    this.save();
    this.say("marked", mark);
    this.open(mark);
  }

  take(mark) {
    this.cards.get(mark)?.remove();
    this.cards.delete(mark);
    this.marks = this.marks.filter((other) => other !== mark);
    if (active === mark) active = null;
    this.sort();
    this.save();
  }

  remove(mark) {
    const next = this.marks[this.marks.indexOf(mark) + 1] ?? this.marks[this.marks.indexOf(mark) - 1];
    this.take(mark);
    this.undoing.push(() => { this.marks.push(mark); this.addCard(mark); this.sort(); this.save(); });
    this.say("removed", mark);
    const text = texts.find((each) => each.field === this && each.part === mark.part);
    (this.cards.get(next)?.querySelector("[data-act=remove]") ?? text?.node ?? this.list).focus({ preventScroll: true });
  }

  undo() {
    const step = this.undoing.pop();
    if (!step) return;
    step();
    this.say("undone");
  }

  addCard(mark) {
    const card = this.template.content.firstElementChild.cloneNode(true);
    const number = ++this.made;
    const rename = (id) => id.split(" ").map((each) => `${this.name}-${number}-${each}`).join(" ");
    for (const node of card.querySelectorAll("[id], [for], [aria-describedby]")) {
      if (node.id) node.id = rename(node.id);
      if (node.htmlFor) node.htmlFor = rename(node.htmlFor);
      if (node.hasAttribute("aria-describedby")) node.setAttribute("aria-describedby", rename(node.getAttribute("aria-describedby")));
    }
    for (const input of card.querySelectorAll("input, textarea, select")) {
      input.dataset.name = input.name;
      input.name = rename(input.name);
      input.setAttribute("form", "none"); // belongs to no form, so it is not sent
      const given = mark[input.dataset.name];
      if (input.type === "radio") input.checked = given === input.value;
      else if (input.type === "checkbox") input.checked = given === true || (Array.isArray(given) && given.includes(input.value));
      else input.value = given ?? "";
    }
    const quote = card.querySelector(".quote");
    quote.textContent = mark.quote;
    const text = this.texts.find((each) => each.part === mark.part);
    if (text?.node.lang) quote.lang = text.node.lang;
    quote.hidden = mark.start === null;
    card.querySelector(".is-missing").hidden = mark.start !== null;
    card.querySelector("[data-act=go]").hidden = mark.start === null || !text?.units(mark);
    card.querySelector(".which")?.replaceChildren(text?.node.getAttribute("aria-label") ?? "");
    card.dataset.severity = mark.severity ?? "";
    this.cards.set(mark, card);
    this.list.append(card);
  }

  // The answers of a card, into its mark.
  read(mark) {
    const card = this.cards.get(mark);
    for (const input of card.querySelectorAll("[data-name]")) {
      const name = input.dataset.name;
      if (input.type === "radio") { mark[name] ??= ""; if (input.checked) mark[name] = input.value; }
      else if (input.type !== "checkbox") mark[name] = input.value;
      else if (!input.closest("fieldset.choices")) mark[name] = input.checked;
      else mark[name] = [...card.querySelectorAll(`[data-name="${CSS.escape(name)}"]:checked`)].map((box) => box.value);
    }
    card.dataset.severity = mark.severity ?? "";
  }

  answer(event) {
    const mark = this.markOf(event.target);
    if (!mark) return;
    this.read(mark);
    this.value.value = JSON.stringify(this.marks);
    if (event.type === "change") this.value.dispatchEvent(new Event("input", { bubbles: true }));
    paint();
  }

  act(event) {
    const mark = this.markOf(event.target);
    const action = event.target.closest("[data-act]")?.dataset.act;
    if (action === "go") this.goTo(mark);
    if (action === "remove") this.remove(mark);
  }

  open(mark) {
    const card = this.cards.get(mark);
    const first = card.querySelector("input:checked, input[type=radio], input:not([type=hidden]), select, textarea");
    (first ?? card.querySelector("button")).focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest", behavior: calm ? "instant" : "smooth" });
    activate(mark);
  }

  goTo(mark) {
    const text = this.texts.find((each) => each.part === mark?.part);
    const units = mark && mark.start !== null && text?.units(mark);
    (text ?? this.texts[0])?.node.focus({ preventScroll: true });
    if (!units) return;
    text.select(units[1], units[1]);
    text.drawCaret();
    text.caret.scrollIntoView({ block: "center", behavior: calm ? "instant" : "smooth" });
    activate(mark);
  }

  say(what, mark) { this.status.textContent = `${this.status.dataset[what]} ${mark?.quote ?? ""}`; }
}

const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

// ---- Painting -----------------------------------------------------------------------------------------------------------

function activate(mark) {
  active = mark;
  for (const field of fields.values()) for (const [each, card] of field.cards) card.classList.toggle("active", each === mark);
  paint();
}

// One highlight for each severity, one where marks overlap, one for the mark whose card is open.
function paint() {
  if (!painted) return;
  const layers = { mark: [], "mark-minor": [], "mark-major": [], "mark-both": [], "mark-active": [] };
  for (const text of texts) {
    const edges = [];
    for (const mark of text.marks) {
      const units = text.units(mark);
      if (!units) continue;
      (layers[`mark-${mark.severity}`] ?? layers.mark).push(text.range(...units));
      if (mark === active) layers["mark-active"].push(text.range(...units));
      edges.push([units[0], 1], [units[1], -1]);
    }
    edges.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    let depth = 0;
    edges.forEach(([place, step], number) => {
      depth += step;
      if (depth > 1 && edges[number + 1][0] > place) layers["mark-both"].push(text.range(place, edges[number + 1][0]));
    });
  }
  Object.entries(layers).forEach(([name, ranges], priority) => {
    const highlight = new Highlight(...ranges);
    highlight.priority = priority;
    CSS.highlights.set(name, highlight);
  });
}

// ---- Selecting ----------------------------------------------------------------------------------------------------------

let pending = null; // what is selected now: the text, anchor and focus

function look() {
  const text = texts.find((each) => each.selected());
  const at = text?.field && text.selected();
  pending = at && at.anchor !== at.focus ? { text, ...at } : null;
  for (const each of texts) each.drawCaret();
  for (const field of fields.values()) {
    const mine = pending?.text.field === field;
    if (!mine && field.held) continue; // a finger on the button may take the selection away
    field.button.hidden = !mine;
    if (mine) float(field.button);
  }
}

// The button stands under the end of what is selected, or above it where there is no room.
function float(button) {
  const [start, end] = pending.text.snap(pending.anchor, pending.focus);
  const boxes = [...pending.text.range(start, end).getClientRects()];
  if (!boxes.length) { button.hidden = true; return; }
  const last = pending.anchor <= pending.focus ? boxes.at(-1) : boxes[0];
  const gap = matchMedia("(pointer: coarse)").matches ? 30 : 6; // the handles of a selection hang under it
  const below = last.bottom + gap;
  const { offsetWidth: width, offsetHeight: height } = button;
  const fits = below + height < innerHeight;
  const middle = (last.left + last.right) / 2 - width / 2;
  button.style.left = `${Math.max(8, Math.min(middle, document.documentElement.clientWidth - width - 8))}px`;
  button.style.top = `${fits ? below : Math.max(8, boxes[0].top - height - gap)}px`;
}

document.addEventListener("selectionchange", look);
for (const event of ["scroll", "resize"]) addEventListener(event, () => { if (pending) look(); }, { capture: true, passive: true });
addEventListener("pointercancel", () => { for (const field of fields.values()) field.held = null; look(); });
addEventListener("resize", () => { for (const text of texts) text.drawCaret(); });

const MOVES = { ArrowLeft: ["left", "character"], ArrowRight: ["right", "character"], ArrowUp: ["backward", "line"], ArrowDown: ["forward", "line"], Home: ["backward", "lineboundary"], End: ["forward", "lineboundary"] };
const FAR = { character: "word", line: "paragraph" };

function move(text, event) {
  const [direction, unit] = MOVES[event.key];
  const far = event.ctrlKey || (mac && event.altKey);
  const from = text.selected() ?? { anchor: 0, focus: 0 };
  const selection = getSelection();
  if (far && unit === "lineboundary") {
    const edge = direction === "forward" ? text.text.length : 0;
    text.select(event.shiftKey ? from.anchor : edge, edge);
  } else {
    text.select(from.anchor, from.focus);
    selection.modify(event.shiftKey ? "extend" : "move", direction, (far && FAR[unit]) || unit);
  }
  let { anchor, focus } = text.selected() ?? { anchor: from.anchor, focus: direction === "backward" ? 0 : text.text.length };
  const inside = text.boundaries.includes(focus);
  if (!inside) focus = focus > from.focus ? text.boundaries.find((place) => place > focus) : text.boundaries.findLast((place) => place < focus);
  if (!event.shiftKey) anchor = focus;
  if (!inside || !text.node.contains(selection.focusNode) || !text.node.contains(selection.anchorNode)) text.select(anchor, focus);
  text.drawCaret();
  text.caret.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
  const passed = anchor === focus ? text.text.slice(...[from.focus, focus].sort((one, other) => one - other)) : text.text.slice(...text.snap(anchor, focus));
  if (text.field) text.field.status.textContent = passed.length > 200 ? `${passed.slice(0, 100)} … ${passed.slice(-100)}` : passed;
}

function press(text, event) {
  const { field } = text;
  const control = event.ctrlKey || event.metaKey;
  const at = text.selected();
  if (event.isComposing || (control && event.key === "Enter")) return;
  if (event.key in MOVES) move(text, event);
  else if (control && event.key.toLowerCase() === "a") text.select(0, text.text.length);
  else if (control && event.key.toLowerCase() === "z" && !event.shiftKey) field?.undo();
  else if (control || event.altKey) return;
  else if (event.key === "Escape") { text.select(at?.focus ?? 0, at?.focus ?? 0); activate(null); }
  else if (event.key === "Enter" || event.key.toLowerCase() === "m") {
    const over = at && at.anchor === at.focus && event.key === "Enter" ? text.markOver(at.focus) : null;
    const word = at && at.anchor === at.focus ? text.wordAt(at.focus) : null;
    if (over) openMark(over);
    else if (field && word) field.markSelection({ text, anchor: word[0], focus: word[1] });
    else if (field && at) field.markSelection({ text, ...at });
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

// The card of a mark, or the question about one that cannot be changed.
function openMark(mark) {
  for (const field of fields.values()) if (field.cards.has(mark)) { field.open(mark); return; }
  const question = document.getElementById(`f-${mark.field}`);
  if (!question) return;
  (question.matches("fieldset") ? question.querySelector("input:checked, input, select, textarea") : question).focus({ preventScroll: true });
  question.scrollIntoView({ block: "nearest", behavior: calm ? "instant" : "smooth" });
  activate(mark);
}

// ---- Beginning ----------------------------------------------------------------------------------------------------------

for (const fieldset of document.querySelectorAll("fieldset[data-marks]")) {
  const field = new Marks(fieldset);
  fields.set(field.name, field);
}
for (const node of document.querySelectorAll(".marked[data-part]")) {
  const text = new Text(node);
  texts.push(text);
  node.addEventListener("keydown", (event) => press(text, event));
  node.addEventListener("focus", () => {
    if (!text.selected() && node.matches(":focus-visible")) text.select(text.last ?? 0, text.last ?? 0);
    text.drawCaret();
  });
  node.addEventListener("blur", () => text.drawCaret());
  node.addEventListener("click", (event) => {
    const at = text.selected();
    const mark = at && at.anchor !== at.focus ? null : text.markAt(event.clientX, event.clientY);
    if (mark) openMark(mark);
  });
}
for (const field of fields.values()) field.load();

// Questions about marks that cannot be changed say which one they are about.
for (const text of texts) for (const mark of text.shown) {
  const question = mark.field && document.getElementById(`f-${mark.field}`);
  question?.addEventListener("focusin", () => activate(mark));
  question?.addEventListener("pointerenter", () => activate(mark));
}
const keys = document.querySelector("template.mark-keys");
if (keys) document.querySelector("#keys .keys")?.append(keys.content.cloneNode(true));
paint();
document.documentElement.dataset.marks = painted ? "painted" : "listed"; // tests and styles may wait for it
