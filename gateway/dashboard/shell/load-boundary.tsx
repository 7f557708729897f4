import { Center, Stack, Text } from '@mantine/core';
import { Component, type ReactNode, useEffect } from 'react';
import { QuietButton } from '../parts/controls.tsx';
import { Hint } from '../parts/text.tsx';

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
