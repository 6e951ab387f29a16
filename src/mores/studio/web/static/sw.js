// Pages that were open can be read again without a line, until the session ends. Nothing is sent from here.
"use strict";
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { request } = event;
  const path = new URL(request.url).pathname;
  if (request.method !== "GET" || (request.mode !== "navigate" && !path.includes("/static/"))) return;
  if (path.includes("/join/")) return; // a link that signs someone in is not kept
  event.respondWith((async () => {
    if (path.includes("/static/") && new URL(request.url).search) { // an address with a version never gives anything else
      const kept = await (await caches.open("pages")).match(request);
      if (kept) return kept;
    }
    try {
      const answer = await fetch(request);
      const ended = request.mode === "navigate" && new URL(answer.url).pathname.endsWith("/login");
      if (ended) await caches.delete("pages");
      else if (answer.ok) await (await caches.open("pages")).put(request, answer.clone());
      return answer;
    } catch (error) {
      const kept = await (await caches.open("pages")).match(request);
      if (kept) return kept;
      throw error;
    }
  })());
});
