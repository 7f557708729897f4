import { Center, Stack, Text } from '@mantine/core';
import { Component, type ComponentType, lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { QuietButton } from '../parts/controls.tsx';
import { Hint } from '../parts/text.tsx';

/**
 * Returns a component whose code is loaded when it is shown for the first time, or before by `load`. `wait` returns what is in its place until
 * then, made from its properties: nothing, if it is absent.
 */
export function later<Props extends object>(
  read: () => Promise<ComponentType<Props>>,
  wait: (props: Props) => ReactNode = () => null,
): ComponentType<Props> & { load: () => Promise<unknown> } {
  let loaded: ComponentType<object> | null = null;
  const load = async () => ({ default: (loaded = (await read()) as ComponentType<object>) });
  const Lazy = lazy(load);
  function Later(props: Props) {
    // What is loaded is shown in the same frame, without what is in its place.
    const [Shown] = useState<ComponentType<object>>(() => loaded ?? Lazy);
    return (
      <Suspense fallback={wait(props)}>
        <Shown {...props} />
      </Suspense>
    );
  }
  return Object.assign(Later, { load });
}

/** Interval at which a page whose code could not be loaded asks whether the service is back. Milliseconds. */
const ASK_MS = 3_000;

/**
 * Shows its children, and a note when the code of a page could not be loaded: the service was unreachable, or a newer version replaced the
 * files. The page is loaded again when the service responds. Other errors are thrown on.
 */
export class LoadBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    if (!isLoadError(error)) throw error;
    return <Reloading />;
  }
}

/** Neither browsers nor Vite have a type for it. The messages of browsers are about a module, Vite's about the preload of its style sheet. */
function isLoadError(error: unknown): boolean {
  return error instanceof Error && /module|preload/i.test(error.message);
}

function Reloading() {
  useEffect(() => {
    const ask = async () => {
      const response = await fetch('/health', { cache: 'no-store' }).catch(() => null);
      if (response?.ok === true) window.location.reload();
    };
    const timer = window.setInterval(() => void ask(), ASK_MS);
    return () => window.clearInterval(timer);
  }, []);
  return (
    <Center mih="40vh" p="md">
      <Stack align="center" gap="xs" role="alert">
        <Text fw={600}>Could not load this page</Text>
        <Hint ta="center">Postroom is unreachable. This page loads again as soon as it responds.</Hint>
        <QuietButton label="Try again" size="xs" onClick={() => window.location.reload()} />
      </Stack>
    </Center>
  );
}

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
