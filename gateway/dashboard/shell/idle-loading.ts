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

/** Resolves when the page is loaded and the browser is idle. */
async function idle(): Promise<void> {
  if (document.readyState !== 'complete')
    await new Promise((resolve) => window.addEventListener('load', resolve, { once: true }));
  // Safari has no idle callbacks.
  await new Promise<unknown>((resolve) => {
    if ('requestIdleCallback' in window) window.requestIdleCallback(resolve);
    else setTimeout(resolve, 200);
  });
}
