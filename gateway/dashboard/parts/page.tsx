import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect, useEffectEvent } from 'react';
import type { CombinedError } from 'urql';
import { useLocation, useSearch } from 'wouter';
import { findGuidePath } from '../shell/places.ts';
import { IconButton, QuietButton } from './controls.tsx';
import { Icon, type IconName } from './icons.ts';
import style from './page.module.css';
import { setPageTitle } from './tab-title.ts';
import { ErrorAlert, Hint, Small, TextLink } from './text.tsx';
import { describeError } from './use-act.ts';

type PageHeaderProps = { title: string; about?: ReactNode; back?: string; children?: ReactNode };

/**
 * Heading of a page, also used as the tab title. `children` are the actions at its right; `back` is the list that leads to the page: the
 * button returns to what was shown before it, such as a filtered list, and to `back` in a new tab.
 */
export function PageHeader({ title, about, back, children }: PageHeaderProps) {
  const [pathname, navigate] = useLocation();
  useEffect(() => setPageTitle(title), [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="md" gap="sm">
      {back !== undefined && (
        <IconButton
          label="Back"
          icon="arrow-left"
          variant="default"
          size="lg"
          title="Back"
          onClick={() => (window.history.length > 1 ? window.history.back() : navigate(back))}
        />
      )}
      {/* Actions for which a phone has no room beside the title go below it. */}
      <Stack gap={2} flex="1 1 14rem" miw={0}>
        <Group gap={6} wrap="nowrap">
          <Title order={1} className="postroom-wrap" dir="auto">
            {title}
          </Title>
          {!pathname.startsWith('/docs') && (
            <IconButton
              label={`Guide: ${title}`}
              icon="help"
              href={findGuidePath(pathname)}
              title="Guide to this page"
            />
          )}
        </Group>
        {about !== undefined && <Hint maw="65ch">{about}</Hint>}
      </Stack>
      {children !== undefined && <Group gap="xs">{children}</Group>}
    </Group>
  );
}

type PageProps = Omit<PageHeaderProps, 'children'> & { actions?: ReactNode; children: ReactNode };

/** A page: its heading with its actions, and what it shows. */
export function Page({ actions, children, ...heading }: PageProps) {
  return (
    <>
      <PageHeader {...heading}>{actions}</PageHeader>
      {children}
    </>
  );
}

type EmptyStateProps = { icon: IconName; title: string; about: ReactNode; children?: ReactNode };

/** Empty state of a page: the reason and the next step, below a wall of pigeonholes of which one is for this. */
export function EmptyState({ icon, title, about, children }: EmptyStateProps) {
  return (
    <Paper withBorder p="xl" radius="md" bg="var(--postroom-raised)">
      <Stack align="center" gap="sm" maw={640} mx="auto" py="lg">
        <div className={style['holes']} aria-hidden>
          {Array.from({ length: HOLES }, (_, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they never change
            <span key={at}>{at === MIDDLE && <Icon name={icon} size={26} stroke={1.6} />}</span>
          ))}
        </div>
        <Title order={2} ta="center">
          {title}
        </Title>
        <Text c="dimmed" ta="center">
          {about}
        </Text>
        {children}
      </Stack>
    </Paper>
  );
}

const HOLES = 15;
const MIDDLE = 7;

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

/** Shows why data could not be loaded, with a retry button; retries by itself while the service is unreachable. A mistake in a search is a hint. */
export function ErrorNote({ error, retry }: { error: CombinedError; retry?: () => void }) {
  useRetries(isServiceAway(error), retry);
  const hint = findSearchFault(error);
  if (hint !== null) return <SearchFault hint={hint} />;
  return (
    <ErrorAlert icon={<Icon name="alert-triangle" />} title="Could not load this" role="alert">
      <Stack gap="xs" align="flex-start">
        <Small>{describeError(error).message}</Small>
        {retry !== undefined && <QuietButton label="Try again" size="xs" onClick={retry} />}
      </Stack>
    </ErrorAlert>
  );
}

const MEANT = /^((\w+):(?: does not take "([^"]*)")?.* Did you mean )(\S+)(\?.*)$/;

/** Shows a mistake in a search of the page's address. What was meant is a link to the page with it. */
function SearchFault({ hint }: { hint: string }) {
  const parameters = new URLSearchParams(useSearch());
  const [, before, operator = '', value = '', meant = '', after] = MEANT.exec(hint) ?? [];
  const mistake = `${operator}:${value}`.toLowerCase();
  for (const [name, text] of parameters) {
    const at = text.toLowerCase().indexOf(mistake);
    if (at !== -1) parameters.set(name, text.slice(0, at) + meant + text.slice(at + mistake.length));
  }
  return (
    <Small role="status" className="postroom-wrap" px={4}>
      {meant === '' ? hint : before}
      {meant !== '' && <TextLink href={`?${parameters}`}>{meant}</TextLink>}
      {after}
    </Small>
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
