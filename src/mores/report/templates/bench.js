"use strict";
// Hides and shows the cards of the page; it never makes markup.
(() => {
  const CHUNK = 25; // cards shown at once
  const find = (id) => document.getElementById(id);
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
