/** After the first page has loaded what it needs. Milliseconds. */
const AFTER_MS = 3_000;

/** Lets the browser open the shell without the network, once the page is idle. See public/offline.js for what is kept. */
export function keepShell(): () => void {
  const whenIdle = window.requestIdleCallback ?? ((run: () => void) => window.setTimeout(run));
  const timer = window.setTimeout(() => void whenIdle(() => void register()), AFTER_MS);
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
