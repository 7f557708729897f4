import { Stack } from '@mantine/core';
import { useEffect, useEffectEvent } from 'react';
import type { CombinedError } from 'urql';
import { ErrorAlert } from './alerts.ts';
import { IconAlertTriangle } from './icons.ts';
import { QuietButton } from './quiet-button.tsx';
import { Small } from './text.tsx';
import { describeError } from './use-act.ts';

/** Interval of retries while the service is unreachable. Milliseconds. */
const RETRY_MS = 3_000;
const FIRST_SERVER_ERROR = 500;

/** Returns what is wrong with the search text; null for every other error. */
function findSearchFault({ graphQLErrors }: CombinedError): string | null {
  for (const { message, extensions } of graphQLErrors) {
    const details: unknown = extensions['details'];
    if (Array.isArray(details) && details.some(({ field }: { field?: unknown }) => field === 'search'))
      return /[.?!]$/.test(message) ? message : `${message}.`;
  }
  return null;
}

/**
 * Shows why data could not be loaded, with a retry button. While the service is unreachable, it also retries by itself. A
 * mistake in a search is a hint below its field.
 */
export function ErrorNote({ error, retry }: { error: CombinedError; retry?: () => void }) {
  useRetries(isServiceAway(error), retry);
  const hint = findSearchFault(error);
  if (hint !== null)
    return (
      <Small role="status" className="postroom-wrap" px={4}>
        {hint}
      </Small>
    );
  return (
    <ErrorAlert icon={<IconAlertTriangle aria-hidden />} title="Could not load this" role="alert">
      <Stack gap="xs" align="flex-start">
        <Small>{describeError(error).message}</Small>
        {retry !== undefined && <QuietButton label="Try again" size="xs" onClick={retry} />}
      </Stack>
    </ErrorAlert>
  );
}

/** Returns whether the request may succeed later without a change: no response, or an error of the server. */
function isServiceAway(error: Pick<CombinedError, 'networkError' | 'response'>): boolean {
  const status = (error.response as Response | undefined)?.status;
  return status === undefined ? error.networkError !== undefined : status >= FIRST_SERVER_ERROR;
}

/** Calls back in intervals and when the browser is online again, as long as it is wanted and the page is visible. */
function useRetries(isWanted: boolean, retry: (() => void) | undefined): void {
  const again = useEffectEvent(() => {
    if (document.visibilityState === 'visible') retry?.();
  });
  useEffect(() => {
    if (!isWanted) return;
    const tick = () => again();
    const timer = window.setInterval(tick, RETRY_MS);
    window.addEventListener('online', tick);
    document.addEventListener('visibilitychange', tick);
    return () => {
      window.clearInterval(timer);
      window.removeEventListener('online', tick);
      document.removeEventListener('visibilitychange', tick);
    };
  }, [isWanted]);
}
