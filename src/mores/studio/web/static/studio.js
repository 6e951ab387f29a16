// What a page gains when scripts run: shortcuts, drafts that save themselves, sending without a line, waiting for a model.
"use strict";
const root = document.body.dataset.root;
const token = document.body.dataset.token;

// A single answer such as "none" excludes the others.
document.addEventListener("change", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || box.type !== "checkbox" || !box.checked) return;
  for (const other of box.form?.querySelectorAll(`input[type=checkbox][name="${CSS.escape(box.name)}"]`) ?? []) {
    if (other !== box && ("alone" in box.dataset || "alone" in other.dataset)) other.checked = false;
  }
});

// Shortcuts: 1–9 for the options of the first open question, n and w, Ctrl+Enter to send.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const button = document.querySelector('[data-key="Enter"]');
    if (button) { event.preventDefault(); button.form.requestSubmit(button); }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select")) return;
  if (/^[1-9]$/.test(event.key)) {
    const group = event.target.closest("fieldset") ?? document.querySelector("fieldset.choice, fieldset.choices, fieldset.scale");
    const option = group?.querySelectorAll(".option input")[Number(event.key) - 1];
    if (option) { event.preventDefault(); option.click(); option.focus(); }
    return;
  }
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (target) { event.preventDefault(); target.click(); }
});

// Time spent, while the page is looked at.
for (const form of document.querySelectorAll("form[data-timed]")) {
  let seconds = 0;
  setInterval(() => { if (!document.hidden) form.elements.seconds.value = ++seconds; }, 1000);
}

const unsaved = [];

// Drafts: kept on the device with every key, on the server a moment later.
for (const form of document.querySelectorAll("form[data-draft]")) {
  const place = form.dataset.draft;
  const note = form.querySelector(".saved");
  const values = () => {
    const data = new URLSearchParams(new FormData(form));
    for (const name of ["csrf", "key", "seconds"]) data.delete(name);
    return data;
  };
  let timer;
  const save = async () => {
    clearTimeout(timer);
    timer = undefined;
    try {
      const answer = await fetch(place, { method: "PUT", body: values(), headers: { "x-csrf-token": token, accept: "application/json" } });
      note.textContent = answer.ok ? "✓" : "";
    } catch { note.textContent = ""; }
  };
  form.addEventListener("input", () => {
    localStorage.setItem(place, values().toString());
    clearTimeout(timer);
    timer = setTimeout(save, 800);
  });
  unsaved.push(() => timer && save());
  form.addEventListener("submit", () => { clearTimeout(timer); localStorage.removeItem(place); });
}

// The line: say when it is gone.
const offline = document.getElementById("offline");
const show = () => { offline.hidden = navigator.onLine; };
addEventListener("online", show);
addEventListener("offline", show);
show();

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
