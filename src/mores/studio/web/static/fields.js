// Fields of pages on which people join or are invited.
"use strict";

// A link is copied with one press.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(field.value);
    } catch { // not by HTTPS, or not allowed
      field.select();
      document.execCommand("copy");
    }
    button.textContent = button.dataset.copied;
  });
}

// A field for several names with commas offers known ones for the last of them, once it is used; what is typed stays.
for (const field of document.querySelectorAll("input[data-names]")) {
  const list = document.getElementById(field.getAttribute("list"));
  let names = [];
  const offer = () => {
    const [before] = /^.*[,،、，]\s*/u.exec(field.value) ?? [""];
    if (list.dataset.before === before) return;
    list.dataset.before = before;
    list.replaceChildren(...names.map((name) => new Option("", before + name)));
  };
  field.addEventListener("input", offer);
  field.addEventListener("focus", async () => {
    names = await fetch(field.dataset.names).then((answer) => answer.json(), () => []);
    delete list.dataset.before;
    offer();
  }, { once: true });
}
