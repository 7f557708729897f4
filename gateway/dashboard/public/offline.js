/* oxlint-disable typescript/no-unsafe-call, typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-argument, typescript/no-unsafe-return -- a script of the browser, without types */
// The service worker of the dashboard: opens its shell without the network. It keeps the page and the files that the page loads first, and
// never what the service responds with: no mail, no GraphQL, no REST (docs/dashboard.md#without-a-network).
const CACHE = 'postroom-shell-1';
const PAGE = '/offline-shell';

self.addEventListener('install', (event) => {
  event.waitUntil(keepShell().then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  event.waitUntil(removeFormerCaches().then(() => self.clients.claim()));
});

// A page that was just loaded: its version is the one to keep.
self.addEventListener('message', (event) => {
  if (event.data === 'keep') event.waitUntil(keepShell().catch(() => undefined));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== self.location.origin) return;
  if (request.mode === 'navigate') {
    // Downloads and the pages of the interfaces are no shell.
    if (!/^\/(?:api|graphql|assets|health|ready)(?:\/|$)/.test(url.pathname)) event.respondWith(openPage(request));
  } else if (url.pathname.startsWith('/assets/') || isBesideShell(url.pathname)) event.respondWith(openFile(request));
});

function isBesideShell(pathname) {
  return pathname === '/postroom.svg' || pathname === '/site.webmanifest';
}

async function removeFormerCaches() {
  for (const name of await caches.keys()) if (name.startsWith('postroom-') && name !== CACHE) await caches.delete(name);
}

/** Keeps the page and its files, in the place of those of another version. */
async function keepShell() {
  const cache = await caches.open(CACHE);
  const page = await fetch('/', { headers: { accept: 'text/html' }, credentials: 'omit', cache: 'no-store' });
  if (!page.ok) throw new Error('the page is not there');
  const html = await page.clone().text();
  const named = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path);
  const isKept = new Set([...named.map((path) => new URL(path, self.location.origin).pathname), PAGE]);
  for (const request of await cache.keys()) {
    const { pathname } = new URL(request.url);
    if (!isKept.has(pathname) && !pathname.startsWith('/assets/')) await cache.delete(request);
  }
  await cache.put(PAGE, page);
  await Promise.all(named.map(async (path) => (await cache.match(path)) ?? cache.add(path)));
}

/** The page from the network, and without one the kept page. */
async function openPage(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await (await caches.open(CACHE)).match(PAGE);
    if (kept !== undefined) return kept;
    throw error;
  }
}

/** Files have the hash of their content in their name: what is kept is right. */
async function openFile(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request);
  if (kept !== undefined) return kept;
  const response = await fetch(request);
  if (response.ok && response.status === 200) {
    await cache.put(request, response.clone());
    void removeOldFiles(cache);
  }
  return response;
}

/** Files kept, those of former versions included. */
const MAX_FILES = 300;

async function removeOldFiles(cache) {
  const files = (await cache.keys()).filter((request) => new URL(request.url).pathname.startsWith('/assets/'));
  for (const request of files.slice(0, Math.max(0, files.length - MAX_FILES))) await cache.delete(request);
}
