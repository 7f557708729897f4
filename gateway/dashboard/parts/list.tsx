import { Group, type GroupProps, Modal, Select, Skeleton, Stack, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedCallback, useInterval } from '@mantine/hooks';
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react';
import type { AnyVariables, TypedDocumentNode } from 'urql';
import { useSearchParams } from 'wouter';
import type { ResultOf } from '../graphql.ts';
import type { LiveKind } from '../live/live-context.tsx';
import { useLiveQuery } from '../live/use-live-query.ts';
import { QuietButton } from './controls.tsx';
import { Icon, type IconName } from './icons.ts';
import style from './list.module.css';
import { EmptyState, ErrorNote } from './page.tsx';
import { Hint, SmallLink, Strong } from './text.tsx';

/** Filters and pages of a list, kept in the address of the page, so that a link or a reload shows the same list. */
export interface UrlFilters {
  /** Returns the value of a filter; null: none. */
  get: (name: string) => string | null;
  /** Returns the choice of a filter; null if none of `choices` is chosen. */
  choice: <const Value extends string>(name: string, choices: readonly { value: Value }[]) => Value | null;
  /** Returns a time of this browser's zone, such as `2026-11-22T10:30`, in UTC; null if it is none. */
  time: (name: string) => string | null;
  /** Changes the address of the page; null or an empty text removes a name. */
  set: (changes: Record<string, string | null>) => void;
  /** Sets one filter, and shows the first page. */
  filterBy: (name: string, value: string | null) => void;
  /** Returns the path of the page with one name changed. */
  href: (name: string, value: string) => string;
  isFiltered: boolean;
  /** Removes all filters. */
  clear: () => void;
  /** number of pages that are shown, from 1 */
  pages: number;
  showMore: () => void;
}

/** Returns the filters with these names in the address of the page. */
export function useUrlFilters(names: readonly string[]): UrlFilters {
  const [search, setSearch] = useSearchParams();
  const change = (changes: Record<string, string | null>, isEmptyKept: boolean) =>
    setSearch((params) => {
      for (const [name, value] of Object.entries(changes))
        if (value === null || (value === '' && !isEmptyKept)) params.delete(name);
        else params.set(name, value);
      return params;
    });
  const pages = Math.max(1, Number(search.get('pages')) || 1);
  return {
    get: (name) => search.get(name) || null,
    choice: (name, choices) => choices.find(({ value }) => value === search.get(name))?.value ?? null,
    time: (name) => {
      const at = Date.parse(search.get(name) ?? '');
      return Number.isNaN(at) ? null : new Date(at).toISOString();
    },
    set: (changes) => change(changes, true),
    filterBy: (name, value) => change({ [name]: value, pages: null, after: null }, false),
    href: (name, value) => {
      const params = new URLSearchParams(search);
      params.set(name, value);
      return `?${params}`;
    },
    isFiltered: names.some((name) => search.has(name)),
    clear: () => change(Object.fromEntries(names.map((name) => [name, null])), false),
    pages,
    showMore: () => change({ pages: String(pages + 1) }, false),
  };
}

const FilterContext = createContext<UrlFilters | null>(null);

/** The filters of the list around a field. */
function useFilters(): UrlFilters {
  const filters = useContext(FilterContext);
  if (filters === null) throw new Error('A filter is outside FilterBar');
  return filters;
}

/** The filters above a list, as fields. */
export function FilterBar({ filters, ...group }: GroupProps & { filters: UrlFilters; children: ReactNode }) {
  return (
    <FilterContext value={filters}>
      <Group mb="md" gap="xs" {...group} />
    </FilterContext>
  );
}

/** Delay between the last keystroke and the search. Milliseconds. */
const REST_MS = 300;
/** Maximum length of a search in most lists, as in the service. Characters. */
const MAX_SEARCH = 100;

/** A field that filters a list when its user stops typing. */
export function TextFilter(props: {
  name?: string;
  label: string;
  placeholder?: string;
  type?: 'search' | 'datetime-local';
  maxLength?: number;
  width?: number;
  /** takes the room that is left, as in CSS */
  flex?: string;
}) {
  const { name = 'q', label, placeholder = label, type = 'search', maxLength = MAX_SEARCH, width, flex } = props;
  const filters = useFilters();
  const value = filters.get(name) ?? '';
  const sent = useRef(value);
  const [typed, setTyped] = useState(value);
  const find = useDebouncedCallback((text: string) => {
    sent.current = text.trim();
    filters.filterBy(name, sent.current);
  }, REST_MS);
  // A filter that was removed elsewhere leaves its field, too.
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setTyped(value);
  }, [value]);
  return (
    <TextInput
      type={type}
      aria-label={label}
      placeholder={placeholder}
      {...(type === 'search'
        ? { leftSection: <Icon name="search" size={16} /> }
        : { leftSection: <Hint aria-hidden>{label}</Hint>, leftSectionWidth: 52 })}
      value={typed}
      w={width}
      {...(flex !== undefined && { flex })}
      maxLength={maxLength}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        find(currentTarget.value);
      }}
    />
  );
}

/** A choice that filters a list. `any`: what is shown without a choice, and the name of the button that removes it. */
export function ChoiceFilter({
  name,
  label,
  any = `Any ${label.toLowerCase()}`,
  choices,
  width,
  onChoice,
}: {
  name: string;
  label: string;
  any?: string;
  choices: readonly { value: string; label: string }[];
  width?: number;
  onChoice?: () => void;
}) {
  const filters = useFilters();
  return (
    <Select
      aria-label={label}
      placeholder={any}
      data={[...choices]}
      value={filters.get(name)}
      onChange={(value) => {
        onChoice?.();
        filters.filterBy(name, value);
      }}
      searchable={choices.length > 10}
      clearable
      clearButtonProps={{ 'aria-label': any }}
      w={width}
    />
  );
}

type UrlDialogProps = { title: string; filters: UrlFilters; children: (close: () => void) => ReactNode };

/** A dialog that is open while the address of the page has `?new=`. */
export function UrlDialog({ title, filters, children }: UrlDialogProps) {
  const [search] = useSearchParams();
  const close = () => filters.set({ new: null });
  return (
    <Modal opened={search.has('new')} onClose={close} title={title} centered>
      {children(close)}
    </Modal>
  );
}

interface Page<Row> {
  edges: readonly { node: Row }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}
/** The page that a query of one connection reads. */
export type PageOf<Data> = Extract<Data[keyof Data], Page<unknown>>;
export type RowOf<Data> = PageOf<Data>['edges'][number]['node'];

/** A row of the list that `listSource` declares. */
export type ListRow<Source extends { query: object }> = RowOf<ResultOf<Source['query']>>;

/** What a list reads: a query of one connection, and what changes it. */
export interface ListSource<Data, Variables extends AnyVariables> {
  /** name of the list for screen readers */
  label: string;
  query: TypedDocumentNode<Data, Variables>;
  /** rows of a page */
  size: number;
  /** events after which it is read again; `all`: any */
  kinds?: readonly LiveKind[] | 'all';
  /** types that the result may not contain yet, so that a mutation of one reloads it */
  types: string[];
  /** a visible list reads its first page again after this time, where the feed has no events about it; milliseconds */
  reloadMs?: number;
}

/** Returns the page of a response. */
export function readPage<Data>(data: Data): PageOf<Data> {
  return Object.values(data as object)[0] as PageOf<Data>;
}

/** Declares what a list reads. */
export function listSource<Data, Variables extends AnyVariables>(source: ListSource<Data, Variables>) {
  return source;
}

/** What is shown instead of a list without rows. */
export interface Nothing {
  icon: IconName;
  title: string;
  about: ReactNode;
  /** how to get the first row */
  action?: ReactNode;
  /** the same while a filter is set; `all` is the button that removes the filters. A text: what the rows are, in such words */
  filtered?: string | { title: string; about: string; all?: string };
}

interface PagedListProps<Data, Variables extends AnyVariables> {
  list: ListSource<Data, Variables>;
  /** variables of the query apart from the page */
  variables: Omit<Variables, 'first' | 'after'>;
  filters: UrlFilters;
  empty: Nothing;
  /** returns a list item with the ID of the row as its key */
  children: (row: RowOf<Data>) => ReactNode;
}

/** The pages of a list that the address of the page asks for. Each begins where the one before it ends now, so that all stay correct when the list changes. */
export function PagedList<Data, Variables extends AnyVariables>(props: PagedListProps<Data, Variables>) {
  return <ListPage {...props} after={null} pages={props.filters.pages} />;
}

function ListPage<Data, Variables extends AnyVariables>(
  props: PagedListProps<Data, Variables> & { after: string | null; pages: number },
) {
  const { list, filters, empty, children, after, pages } = props;
  const { data, error, isLoading, refresh } = useLiveQuery<Data, Variables>({
    query: list.query,
    variables: { first: list.size, after, ...props.variables } as unknown as Variables,
    kinds: list.kinds ?? [],
    types: list.types,
  });
  // The other pages follow the cursor of the first one.
  useInterval(
    () => {
      if (document.visibilityState === 'visible') refresh();
    },
    list.reloadMs ?? 0,
    { autoInvoke: list.reloadMs !== undefined && after === null },
  );
  const page = data === undefined ? undefined : readPage(data);
  const next = page?.pageInfo.hasNextPage === true ? page.pageInfo.endCursor : null;
  if (page?.edges.length === 0 && after === null) return <Empty {...empty} filters={filters} />;
  return (
    <>
      {isLoading && <Skeleton h={200} aria-label="Loading" />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {page !== undefined && page.edges.length > 0 && (
        <Rows label={list.label}>{page.edges.map(({ node }) => children(node as RowOf<Data>))}</Rows>
      )}
      {next !== null &&
        (pages > 1 ? (
          <ListPage {...props} after={next} pages={pages - 1} />
        ) : (
          <Group justify="center" mt="md">
            <QuietButton label="Load more" onClick={filters.showMore} />
          </Group>
        ))}
    </>
  );
}

/** Says that a list has no rows, or with filters no such rows, and what to do. */
export function Empty({ icon, title, about, action, filtered, filters }: Nothing & { filters?: UrlFilters }) {
  if (filters?.isFiltered !== true || filtered === undefined)
    return (
      <EmptyState icon={icon} title={title} about={about}>
        {action}
      </EmptyState>
    );
  const { all, ...texts } = typeof filtered === 'string' ? describeNoMatch(filtered) : filtered;
  return (
    <EmptyState icon={icon} {...texts}>
      {all !== undefined && <QuietButton label={all} onClick={filters.clear} />}
    </EmptyState>
  );
}

function describeNoMatch(rows: string) {
  return { title: `No matching ${rows}`, about: 'Change the search or the filters.', all: `Show all ${rows}` };
}

/** The surface of rows. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={style['list']} aria-label={label}>
      {children}
    </ul>
  );
}

type RowProps = { name: ReactNode; about?: ReactNode; actions?: ReactNode; children?: ReactNode };

/** A row: its name and marks, what there is to know of it, and its actions; below them, `children` have the width of the row. */
export function Row({ name, about, actions, children }: RowProps) {
  return (
    <li className={style['row']}>
      <div className={style['name']}>{name}</div>
      <div className={style['about']}>{about}</div>
      <div className={style['actions']}>{actions}</div>
      <div className={style['more']}>{children}</div>
    </li>
  );
}

/** The name of a row in bold, which links to its page if it has one. */
export function RowName({ href, children }: { href?: string; children: ReactNode }) {
  return href === undefined ? (
    <Strong className="postroom-wrap" miw={0} dir="auto">
      {children}
    </Strong>
  ) : (
    <SmallLink href={href} fw={600} className="postroom-wrap" dir="auto">
      {children}
    </SmallLink>
  );
}

/** A row with lines of its own. */
export function FreeRow({ children }: { children: ReactNode }) {
  return (
    <Stack component="li" gap={2} px="sm" py={8} className={style['free'] ?? ''}>
      {children}
    </Stack>
  );
}

interface PressedRowProps {
  name: ReactNode;
  about: ReactNode;
  press: () => void;
  /** whether what is below it is shown; absent: it opens something else */
  isExpanded?: boolean;
  children?: ReactNode;
}

/** A row of one line that is pressed to show more: below it as `children`, or elsewhere. */
export function PressedRow({ name, about, press, isExpanded, children }: PressedRowProps) {
  return (
    <li className={style['free']}>
      <UnstyledButton w="100%" px="sm" py={8} onClick={press} aria-expanded={isExpanded}>
        <Group gap="sm" wrap="wrap" justify="space-between">
          <Group gap="sm" wrap="wrap" flex="1 1 16rem" miw={0}>
            {name}
          </Group>
          <Hint className="postroom-wrap">{about}</Hint>
        </Group>
      </UnstyledButton>
      {children}
    </li>
  );
}
