// What a page gains when scripts run: shortcuts, drafts that save themselves, sending without a line, waiting for a model.
"use strict";
const root = document.body.dataset.root;
const token = document.body.dataset.token;
const person = document.body.dataset.person;

// A single answer such as "none" excludes the others.
document.addEventListener("change", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || box.type !== "checkbox" || !box.checked) return;
  for (const other of box.form?.querySelectorAll(`input[type=checkbox][name="${CSS.escape(box.name)}"]`) ?? []) {
    if (other !== box && ("alone" in box.dataset || "alone" in other.dataset)) other.checked = false;
  }
});

// Questions that follow from an answer ("If not: …") wait for it; one with a problem is always there.
function unfold() {
  for (const field of document.querySelectorAll("[data-when]")) {
    const chosen = field.closest("form")?.querySelector(`[name="${CSS.escape(field.dataset.when)}"]:checked`);
    field.hidden = chosen?.value !== field.dataset.is && !field.querySelector(".problem");
  }
}
document.addEventListener("change", unfold);
unfold();

// A place in a ranking is given once: the answer that has it loses it.
document.addEventListener("input", (event) => {
  const places = event.target.closest("[data-once]")?.querySelectorAll("input[type=radio]:checked") ?? [];
  for (const place of places) if (place !== event.target && place.value === event.target.value) place.checked = false;
}, true);

// Shortcuts: 1–9 for the options of a question, Ctrl+Enter to send, j, k and arrows in lists, ? for all of them.
const keys = document.getElementById("keys");
const opener = document.getElementById("show-keys");
opener.hidden = false;
opener.addEventListener("click", () => keys.showModal());
const writing = "input:not([type=checkbox]):not([type=radio]), textarea, select";

const onward = document.documentElement.dir === "rtl" ? -1 : 1;
const STEPS = { j: 1, ArrowDown: 1, ArrowRight: onward, k: -1, ArrowUp: -1, ArrowLeft: -onward };

document.addEventListener("keydown", (event) => {
  if (keys.open) return;
  const at = event.target;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const button = document.querySelector('[data-key="Enter"]');
    if (button) { event.preventDefault(); button.form.requestSubmit(button); }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape") {
    if (at.matches(writing)) at.blur();
    return;
  }
  if (at.matches(writing)) return;
  if (event.key === "?") {
    event.preventDefault();
    keys.showModal();
  } else if (/^[1-9]$/.test(event.key)) {
    choose(at, Number(event.key));
  } else if (STEPS[event.key] && !at.matches("input, summary")) {
    if (step(event.key)) event.preventDefault();
  } else {
    const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (target) { event.preventDefault(); target.click(); }
  }
});

// The question that has the focus, else the first without an answer, else the first.
function choose(at, number) {
  const groups = [...document.querySelectorAll("main fieldset:is(.choice, .choices, .scale):not([hidden])")];
  const group = at.closest("fieldset") ?? groups.find((each) => !each.querySelector(":checked")) ?? groups[0];
  const option = group?.querySelectorAll(".option input")[number - 1];
  if (!option) return;
  option.focus();
  option.click();
}

// In a list the next or the previous line, from the line that has the focus; where a page shows one thing of several,
// the next or the previous of these. Arrows begin only at a list that is what the page is for: elsewhere they scroll.
function step(key) {
  const forth = STEPS[key] > 0;
  const other = document.querySelector(forth ? "main [rel=next]" : "main [rel=prev]");
  if (other && !/Up|Down/.test(key)) { other.click(); return true; }
  if (/Left|Right/.test(key)) return false;
  const lines = [...document.querySelectorAll("main :is(.list > li, tbody > tr, .cards > li)")];
  const links = lines.map((line) => line.querySelector("a")).filter((link) => link?.checkVisibility());
  const line = document.activeElement.closest("li, tr");
  const here = line ? links.findIndex((link) => line.contains(link)) : -1;
  if (here < 0 && key.startsWith("Arrow") && !document.querySelector("main [data-list]")) return false;
  const next = links[here < 0 ? (forth ? 0 : links.length - 1) : here + STEPS[key]];
  next?.focus();
  return links.length > 0;
}

// On a phone the campaign's pages are a row that scrolls: the present one is in sight.
document.querySelector(".crumbs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// What is wrong with a form is where one goes on.
const wrong = document.querySelector('main [aria-invalid="true"]');
(wrong?.matches("fieldset") ? wrong.querySelector("input, textarea, select") : wrong)?.focus();

// Time spent, while the page is looked at.
for (const form of document.querySelectorAll("form[data-timed]")) {
  let seconds = 0;
  setInterval(() => { if (!document.hidden) form.elements.seconds.value = ++seconds; }, 1000);
}

// Drafts: kept on the device with every key, on the server a moment later. What the device still has is not on the server.
const unsaved = [];
for (const form of document.querySelectorAll("form[data-draft]")) {
  const place = form.dataset.draft;
  const kept = `draft ${person} ${place}`;
  const note = form.querySelector(".saved");
  const values = () => {
    const data = new URLSearchParams(new FormData(form));
    for (const name of ["csrf", "key", "seconds", "step"]) data.delete(name);
    return data;
  };
  let timer;
  const save = async () => {
    clearTimeout(timer);
    timer = undefined;
    const text = values().toString();
    try {
      const answer = await fetch(place, { method: "PUT", body: values(), headers: { "x-csrf-token": token, accept: "application/json" } });
      note.textContent = answer.ok ? note.dataset.saved : "";
      if (answer.ok && localStorage.getItem(kept) === text) localStorage.removeItem(kept);
    } catch { note.textContent = note.dataset.kept; }
  };
  form.addEventListener("input", () => {
    localStorage.setItem(kept, values().toString());
    clearTimeout(timer);
    timer = setTimeout(save, 800);
  });
  unsaved.push(() => timer && save());
  const text = localStorage.getItem(kept);
  if (text && text !== values().toString()) { fill(form, new URLSearchParams(text)); save(); }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    send(form, event.submitter, kept);
  });
}

function fill(form, values) {
  const places = {};
  for (const field of form.elements) {
    if (!field.name || field.type === "hidden" || field.type === "submit") continue;
    const given = values.getAll(field.name);
    if (field.type === "checkbox" || field.type === "radio") field.checked = given.includes(field.value);
    else if (given.length) field.value = given[places[field.name] = (places[field.name] ?? -1) + 1] ?? "";
  }
  unfold();
}

// Sending: by the server's word it is done; without a line it is kept on the device and sent later, once.
async function post(path, body) {
  return fetch(path, { method: "POST", body: new URLSearchParams(body), headers: { "x-csrf-token": token, accept: "application/json" } });
}

async function send(form, button, kept) {
  const body = new URLSearchParams(new FormData(form, button)).toString();
  const path = new URL(form.action).pathname;
  for (const each of form.querySelectorAll("button")) each.disabled = true;
  let answer;
  for (const pause of [0, 1000, 3000]) { // a lost reply is asked for again
    await new Promise((go) => { setTimeout(go, pause); });
    try {
      answer = await post(path, body);
      if (answer.ok) {
        const { go } = await answer.json();
        localStorage.removeItem(kept);
        location.href = go;
        return;
      }
      break;
    } catch { answer = undefined; }
    if (!navigator.onLine) break;
  }
  if (!answer || answer.status === 401 || answer.status > 500) { // above 500: a server in front finds no studio, too
    queue([...waiting(), { path, body, at: Date.now() }]);
    localStorage.removeItem(kept);
    show(why(answer));
    return;
  }
  for (const each of form.querySelectorAll("button")) each.disabled = false;
  if (answer.status === 409) { // too late: the page stays, with what was written
    tell((await answer.json().catch(() => ({}))).error ?? "");
    scrollTo(0, 0);
    return;
  }
  if (button?.name) { // the server draws the page that says what is wrong
    const hidden = document.createElement("input");
    Object.assign(hidden, { type: "hidden", name: button.name, value: button.value });
    form.append(hidden);
  }
  form.submit();
}

const line = `waiting ${person}`;
function waiting() { return JSON.parse(localStorage.getItem(line) ?? "[]"); }
function queue(entries) { localStorage.setItem(line, JSON.stringify(entries)); }

// Why the server takes nothing: the session is over, or its disk is full; empty where there is no line.
function why(answer) {
  const { ended, full } = document.body.dataset;
  return { 401: ended, 503: `${full} ${waiting().length}` }[answer?.status] ?? "";
}

async function flush() {
  for (const entry of waiting()) {
    let answer, reply;
    const offline = Math.round((Date.now() - entry.at) / 1000);
    try {
      answer = await post(entry.path, `${entry.body}&offline=${offline}`);
      reply = answer.ok ? await answer.json() : null;
    } catch { return show(); }
    if (answer.status === 401 || answer.status === 429 || answer.status >= 500) return show(why(answer));
    queue(waiting().filter((other) => other.at !== entry.at));
    if (reply) {
      show(document.body.dataset.sent);
      if (document.querySelector(`form[data-draft][action$="${entry.path}"]`)) location.href = reply.go;
    } else {
      const { error } = await answer.json().catch(() => ({ error: "" }));
      const lost = [...new URLSearchParams(entry.body)].filter(([name]) => !["csrf", "key", "seconds", "step"].includes(name));
      tell(`${document.body.dataset.refused} ${error ?? ""}`, lost.map(([, value]) => value).join("\n"));
    }
  }
}

function tell(message, text = "") {
  const notice = document.createElement("div");
  notice.className = "notice";
  notice.setAttribute("role", "status");
  notice.textContent = message;
  if (text) {
    const box = document.createElement("textarea");
    Object.assign(box, { value: text, readOnly: true, rows: 4 });
    notice.append(box);
  }
  document.getElementById("main").prepend(notice);
}

// One line about the connection: it is gone, so much waits on this device, or all of it is sent.
function show(text = "") {
  const { offline, later } = document.body.dataset;
  const count = person ? waiting().length : 0;
  const line = document.getElementById("offline");
  line.textContent = text || (count ? `${later} ${count}` : navigator.onLine ? "" : offline);
  line.hidden = !line.textContent;
  if (text && text === document.body.dataset.ended) {
    const link = document.createElement("a");
    Object.assign(link, { href: `${root}/login`, textContent: document.body.dataset.login });
    line.append(" ", link);
  }
}
addEventListener("online", () => { show(); if (person) flush(); });
addEventListener("offline", () => show());
show();
if (person && navigator.onLine && waiting().length) flush();
setInterval(() => { if (person && waiting().length) flush(); }, 20000);

// Pages that were open can be read again without a line; signing out forgets them.
if ("serviceWorker" in navigator && person) navigator.serviceWorker.register(`${root}/sw.js`, { scope: `${root}/` }).catch(() => {});
document.querySelector("form[action$='/logout']")?.addEventListener("submit", () => { caches?.delete("pages"); });

// A model that is thinking: load the page again when it has answered.
for (const ask of document.querySelectorAll('[data-waiting="1"]')) {
  const timer = setInterval(async () => {
    try {
      const answer = await fetch(ask.dataset.state, { headers: { accept: "application/json" } });
      if (answer.ok && !(await answer.json()).waiting.length) {
        clearInterval(timer);
        await Promise.all(unsaved.map((save) => save()));
        location.reload();
      }
    } catch { /* the line is gone: try again */ }
  }, 1500);
  break;
}
