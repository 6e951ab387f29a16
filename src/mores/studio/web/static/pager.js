// On a phone one of several answers at a time; what is wrong comes first, and sending comes after the last.
"use strict";
const rated = [...document.querySelectorAll("form .rated")];
if (rated.length > 1 && matchMedia("(max-width: 760px)").matches) {
  const pager = document.querySelector(".pager");
  const turn = (at, scroll) => {
    rated.forEach((part, number) => { part.hidden = number !== at; });
    pager.querySelector("span").textContent = `${at + 1} / ${rated.length}`;
    pager.querySelector('[data-go="-1"]').disabled = at === 0;
    pager.querySelector('[data-go="1"]').disabled = at === rated.length - 1;
    for (const end of document.querySelectorAll(".at-last")) end.hidden = at < rated.length - 1;
    if (scroll) rated[at].scrollIntoView();
  };
  pager.hidden = false;
  pager.addEventListener("click", (event) => {
    const go = Number(event.target.closest("[data-go]")?.dataset.go ?? 0);
    if (go) turn(rated.findIndex((part) => !part.hidden) + go, true);
  });
  for (const link of document.querySelectorAll(".notice.bad a")) {
    link.addEventListener("click", () => turn(Math.max(rated.findIndex((part) => part.contains(document.querySelector(link.hash))), 0)));
  }
  turn(Math.max(rated.findIndex((part) => part.querySelector(".problem")), 0), false);
}
