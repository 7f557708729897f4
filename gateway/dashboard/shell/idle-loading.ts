import { useEffect } from 'react';

/** Loads code that the user is likely to need, one file at a time, while the browser has nothing else to do. */
export function useIdleLoading(loads: readonly (() => Promise<unknown>)[]): void {
  useEffect(() => {
    let isOver = false;
    const next = async (at: number): Promise<void> => {
      await idle();
      const load = loads[at];
      if (isOver || load === undefined) return;
      // It is loaded again when it is needed, and its failure is shown then.
      await load().catch(() => undefined);
      return next(at + 1);
    };
    void next(0);
    return () => void (isOver = true);
  }, [loads]);
}

/** What says that the page still waits for something that it shows. */
const BUSY = '[aria-busy="true"], .mantine-Skeleton-root, main .mantine-Loader-root';
/** How often it is looked for, and how long at most. Milliseconds. */
const LOOK_MS = 50;
const MAX_BUSY_MS = 10_000;

/** Resolves when the page shows what it opened with, and the browser is idle: what may be opened next takes nothing from that. */
async function idle(): Promise<void> {
  if (document.readyState !== 'complete')
    await new Promise((resolve) => window.addEventListener('load', resolve, { once: true }));
  const deadline = performance.now() + MAX_BUSY_MS;
  while (document.querySelector(BUSY) !== null && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  // Hidden pages have no frames.
  if (!document.hidden) await new Promise(requestAnimationFrame);
  // Safari has no idle callbacks.
  await new Promise<unknown>((resolve) => {
    if ('requestIdleCallback' in window) window.requestIdleCallback(resolve);
    else setTimeout(resolve, 200);
  });
}
