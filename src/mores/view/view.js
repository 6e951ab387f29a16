"use strict";
// Every page is whole without its script, which copies, opens the filters on a phone, and shows how far runs have come.
document.body.classList.add("scripted");

for (const button of document.querySelectorAll("button.copy")) {
  const code = button.parentNode.querySelector("code");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code); // not allowed here: selected, ready to copy by hand
    }
  });
}

const toggle = document.getElementById("toggle");
if (toggle) toggle.addEventListener("click", () => {
  toggle.setAttribute("aria-expanded", document.body.classList.toggle("filters-open"));
});

// A form without its empty fields has a short address.
for (const form of document.querySelectorAll('form[method="get"]')) {
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (!value) formData.delete(name);
  });
  if (form.closest("#filters")) form.addEventListener("change", (event) => event.target.tagName === "SELECT" && form.requestSubmit());
}

const live = [...document.querySelectorAll(".working[data-run]")];
async function look() {
  try {
    const { working } = await (await fetch("progress")).json();
    for (const node of live) {
      const lines = working[node.dataset.run];
      if (!lines) return location.reload(); // it has ended
      const files = Object.entries(lines).map(([file, n]) => `${n.toLocaleString("en")} lines of ${file}`);
      node.textContent = files.join(", ") || "working";
    }
  } catch { /* the viewer was stopped: what is shown stays */ }
  setTimeout(look, 2000);
}
if (live.length) setTimeout(look, 2000);
