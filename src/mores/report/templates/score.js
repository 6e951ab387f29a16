"use strict";
// Everything in `cards` is hostile: it reaches the page as textContent or an attribute, never as markup.
(() => {
  const CHUNK = 50; // cards drawn at once
  const LONG = 1200; // code points from which a text is folded
  const QUOTE = 80; // code points of a quote where it only stands for its error
  const FILTERS = ["q", "state", "severity", "type", "language", "region", "bar", "sort"];
  const NONE = "-"; // the filter value of a text without language or region

  const find = (id) => document.getElementById(id);
  const cards = JSON.parse(find("data").textContent);

  function make(tag, className = "", text = "") {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text) node.textContent = text;
    return node;
  }

  function withAttributes(node, attributes) {
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  }

  // ---- marks -------------------------------------------------------------------------------------------------

  // Spans count code points, so the text is cut as a list of code points and never by UTF-16 index.
  // It is cut at every boundary, so that overlapping and nested errors need no nested elements.
  function segments(points, errors) {
    const edges = [...new Set([0, points.length, ...errors.flatMap((error) => [error.start, error.end])])];
    edges.sort((a, b) => a - b);
    return edges.slice(1).map((end, i) => ({
      start: edges[i],
      text: points.slice(edges[i], end).join(""),
      errors: errors.filter((error) => error.start <= edges[i] && end <= error.end),
    }));
  }

  const errorsOf = new WeakMap(); // mark -> its errors

  function mark(segment, card) {
    const severity = segment.errors.some((error) => error.severity === "major") ? "major" : "minor";
    const node = make("mark", severity + (segment.errors.length > 1 ? " stacked" : ""), segment.text);
    node.dataset.errors = segment.errors.map((error) => card.errors.indexOf(error)).join(" ");
    // One tab stop per place where an error begins; the rest of an overlap can still be pointed at.
    node.tabIndex = segment.errors.some((error) => error.start === segment.start) ? 0 : -1;
    node.setAttribute("role", "button");
    errorsOf.set(node, segment.errors);
    return node;
  }

  // ---- cards -------------------------------------------------------------------------------------------------

  function side(card, name, label) {
    const block = make("div", `side ${name}`);
    const body = make("div", "body");
    const points = Array.from(card[name]);
    body.dir = card.rtl && name === "text" ? "rtl" : "auto";
    const language = name === "instruction" && card.defaultInstruction ? "en" : card.language;
    if (language) body.lang = language;
    const located = card.errors.filter((error) => error.side === name && error.start !== null);
    for (const segment of segments(points, located)) {
      body.append(segment.errors.length ? mark(segment, card) : segment.text);
    }
    block.append(make("h3", "", label), body);
    if (points.length > LONG) fold(block, body, points.length);
    return block;
  }

  function fold(block, body, length) {
    const button = withAttributes(make("button", "unfold"), { type: "button", "aria-expanded": "false" });
    const all = `Show all ${length.toLocaleString("en")} characters`;
    const toggle = (open) => {
      body.classList.toggle("folded", !open);
      button.setAttribute("aria-expanded", open);
      button.textContent = open ? "Show less" : all;
    };
    toggle(false);
    button.addEventListener("click", () => toggle(body.classList.contains("folded")));
    body.addEventListener("focusin", () => toggle(true)); // an error reached by keyboard is never hidden
    block.append(button);
    folded.add({ body, button, all });
  }

  // Folded texts say how many errors the fold hides; that can be measured only once they are on the page.
  const folded = new Set();
  function countHidden() {
    for (const { body, button, all } of folded) {
      const bottom = body.getBoundingClientRect().bottom;
      const below = [...body.querySelectorAll("mark")].filter((m) => m.getBoundingClientRect().top >= bottom);
      const hidden = new Set(below.flatMap((m) => errorsOf.get(m))).size;
      if (hidden) button.textContent = `${all}, ${hidden} more ${hidden === 1 ? "error" : "errors"}`;
    }
    folded.clear();
  }

  function badge(card) {
    const node = make("p", "badge");
    const say = (icon, strong, rest) => {
      node.append(withAttributes(make("span", "icon", icon), { "aria-hidden": "true" }));
      node.append(make("strong", "", strong), make("span", "", rest));
    };
    if (card.state === "failed") say("–", "Not judged", "");
    else if (card.state === "errors") say(worstOf(card) === "major" ? "▲" : "△", card.score, card.counts);
    else say("✓", "No errors", card.certainty === null ? "p(R) unknown" : `p(R) ${card.certainty.toFixed(3)}`);
    return node;
  }

  const worstOf = (card) => (card.errors.some((error) => error.severity === "major") ? "major" : "minor");

  function heading(card) {
    const node = make("header");
    const name = make("h2");
    name.append(make("bdi", "", card.id));
    const place = make("p", "place");
    for (const text of [card.languageName, card.regionName].filter(Boolean)) {
      place.append(place.hasChildNodes() ? " · " : "", make("bdi", "", text));
    }
    const words = make("div");
    words.append(name, place);
    node.append(words, badge(card));
    return node;
  }

  function tag(error) {
    const node = make("p", `tag ${error.severity}`);
    const icon = withAttributes(make("span", "icon", error.severity === "major" ? "▲" : "△"), { "aria-hidden": "true" });
    node.append(icon, make("strong", "", error.severity === "major" ? "Major" : "Minor"), make("bdi", "", error.type));
    if (error.evidence.length) node.append(make("span", "cited", numbers(error.evidence)));
    return node;
  }

  const numbers = (list) => list.map((number) => `[${number}]`).join(" ");

  function paragraph(className, text) {
    return withAttributes(make("p", className, text), { dir: "auto" });
  }

  function unlocated(card) {
    const list = make("ul", "unlocated");
    for (const error of card.errors.filter((error) => error.start === null)) {
      const item = make("li");
      const lost = make("p", "lost", `not found in the ${error.side}: “`);
      lost.append(make("bdi", "", error.quote), "”");
      item.append(tag(error), lost);
      if (error.explanation) item.append(paragraph("why", error.explanation));
      list.append(item);
    }
    return list;
  }

  // ---- evidence ----------------------------------------------------------------------------------------------

  function evidence(card) {
    const node = make("details", "evidence");
    const cited = new Set(card.errors.flatMap((error) => error.evidence));
    const some = cited.size ? `, ${cited.size} cited` : "";
    node.append(make("summary", "", `Evidence (${card.evidence.length}${some})`));
    node.open = cited.size > 0;
    const list = make("ol");
    card.evidence.forEach((one, i) => list.append(passage(one, i + 1, card)));
    node.append(list);
    return node;
  }

  function passage(one, number, card) {
    const by = card.errors.filter((error) => error.evidence.includes(number));
    const item = make("li", by.length ? "used" : "");
    const body = make("div");
    if (one.title) body.append(paragraph("title", one.title));
    body.append(paragraph("found", one.text));
    const where = make("p", "where");
    for (const part of [one.date && make("bdi", "", one.date), one.source && source(one)].filter(Boolean)) {
      where.append(where.hasChildNodes() ? " · " : "", part);
    }
    if (where.hasChildNodes()) body.append(where);
    if (by.length) body.append(citedFor(by));
    item.append(make("span", "number", `[${number}]`), body);
    return item;
  }

  // An address is a link only where the page was made with it as one; anything else is words.
  function source(one) {
    const words = make("bdi", "", one.source);
    if (!one.link) return words;
    const link = withAttributes(make("a"), { href: one.source, rel: "noopener noreferrer nofollow", target: "_blank" });
    link.append(words);
    return link;
  }

  function shortened(text) {
    const points = Array.from(text);
    return points.length > QUOTE ? `${points.slice(0, QUOTE).join("")}…` : text;
  }

  function citedFor(errors) {
    const node = make("p", "cited-for", "cited for ");
    errors.forEach((error, i) => {
      node.append(i ? ", “" : "“", make("bdi", "", shortened(error.quote)), "”");
    });
    return node;
  }

  function more(card) {
    const node = make("details");
    node.append(make("summary", "", card.notes.length ? `Details and notes (${card.notes.length})` : "Details"));
    const list = make("dl");
    const rows = [["Judge", card.judge], ["Source", card.source], ["Score", card.score], ["Signature", card.signature]];
    for (const note of card.notes) rows.push(["Note", note]);
    for (const [name, value] of rows.filter(([, value]) => value)) {
      const definition = make("dd");
      definition.append(make(name === "Signature" ? "code" : "bdi", "", value));
      list.append(make("dt", "", name), definition);
    }
    node.append(list);
    return node;
  }

  const cardOf = new WeakMap(); // article -> its card

  function draw(card) {
    const node = make("article", `card ${card.state} ${card.state === "errors" ? worstOf(card) : ""}`.trim());
    node.dataset.place = card.place;
    cardOf.set(node, card);
    node.append(heading(card), side(card, "instruction", "Instruction"), side(card, "text", "Text"));
    if (card.errors.some((error) => error.start === null)) node.append(unlocated(card));
    if (card.failure) node.append(paragraph("failure", `Not judged (${card.failure.kind}): ${card.failure.reason}`));
    if (card.explanation) {
      const block = make("div", "side explanation");
      block.append(make("h3", "", "Explanation"), paragraph("body", card.explanation));
      node.append(block);
    }
    if (card.evidence.length) node.append(evidence(card));
    node.append(more(card));
    return node;
  }

  // ---- filters -----------------------------------------------------------------------------------------------

  const foldCase = (text) => text.normalize("NFKC").toLowerCase();
  const typeOf = (error) => foldCase(error.type).trim();

  function words(card) {
    if (card.words === undefined) {
      const parts = card.errors.flatMap((error) => [error.quote, error.type, error.explanation]);
      parts.push(...card.evidence.flatMap((one) => [one.title, one.text, one.source]));
      const reason = card.failure ? card.failure.reason : "";
      card.words = foldCase([card.id, card.instruction, card.text, card.explanation, reason, ...parts].join("\n"));
    }
    return card.words;
  }

  function matches(card, filter) {
    const wantsError = filter.severity || filter.type;
    return (!filter.state || card.state === filter.state)
      && (!filter.language || (card.language || NONE) === filter.language)
      && (!filter.region || (card.region || NONE) === filter.region)
      && (!filter.bar || card.bar === filter.bar)
      && (!wantsError || card.errors.some((error) => (!filter.severity || error.severity === filter.severity)
        && (!filter.type || typeOf(error) === filter.type)))
      && (!filter.q || words(card).includes(foldCase(filter.q.trim())));
  }

  // Fills a select with the values that occur, the most frequent first.
  function offer(id, values) {
    const counts = new Map();
    for (const [value, label] of values) {
      const entry = counts.get(value) || { label, count: 0 };
      entry.count += 1;
      counts.set(value, entry);
    }
    const sorted = [...counts].sort((a, b) => b[1].count - a[1].count || (a[1].label < b[1].label ? -1 : 1));
    for (const [value, { label, count }] of sorted) {
      const option = make("option", "", `${label} (${count.toLocaleString("en")})`);
      option.value = value;
      find(id).append(option);
    }
  }

  function offerAll() {
    const once = (card) => new Map(card.errors.map((error) => [typeOf(error), error.type.trim()]));
    offer("type", cards.flatMap((card) => [...once(card)]));
    offer("language", cards.map((card) => [card.language || NONE, card.languageName || "Not given"]));
    offer("region", cards.map((card) => [card.region || NONE, card.regionName || "Not given"]));
    for (const bar of document.querySelectorAll(".bar[role]")) {
      const option = make("option", "", bar.dataset.label);
      option.value = bar.dataset.bar;
      find("bar").append(option);
    }
  }

  const current = () => Object.fromEntries(FILTERS.map((name) => [name, find(name).value]));

  function toHash(filter) {
    const used = Object.entries(filter).filter(([, value]) => value);
    const hash = new URLSearchParams(used).toString();
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  }

  function fromHash() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const name of FILTERS) {
      const field = find(name);
      field.value = wanted.get(name) || "";
      if (field.selectedIndex === -1) field.value = ""; // a value that this page does not have
    }
    apply();
  }

  // ---- the list ----------------------------------------------------------------------------------------------

  let shown = [];
  let drawn = 0;

  function apply() {
    const filter = current();
    shown = cards.filter((card) => matches(card, filter));
    if (filter.sort === "input") shown.sort((a, b) => a.place - b.place);
    hide();
    find("cards").replaceChildren();
    drawn = 0;
    drawMore();
    const number = (n) => n.toLocaleString("en");
    find("count").textContent = `Showing ${number(shown.length)} of ${number(cards.length)}`;
    find("none").hidden = shown.length > 0;
    const active = FILTERS.filter((name) => name !== "sort" && filter[name]).length;
    find("reset").hidden = active === 0 && !filter.sort;
    find("toggle").textContent = active ? `Filters (${active})` : "Filters";
    for (const bar of document.querySelectorAll(".bar[role]")) {
      bar.setAttribute("aria-pressed", bar.dataset.bar === filter.bar);
    }
    document.body.classList.toggle("one-bar", Boolean(filter.bar));
  }

  function drawMore() {
    const next = shown.slice(drawn, drawn + CHUNK);
    find("cards").append(...next.map(draw));
    drawn += next.length;
    countHidden();
    const button = find("more");
    button.hidden = drawn >= shown.length;
    button.textContent = `Show more (${(shown.length - drawn).toLocaleString("en")} left)`;
    watcher.unobserve(button); // observing afresh reports again when the button is still in sight
    if (!button.hidden) watcher.observe(button);
  }

  const watcher = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) drawMore();
  }, { rootMargin: "600px" });

  // ---- the popover -------------------------------------------------------------------------------------------

  const popover = find("popover");
  let opener = null;
  let closing = 0;

  function show(node, x, y) {
    clearTimeout(closing);
    if (opener === node && !popover.hidden) return;
    hide();
    opener = node;
    const card = cardOf.get(node.closest(".card"));
    popover.replaceChildren(...errorsOf.get(node).map((error, i, all) => {
      const item = make("div", "item");
      item.append(tag(error));
      if (all.length > 1) item.append(paragraph("quote", error.quote));
      item.append(paragraph("why", error.explanation || "No explanation given."));
      for (const number of error.evidence.filter((number) => card.evidence[number - 1])) {
        item.append(paragraph("rests", `[${number}] ${card.evidence[number - 1].text}`));
      }
      return item;
    }));
    popover.hidden = false;
    node.setAttribute("aria-describedby", "popover");
    for (const other of sameErrors(node)) other.classList.add("active");
    position(rectAt(node, x, y));
  }

  function hide() {
    clearTimeout(closing);
    popover.hidden = true;
    if (!opener) return;
    opener.removeAttribute("aria-describedby");
    for (const other of sameErrors(opener)) other.classList.remove("active");
    opener = null;
  }

  function sameErrors(node) {
    const wanted = new Set(errorsOf.get(node));
    return [...node.parentNode.querySelectorAll("mark")].filter((m) => errorsOf.get(m).some((e) => wanted.has(e)));
  }

  // A mark that is broken over lines has one rectangle per line: take the one that is pointed at.
  function rectAt(node, x, y) {
    const rects = [...node.getClientRects()];
    return rects.find((r) => r.left <= x && x <= r.right && r.top <= y && y <= r.bottom) || rects[0];
  }

  function position(rect) {
    const edge = 12;
    const gap = 8;
    const { clientWidth, clientHeight } = document.documentElement;
    const within = (value, size, room) => Math.max(edge, Math.min(value, room - size - edge));
    popover.style.left = popover.style.top = "0";
    const { offsetWidth: width, offsetHeight: height } = popover;
    const fitsBelow = rect.bottom + gap + height + edge <= clientHeight;
    const top = fitsBelow || rect.top < height + gap + edge ? rect.bottom + gap : rect.top - gap - height;
    popover.style.left = `${scrollX + within(rect.left + rect.width / 2 - width / 2, width, clientWidth)}px`;
    popover.style.top = `${scrollY + within(top, height, clientHeight)}px`;
  }

  const markAt = (target) => (target instanceof Element ? target.closest("mark") : null);

  // With the pointer gone, the popover goes back to the mark that has the focus, or closes.
  function leave() {
    clearTimeout(closing);
    if (popover.hidden) return; // Escape has closed it
    closing = setTimeout(() => {
      const focused = markAt(document.activeElement);
      if (focused) show(focused);
      else if (document.activeElement !== popover) hide();
    }, 200);
  }

  function listenToMarks() {
    const list = find("cards");
    list.addEventListener("mouseover", (event) => {
      const node = markAt(event.target);
      if (node) show(node, event.clientX, event.clientY);
    });
    list.addEventListener("mouseout", (event) => markAt(event.target) && leave());
    list.addEventListener("focusin", (event) => markAt(event.target) && show(event.target));
    list.addEventListener("focusout", (event) => event.relatedTarget !== popover && hide());
    list.addEventListener("click", (event) => {
      const node = markAt(event.target);
      if (node) show(node, event.clientX, event.clientY);
    });
    popover.addEventListener("mouseenter", () => clearTimeout(closing));
    popover.addEventListener("mouseleave", leave);
    popover.addEventListener("focusout", hide);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      if ((event.key === "Enter" || event.key === " ") && markAt(event.target)) {
        event.preventDefault();
        show(event.target);
      }
    });
    document.addEventListener("pointerdown", (event) => {
      if (!markAt(event.target) && !popover.contains(event.target)) hide();
    });
    addEventListener("resize", hide);
  }

  // ---- wiring ------------------------------------------------------------------------------------------------

  function change() {
    toHash(current());
    apply();
  }

  function reset() {
    for (const name of FILTERS) find(name).value = "";
    change();
  }

  function pressBar(bar) {
    find("bar").value = find("bar").value === bar.dataset.bar ? "" : bar.dataset.bar;
    change();
  }

  async function copySignature() {
    try {
      await navigator.clipboard.writeText(find("signature").textContent);
      find("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(find("signature")); // not allowed here: selected, ready to copy by hand
    }
  }

  function listenToFilters() {
    let typing = 0;
    for (const name of FILTERS) {
      find(name).addEventListener("input", () => {
        clearTimeout(typing);
        typing = setTimeout(change, name === "q" ? 150 : 0);
      });
    }
    find("reset").addEventListener("click", reset);
    find("more").addEventListener("click", drawMore);
    find("toggle").addEventListener("click", () => {
      const open = document.body.classList.toggle("filters-open");
      find("toggle").setAttribute("aria-expanded", open);
    });
    if (find("copy")) find("copy").addEventListener("click", copySignature);
    for (const bar of document.querySelectorAll(".bar[role]")) {
      bar.addEventListener("click", () => pressBar(bar));
      bar.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        pressBar(bar);
      });
    }
    addEventListener("hashchange", fromHash);
  }

  offerAll();
  listenToMarks();
  listenToFilters();
  fromHash();
})();
