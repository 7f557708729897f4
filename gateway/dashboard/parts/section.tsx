import { DataList, Drawer, Group, Paper, type PaperProps, Skeleton, Stack, Tabs, Text, Title } from '@mantine/core';
import { Children, type ComponentProps, type ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import type { LiveQuery } from '../live/use-live-query.ts';
import { later } from '../shell/loading.tsx';
import { CopyButton } from './command.tsx';
import { type NeededRight, needs, QuietButton } from './controls.tsx';
import { Icon, type IconName } from './icons.ts';
import { EmptyState, ErrorNote, Page } from './page.tsx';
import { Hint, Small } from './text.tsx';

type SectionProps = PaperProps & {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  'aria-live'?: 'polite';
};

/** A part of a page on a surface of its own, with its actions to the right of the heading. */
export function Section({ title, about, actions, children, ...paper }: SectionProps) {
  return (
    <Paper withBorder p="lg" bg="var(--postroom-raised)" component="section" aria-label={title} {...paper}>
      <Stack>
        <Group justify="space-between" align="flex-start" gap="sm">
          <Stack gap={2} flex="1 1 16rem">
            <Title order={2}>{title}</Title>
            {about !== undefined && <Hint>{about}</Hint>}
          </Stack>
          {actions}
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}

type Read<Data> = Pick<LiveQuery<Data>, 'data' | 'error' | 'refresh'>;

type LoadedProps<Data> = { query: Read<Data>; height?: number; children: (data: Data) => ReactNode };

/** What a query read. Until then a placeholder; an error is shown above what was read last. */
export function Loaded<Data>({ query: { data, error, refresh }, height = 200, children }: LoadedProps<Data>) {
  return (
    <>
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {data === undefined && error === undefined && <Skeleton h={height} aria-label="Loading" />}
      {data !== undefined && children(data)}
    </>
  );
}

type LoadedSectionProps<Data> = Omit<SectionProps, 'children'> & LoadedProps<Data>;

/** A section that shows what a query read. */
export function LoadedSection<Data>({ query, height, children, ...section }: LoadedSectionProps<Data>) {
  return (
    <Section {...section}>
      <Loaded query={query} {...(height !== undefined && { height })}>
        {children}
      </Loaded>
    </Section>
  );
}

const OtherWorkspaces = later(async () => (await import('../shell/account-menu.tsx')).OtherWorkspaces);

/** What a link leads to is not there: why, and where it may be instead. */
export function NotFound({ children, ...state }: ComponentProps<typeof EmptyState>) {
  return (
    <EmptyState {...state}>
      {children}
      <OtherWorkspaces />
    </EmptyState>
  );
}

/** The page of one record: its heading and content, or why there is none. */
export function RecordPage<Data, Found>(props: {
  query: Read<Data>;
  /** returns the record; null if there is none */
  find: (data: Data) => Found | null | undefined;
  /** noun of the record, such as `Domain` */
  kind: string;
  /** heading of the page without the record */
  heading?: string;
  icon: IconName;
  /** why it may be missing */
  missing: string;
  /** the page to go on from */
  all: { label: string; href: string };
  children: (found: Found) => ReactNode;
}) {
  const { query, find, kind, heading = kind, icon, missing, all, children } = props;
  const found = query.data === undefined ? undefined : find(query.data);
  if (found != null)
    return (
      <>
        {query.error !== undefined && <ErrorNote error={query.error} retry={query.refresh} />}
        {children(found)}
      </>
    );
  return (
    <Page title={heading}>
      <Loaded query={query} height={320}>
        {() => (
          <NotFound icon={icon} title={`${kind} not found`} about={missing}>
            <QuietButton label={all.label} href={all.href} />
          </NotFound>
        )}
      </Loaded>
    </Page>
  );
}

/** One record beside the list that it is in. It is closed without an ID. */
export function RecordDrawer<Data, Found>(props: {
  id: string | null;
  close: () => void;
  query: Read<Data>;
  find: (data: Data) => Found | null;
  title: (found: Found) => string;
  /** noun of the record in the headings */
  kind: string;
  missing: string;
  size?: string;
  children: (found: Found) => ReactNode;
}) {
  const { id, close, query, find, title, kind, missing, size = 'lg', children } = props;
  const found = id === null || query.data === undefined ? null : find(query.data);
  return (
    <Drawer
      opened={id !== null}
      onClose={close}
      position="right"
      size={size}
      title={found === null ? kind : title(found)}
      classNames={{ title: 'postroom-wrap' }}
    >
      {id !== null && (
        <Loaded query={query} height={240}>
          {() => (found === null ? <Text>{`${kind} not found. ${missing}`}</Text> : children(found))}
        </Loaded>
      )}
    </Drawer>
  );
}

interface UrlTab {
  /** its value in the address of the page */
  name: string;
  label: ReactNode;
  icon?: IconName;
  /** after the label, such as a count */
  mark?: ReactNode;
  needed?: NeededRight;
  content: ReactNode;
}

interface UrlTabsProps {
  /** name of the tabs for screen readers */
  label?: string;
  tabs: readonly UrlTab[];
  /** what is shown without a choice, where that changes; absent: the first tab, which has no name in the address */
  start?: string;
  /** whether a choice is no step of the browser's history */
  replace?: boolean;
}

/** Parts of a page as tabs. The one that is shown is in the address of the page. */
export function UrlTabs({ label, tabs, start, replace = false }: UrlTabsProps) {
  const [search, setSearch] = useSearchParams();
  const first = start === undefined ? tabs[0]?.name : undefined;
  const chosen = tabs.find(({ name }) => name === search.get('tab'))?.name ?? start ?? first ?? null;
  const choose = (tab: string | null) => setSearch(tab === null || tab === first ? {} : { tab }, { replace });
  return (
    <Tabs value={chosen} onChange={choose} keepMounted={false}>
      <Tabs.List aria-label={label}>
        {tabs.map(({ name, label: shown, icon, mark, needed }) => (
          <Tabs.Tab
            key={name}
            value={name}
            leftSection={icon && <Icon name={icon} size={16} />}
            rightSection={mark}
            {...(needed !== undefined && needs(needed))}
          >
            {shown}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ name, content }) => (
        <Tabs.Panel key={name} value={name} pt="md">
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

interface PlainListProps {
  /** for screen readers */
  label?: string;
  gap?: 'xs' | 'sm' | 'md' | 0;
  /** what is said without rows */
  empty?: string;
  children: ReactNode;
}

/** A list without marks, such as of cards or of settings. */
export function PlainList({ label, gap = 'sm', empty, children }: PlainListProps) {
  if (empty !== undefined && Children.count(children) === 0) return <Small>{empty}</Small>;
  return (
    <Stack component="ul" gap={gap} p={0} m={0} style={{ listStyle: 'none' }} aria-label={label}>
      {children}
    </Stack>
  );
}

/** A line of a DataList: what it is, and its value, with a button that copies it. */
export function Fact({ name, copy, children }: { name: string; copy?: string | false; children: ReactNode }) {
  return (
    <DataList.Item>
      <DataList.ItemLabel>{name}</DataList.ItemLabel>
      <DataList.ItemValue className="postroom-wrap">
        {copy !== undefined && copy !== false ? (
          <Group gap={4} wrap="nowrap">
            {children}
            <CopyButton text={copy} label={`Copy: ${name}`} />
          </Group>
        ) : (
          children
        )}
      </DataList.ItemValue>
    </DataList.Item>
  );
}
