// Live updates and keys; everything else of the desk works without this file.
"use strict";

const POLL_MS = 2000;
const main = document.getElementById("main");
let tag = null;
let chosen = -1;

const rows = () => [...document.querySelectorAll("[data-row]")];

function choose(index) {
  const all = rows();
  if (all.length === 0) return;
  chosen = Math.max(0, Math.min(all.length - 1, index));
  all.forEach((row, place) => row.classList.toggle("chosen", place === chosen));
  const link = all[chosen].querySelector("a");
  if (link) link.focus();
  all[chosen].scrollIntoView({ block: "nearest" });
}

function openRow(anchor) {
  const row = rows()[chosen];
  const link = row && row.querySelector("a");
  if (link) location.href = link.href + (anchor && link.pathname.startsWith("/queue/") ? anchor : "");
}

function review(kind) {
  const field = document.getElementById(kind + "-reason");
  if (field) field.focus();
  else if (chosen >= 0) openRow("#" + kind);
}

function follow(selector) {
  const link = document.querySelector(selector);
  if (link) location.href = link.href;
}

const keys = {
  j: () => choose(chosen + 1),
  k: () => choose(chosen - 1),
  r: () => review("release"),
  x: () => review("reject"),
  n: () => follow("[data-next]"),
  u: () => follow("[data-up]"),
  "?": () => document.getElementById("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  const at = event.target;
  const isTyping = at.matches("input, select, textarea");
  if (isTyping && event.key === "Escape") at.blur();
  if (isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
  if (document.querySelector("dialog[open]")) return;
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

// An address that ends in #release or #reject goes to the reason of that form.
if (location.hash === "#release" || location.hash === "#reject") review(location.hash.slice(1));

function isBusy(part) {
  return part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");
}

function replaceParts(fresh) {
  const before = rows()[chosen];
  const address = before && before.querySelector("a") ? before.querySelector("a").href : null;
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(part.id);
    if (!next || isBusy(part) || part.innerHTML === next.innerHTML) continue;
    const open = [...part.querySelectorAll("details")].map((one) => one.open);
    next.querySelectorAll("details").forEach((one, place) => { one.open = open[place] || false; });
    part.replaceWith(document.importNode(next, true));
  }
  const again = rows().findIndex((row) => row.querySelector("a") && row.querySelector("a").href === address);
  if (address && again >= 0) choose(again);
}

function announce(heads) {
  document.getElementById("announce").textContent = "New decisions have arrived.";
  main.dataset.decision = heads.decision;
}

async function poll() {
  if (document.hidden) return;
  const headers = { "X-Mithril-Desk": "1" };
  if (tag) headers["If-None-Match"] = tag;
  const answer = await fetch("/pulse", { headers, cache: "no-store" });
  if (answer.status === 401) { location.href = "/sign-in?next=" + encodeURIComponent(location.pathname); return; }
  if (answer.status !== 200) return;
  const isFirst = tag === null;
  tag = answer.headers.get("ETag");
  const heads = await answer.json();
  if (isFirst) return;
  const page = await fetch(location.href, { headers: { "X-Mithril-Desk": "1" }, cache: "no-store" });
  if (!page.ok || page.redirected) return;
  replaceParts(new DOMParser().parseFromString(await page.text(), "text/html"));
  announce(heads);
}

async function keepFresh() {
  try { await poll(); } catch { /* the server is away for a moment: the next round asks again */ }
  setTimeout(keepFresh, POLL_MS);
}

if ("signedIn" in document.body.dataset && document.querySelector("[data-live]")) keepFresh();
