"use strict";
// A page is whole without its script, which hides, shows and sorts what is there and never makes markup of a text.
const find = (id) => document.getElementById(id);

// Pages with answers: the cards that fit the filters, some at a time.
(() => {
  const CHUNK = 25; // cards shown at once
  const panel = find("choose");
  if (!panel) return;
  const cards = Array.from(document.querySelectorAll(".answer"));
  const selects = Array.from(panel.querySelectorAll("select"));
  const words = new WeakMap(); // card -> its text, to search in
  let room = CHUNK;

  function text(card) {
    if (!words.has(card)) words.set(card, card.textContent.toLowerCase());
    return words.get(card);
  }

  function fits(card, select) {
    if (!select.value) return true;
    if (select.dataset.filter === "group") return card.dataset.groups.split(" ").includes(select.value);
    return card.dataset[select.dataset.filter] === select.value;
  }

  function draw() {
    const query = find("q").value.trim().toLowerCase();
    const chosen = cards.filter((card) => selects.every((one) => fits(card, one)) && (!query || text(card).includes(query)));
    const shown = new Set(chosen.slice(0, room));
    const fitting = new Set(chosen);
    for (const card of cards) {
      card.hidden = !fitting.has(card);
      card.classList.toggle("later", fitting.has(card) && !shown.has(card)); // printed all the same
    }
    const left = chosen.length - shown.size;
    find("count").textContent = chosen.length === cards.length ? `${cards.length} answers` : `${chosen.length} of ${cards.length} answers`;
    find("none").hidden = chosen.length > 0;
    find("more").hidden = left === 0;
    find("more").textContent = `Show ${Math.min(CHUNK, left)} more of ${left}`;
    find("reset").hidden = !query && selects.every((one) => !one.value);
  }

  function change() {
    room = CHUNK;
    draw();
  }

  panel.addEventListener("input", change);
  find("more").addEventListener("click", () => {
    const seen = () => cards.filter((card) => !card.hidden && !card.classList.contains("later"));
    const next = seen().length;
    room += CHUNK;
    draw();
    const shown = seen();
    if (shown[next]) {
      shown[next].tabIndex = -1;
      shown[next].focus({ preventScroll: true });
    }
  });
  find("reset").addEventListener("click", () => {
    find("q").value = "";
    for (const one of selects) one.value = "";
    change();
  });
  panel.hidden = false;
  draw();
})();

// The page of texts: it filters and sorts the cards, folds long texts, and shows an error of the
// list beside its words. Everything in a card is hostile: it is moved and cloned as nodes, never written as markup.
(() => {
  const FILTERS = ["q", "state", "severity", "type", "language", "region", "bar", "sort"];
  const NONE = "-"; // the filter value of a text without language or region

  if (!find("filters")) return;
  const cards = [...document.querySelectorAll(".card")];
  const number = (n) => n.toLocaleString("en");

  // ---- long texts --------------------------------------------------------------------------------------------

  function fold(body) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "unfold";
    const toggle = (open) => {
      body.classList.toggle("folded", !open);
      button.setAttribute("aria-expanded", open);
      button.textContent = open ? "Show less" : `Show all ${body.dataset.long} characters`;
    };
    toggle(false);
    button.addEventListener("click", () => toggle(body.classList.contains("folded")));
    body.addEventListener("focusin", () => toggle(true)); // an error reached by keyboard or link is never hidden
    body.after(button);
  }

  // ---- filters -----------------------------------------------------------------------------------------------

  const foldCase = (text) => text.normalize("NFKC").toLowerCase();
  const typeOf = (error) => foldCase(error.dataset.type).trim();
  const errorsOf = (card) => [...card.querySelectorAll(".error")];

  const said = new WeakMap(); // card -> its words, folded
  function words(card) {
    if (!said.has(card)) {
      const parts = card.querySelectorAll("h2, .body, .error .about, .passage, .failure");
      said.set(card, foldCase([...parts].map((part) => part.textContent).join("\n")));
    }
    return said.get(card);
  }

  function matches(card, filter) {
    const wantsError = filter.severity || filter.type;
    return (!filter.state || card.dataset.state === filter.state)
      && (!filter.language || (card.dataset.language || NONE) === filter.language)
      && (!filter.region || (card.dataset.region || NONE) === filter.region)
      && (!filter.bar || card.dataset.bar === filter.bar)
      && (!wantsError || errorsOf(card).some((error) => (!filter.severity || error.dataset.severity === filter.severity)
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
      find(id).append(new Option(`${label} (${number(count)})`, value));
    }
  }

  const current = () => Object.fromEntries(FILTERS.map((name) => [name, find(name).value]));

  function toHash(filter) {
    const used = Object.entries(filter).filter(([, value]) => value);
    const hash = new URLSearchParams(used).toString();
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  }

  function fromHash() {
    if (location.hash && !location.hash.includes("=")) return apply(); // a place on the page: the filters stay
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const name of FILTERS) {
      const field = find(name);
      field.value = wanted.get(name) || "";
      if (field.selectedIndex === -1) field.value = ""; // a value that this page does not have
    }
    apply();
  }

  // ---- the list ----------------------------------------------------------------------------------------------

  const worstFirst = [...cards];
  const asInput = [...cards].sort((a, b) => a.dataset.place - b.dataset.place);

  function apply() {
    const filter = current();
    hide();
    const order = filter.sort === "input" ? asInput : worstFirst;
    if (order.some((card, i) => find("cards").children[i] !== card)) find("cards").append(...order);
    for (const card of cards) card.hidden = !matches(card, filter);
    const shown = cards.filter((card) => !card.hidden).length;
    find("count").textContent = `Showing ${number(shown)} of ${number(cards.length)}`;
    find("none").hidden = shown > 0;
    const active = FILTERS.filter((name) => name !== "sort" && filter[name]).length;
    find("reset").hidden = active === 0 && !filter.sort;
    find("toggle").textContent = active ? `Filters (${active})` : "Filters";
    for (const bar of document.querySelectorAll(".bar[role]")) {
      bar.setAttribute("aria-pressed", bar.dataset.bar === filter.bar);
    }
    document.body.classList.toggle("one-bar", Boolean(filter.bar));
  }

  // ---- the popover -------------------------------------------------------------------------------------------

  const popover = find("popover");
  let opener = null;
  let closing = 0;

  function show(node, x, y) {
    clearTimeout(closing);
    if (opener === node && !popover.hidden) return;
    hide();
    opener = node;
    const card = node.closest(".card");
    popover.replaceChildren(...namesOf(node).map((name) => {
      return find(`e${card.dataset.place}-${name}`).querySelector(".about").cloneNode(true);
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

  const namesOf = (node) => node.dataset.errors.split(" ");

  function sameErrors(node) {
    const wanted = new Set(namesOf(node));
    return [...node.parentNode.querySelectorAll("mark")].filter((m) => namesOf(m).some((name) => wanted.has(name)));
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

  const markAt = (target) => (target instanceof Element ? target.closest("mark, .ref") : null);

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

  // ---- wiring ------------------------------------------------------------------------------------------------

  function change() {
    toHash(current());
    apply();
  }

  function pressBar(bar) {
    find("bar").value = find("bar").value === bar.dataset.bar ? "" : bar.dataset.bar;
    change();
  }

  function copySignature() {
    getSelection().selectAllChildren(find("signature")); // ready to copy by hand where the clipboard does not answer
    const copied = () => (find("copy").textContent = "Copied");
    navigator.clipboard?.writeText(find("signature").textContent).then(copied, () => {});
  }

  for (const control of document.querySelectorAll("#filters, .status, #copy")) control.hidden = false;
  document.querySelectorAll("[data-long]").forEach(fold);
  const once = (card) => new Map(errorsOf(card).map((error) => [typeOf(error), error.dataset.type.trim()]));
  const given = (name) => cards.map(({ dataset }) => [dataset[name] || NONE, dataset[`${name}Name`] || "Not given"]);
  offer("type", cards.flatMap((card) => [...once(card)]));
  offer("language", given("language"));
  offer("region", given("region"));

  const list = find("cards");
  for (const kind of ["mouseover", "click"]) {
    list.addEventListener(kind, (event) => {
      const node = markAt(event.target);
      if (node) show(node, event.clientX, event.clientY);
    });
  }
  list.addEventListener("mouseout", (event) => markAt(event.target) && leave());
  list.addEventListener("focusin", (event) => markAt(event.target) && show(event.target));
  list.addEventListener("focusout", (event) => event.relatedTarget !== popover && hide());
  popover.addEventListener("mouseenter", () => clearTimeout(closing));
  popover.addEventListener("mouseleave", leave);
  popover.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!markAt(event.target) && !popover.contains(event.target)) hide();
  });
  addEventListener("resize", hide);

  let typing = 0;
  for (const name of FILTERS) {
    find(name).addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(change, name === "q" ? 150 : 0);
    });
  }
  find("reset").addEventListener("click", () => {
    for (const name of FILTERS) find(name).value = "";
    change();
  });
  find("toggle").addEventListener("click", () => {
    const open = document.body.classList.toggle("filters-open");
    find("toggle").setAttribute("aria-expanded", open);
  });
  if (find("copy")) find("copy").addEventListener("click", copySignature);
  for (const bar of document.querySelectorAll(".bar[role]")) {
    find("bar").append(new Option(bar.dataset.label, bar.dataset.bar));
    bar.addEventListener("click", () => pressBar(bar));
    bar.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pressBar(bar);
    });
  }
  addEventListener("hashchange", fromHash);
  fromHash();
})();
