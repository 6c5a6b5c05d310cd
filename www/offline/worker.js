// The service worker: serves one version of the page, whole or not at all.
//
// A version is the list of its files with their hashes, which the build writes into this file. Installing fetches and
// checks all of them; if one differs (the server is being updated), nothing is installed and the version before goes
// on. A version stays until no page uses it any more, or the reader asks for the next one: pages never mix two.
// Of the builds of the wasm module it holds the one that this browser runs.
// The model is no part of it: the package keeps that in a cache of its own. What is not listed goes to the network; where there is none, a
// page of the site that is not kept is led to one that says so.

/** @type {Record<string, string>} SHA-256 in base64 by the path below the scope. */
const FILES = __FILES__;
/** Those of them that do the same, the best first: builds of the wasm module. */
const BUILDS = __BUILDS__;
const VERSION = "__VERSION__";
/** Pages of the site that need the network: files, and folders with all below them. */
const UNKEPT = ["api/", "THIRD-PARTY-NOTICES.txt"];

const scope = new URL("./", self.location.href);
// One origin may hold several copies of the site, each under a path of its own.
const PREFIX = `caselens-page ${scope.pathname} `;
const nameOf = (url) => decodeURIComponent(new URL(url).pathname.slice(scope.pathname.length)) || "index.html";

async function digest(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return btoa(String.fromCharCode(...hash));
}

/** Fetches a file and checks it against its hash: first as the browser may have it, then from the server. */
async function fetchChecked(name) {
  for (const cache of ["default", "reload"]) {
    const response = await fetch(new URL(name, scope), { cache });
    if (!response.ok || response.redirected) continue;
    const bytes = await response.arrayBuffer();
    if ((await digest(bytes)) === FILES[name]) return { bytes, headers: response.headers };
  }
  throw new Error(`${name} is not the one of this version; the page stays as it is.`);
}

async function install() {
  const cache = await caches.open(PREFIX + VERSION);
  const kept = new Set((await cache.keys()).map(({ url }) => nameOf(url)));
  const keep = (name, { bytes, headers }) => cache.put(new URL(name, scope), new Response(bytes, { headers }));
  for (const name of Object.keys(FILES)) {
    if (!kept.has(name) && !BUILDS.includes(name)) await keep(name, await fetchChecked(name));
  }
  if (BUILDS.some((name) => kept.has(name))) return;
  for (const name of BUILDS) {
    const file = await fetchChecked(name);
    if (WebAssembly.validate(file.bytes)) return keep(name, file);
  }
}

/** Removes the files of versions before. */
async function activate() {
  for (const key of await caches.keys()) {
    if (key.startsWith(PREFIX) && key !== PREFIX + VERSION) await caches.delete(key);
  }
}

async function answer(request, name) {
  const cache = await caches.open(PREFIX + VERSION);
  return (await cache.match(new URL(name, scope))) ?? fetch(request);
}

/** A page that is not kept, from the network. It is led elsewhere rather than answered: what that page needs lies beside its own address. */
async function fromNetwork(request) {
  try {
    return await fetch(request);
  } catch {
    const told = new URL("unkept.html", scope);
    told.hash = request.url.slice(scope.href.length);
    return Response.redirect(told);
  }
}

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("message", (event) => {
  if (event.data === "take over") void self.skipWaiting();
});
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(scope.href)) return;
  const name = nameOf(request.url);
  if (Object.hasOwn(FILES, name)) event.respondWith(answer(request, name));
  else if (request.mode === "navigate" && UNKEPT.some((path) => name.startsWith(path))) event.respondWith(fromNetwork(request));
});
