/** After the first page has loaded what it needs. Milliseconds. */
const AFTER_MS = 3_000;

/** Lets the browser open the shell without the network, once the page is idle. See public/offline.js for what is kept. */
export function keepShell(): () => void {
  const timer = window.setTimeout(() => {
    // Absent in Safari.
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => void register());
    else void register();
  }, AFTER_MS);
  return () => window.clearTimeout(timer);
}

async function register(): Promise<void> {
  // Absent on plain HTTP, except for localhost.
  if (!('serviceWorker' in navigator)) return;
  try {
    const registration = await navigator.serviceWorker.register('/offline.js');
    registration.active?.postMessage('keep');
  } catch {
    // The dashboard works without it.
  }
}
