// Pages that were open can be read again without a line. Nothing is sent from here.
"use strict";
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { request } = event;
  const still = new URL(request.url).pathname.includes("/static/");
  if (request.method !== "GET" || (request.mode !== "navigate" && !still)) return;
  event.respondWith((async () => {
    const pages = await caches.open("pages");
    try {
      const answer = await fetch(request);
      if (answer.ok) await pages.put(request, answer.clone());
      return answer;
    } catch (error) {
      const kept = await pages.match(request);
      if (kept) return kept;
      throw error;
    }
  })());
});
