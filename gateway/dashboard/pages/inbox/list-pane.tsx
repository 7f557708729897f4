import { ActionIcon, Box, CloseButton, Group, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import {
  type ReactNode,
  type RefObject,
  type SubmitEvent,
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react';
import { readStored, SHOWN_BEFORE, writeStored } from '../../parts/browser-storage.ts';
import { IconButton, needs } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.ts';
import { ErrorNote } from '../../parts/page.tsx';
import { FieldComing } from '../../shell/keys.ts';
import { later } from '../../shell/loading.tsx';
import { useIsInTeam } from '../../shell/viewer.ts';
import style from './inbox.module.css';
import type { InboxFrame } from './inbox-documents.ts';
import { FOLDERS, type InboxView, patternOfSearch, readWantedThreads } from './inbox-view.ts';
import { useTeam } from './people.ts';
import { ThreadList, useDensity } from './thread-list.tsx';
import type { Inbox } from './use-inbox.ts';

const LargeChangeDialog = later(async () => (await import('./list-dialogs.tsx')).LargeChangeDialog);
const BulkBar = later(
  async () => (await import('./selection-bar.tsx')).BulkBar,
  ({ inbox }) => inbox.isLabelling && <FieldComing cancel={inbox.closeMenus} />,
);
const MergeDialog = later(async () => (await import('./list-dialogs.tsx')).MergeDialog);
const InboxEmpty = later(async () => (await import('./inbox-empty.tsx')).InboxEmpty);
const ResultCount = later(async () => (await import('./list-dialogs.tsx')).ResultCount);
const SaveViewMenu = later(async () => (await import('./list-dialogs.tsx')).SaveViewMenu);
const SelectionBar = later(
  async () => (await import('./selection-bar.tsx')).SelectionBar,
  ({ inbox }) => (inbox.isLabelling || inbox.isSnoozing) && <FieldComing cancel={inbox.closeMenus} />,
);

/** Search, filters, and the list of conversations. */
export function ListPane({ inbox }: { inbox: Inbox }) {
  const { view, go, pathOf, frame, list, selection, selected, bulk } = inbox;
  const { pages } = list;
  const isInTeam = useIsInTeam();
  const isEmpty = !list.isLoading && list.error === undefined && pages.size === 0 && !pages.hasMore;
  const inserter = useRef<((text: string) => void) | null>(null);
  const [density, setDensity] = useDensity();
  const isCompact = density === 'compact';
  const found = useMemo(() => patternOfSearch(view.search), [view.search]);
  const clear = () => go({ search: '', label: null, address: null, assigned: null });
  return (
    <section className={`${style['pane']} ${style['list']}`} aria-label="Conversations">
      <div className={style['listHead']}>
        <Group gap="xs" wrap="nowrap">
          <Box flex={1} miw={0}>
            <InboxSearch
              search={view.search}
              setSearch={(search, options) => go({ search, threadId: null }, options)}
              field={inbox.searchField}
              inserter={inserter}
            />
          </Box>
          <ActionIcon
            {...needs('send')}
            size="lg"
            aria-label="Write email"
            title="Write email (c)"
            onClick={() => go({ compose: { mode: 'new' } })}
          >
            <Icon name="pencil-plus" size={18} />
          </ActionIcon>
        </Group>
        <InboxFilters view={view} frame={frame} go={(change) => go({ ...change, threadId: null })}>
          {isNarrowed(view) && <SaveViewMenu view={view} />}
          <IconButton
            label={isCompact ? 'Show larger rows' : 'Show more rows'}
            icon={isCompact ? 'layout-list' : 'list'}
            iconSize={16}
            variant="default"
            size={30}
            title={isCompact ? 'Show larger rows' : 'Show more rows'}
            onClick={() => setDensity(isCompact ? 'comfortable' : 'compact')}
          />
        </InboxFilters>
        {/* Over the search and the filters, so that the rows stay where they are. */}
        {selected.length > 0 && bulk.chosen === null && bulk.progress === null && (
          <div className={style['selection']}>
            <SelectionBar inbox={inbox} />
          </div>
        )}
      </div>
      {(bulk.chosen !== null || bulk.progress !== null) && (
        <Box style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}>
          <BulkBar inbox={inbox} />
        </Box>
      )}
      {inbox.large.question !== null && <LargeChangeDialog question={inbox.large.question} close={inbox.large.close} />}
      {inbox.isMerging && <MergeDialog threads={selected} close={inbox.stopMerging} merge={inbox.merge} />}
      {list.error !== undefined && (
        <Box p="xs">
          <ErrorNote error={list.error} retry={list.reload} />
        </Box>
      )}
      {view.search !== '' && !isEmpty && list.error === undefined && (
        <ResultCount wanted={readWantedThreads(view, isInTeam)} />
      )}
      {isEmpty ? (
        <Box p="xs" style={{ overflowY: 'auto' }}>
          <InboxEmpty
            view={view}
            frame={frame}
            clear={clear}
            insert={(text) => inserter.current?.(text)}
            searchFor={(search) => go({ search })}
          />
        </Box>
      ) : (
        (list.error === undefined || pages.size > 0) && (
          <ThreadList
            ref={inbox.handle}
            list={list}
            label="Conversations"
            openId={view.threadId}
            activeId={inbox.activeId}
            selected={bulk.chosen?.ids ?? selection.ids}
            ownDomains={inbox.ownDomains}
            isSentView={view.folder === 'sent'}
            density={density}
            found={found}
            hrefOf={(id) => pathOf({ threadId: id })}
            actions={inbox.rowActions}
          />
        )
      )}
    </section>
  );
}

/** Whether the list shows less than a folder, which is worth a name. */
function isNarrowed({ search, label, address, assigned }: Inbox['view']): boolean {
  return search !== '' || label !== null || address !== null || assigned !== null;
}

const SearchHelp = later(
  async () => (await import('./inbox-empty.tsx')).SearchHelp,
  ({ target }) => target,
);

interface InboxSearchProps {
  search: string;
  /** `replace`: the change is no step of the browser's history */
  setSearch: (search: string, options?: { replace: boolean }) => void;
  field: RefObject<HTMLInputElement | null>;
  /** receives a function that inserts an operator into the field */
  inserter: RefObject<((text: string) => void) | null>;
}

/** A search runs when its user pauses for this long. Milliseconds. */
const TYPING_MS = 250;
/** Shorter searches run only when they are submitted. Characters. */
const SEARCH_FROM = 2;

/** Search field with a list of its operators. The search runs as it is typed, unless it ends in the middle of an operator or a phrase. */
function InboxSearch({ search, setSearch, field, inserter }: InboxSearchProps) {
  const [typed, setTyped] = useState(search);
  // What is typed meanwhile stays.
  useEffect(() => setTyped((before) => (before.trim() === search ? before : search)), [search]);
  const [paused] = useDebouncedValue(typed.trim(), TYPING_MS);
  const runTyped = useEffectEvent(() => {
    const isTyping = document.activeElement === field.current && paused === typed.trim();
    if (isTyping && paused !== search && isWhole(paused)) setSearch(paused, { replace: search !== '' });
  });
  useEffect(() => runTyped(), [paused]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (typed.trim() !== search) setSearch(typed.trim());
  };
  const insert = (text: string) => {
    setTyped((before) => (before.trim() === '' ? text : `${before.trimEnd()} ${text}`));
    field.current?.focus();
  };
  useImperativeHandle(inserter, () => insert);
  return (
    <form onSubmit={submit}>
      {/* A search landmark by role: the element of that name is not known everywhere. */}
      <div role="search">
        <TextInput
          ref={field}
          type="search"
          aria-label="Search mail"
          placeholder="Search, for example from:ann has:attachment"
          value={typed}
          maxLength={500}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
          leftSection={<Icon name="search" size={16} />}
          rightSectionWidth={64}
          rightSection={
            <Group gap={2} wrap="nowrap">
              {typed !== '' && (
                <CloseButton
                  size="sm"
                  aria-label="Clear search"
                  onClick={() => {
                    setTyped('');
                    setSearch('');
                    field.current?.focus();
                  }}
                />
              )}
              <HelpButton insert={insert} />
            </Group>
          }
        />
      </div>
    </form>
  );
}

/** Returns whether a search can run as it is: it is empty, or long enough and neither an operator without its value nor an open phrase. */
function isWhole(search: string): boolean {
  if (search === '') return true;
  const hasOpenPhrase = (search.split('"').length - 1) % 2 === 1;
  return search.length >= SEARCH_FROM && !hasOpenPhrase && !/(^|\s)[-!(]?[a-z_]*[:(!-]$/i.test(search);
}

/** Button of the search operators, which are loaded on first use. */
function HelpButton({ insert }: { insert: (text: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  const button = (
    <IconButton
      label="Search operators"
      icon="help"
      size="sm"
      aria-haspopup="dialog"
      aria-expanded={isOpen}
      onClick={() => setOpen(!isOpen)}
    />
  );
  return isOpen ? <SearchHelp target={button} close={() => setOpen(false)} insert={insert} /> : button;
}

interface FilterProps {
  view: InboxView;
  frame: InboxFrame | undefined;
  go: (change: Partial<InboxView>) => void;
}

/** Filters of the list: folder, label, address; at their end `children`, which change how the list is shown. */
function InboxFilters({ view, frame, go, children }: FilterProps & { children: ReactNode }) {
  return (
    <Group gap="0.3rem 0.1rem">
      <div className={style['folders']} role="radiogroup" aria-label="Folder">
        {FOLDERS.map((folder) => (
          <label key={folder}>
            <input
              type="radio"
              name="folder"
              value={folder}
              checked={view.folder === folder}
              onChange={() => go({ folder })}
            />
            {`${folder.charAt(0).toUpperCase()}${folder.slice(1)}`}
          </label>
        ))}
      </div>
      <ConditionFilters view={view} frame={frame} go={go} />
      <Group gap="xs" wrap="nowrap" ml="auto">
        {children}
      </Group>
    </Group>
  );
}

/** Filters of the list by label, address and assignee, where there is a choice. */
function ConditionFilters({ view, frame, go }: FilterProps) {
  const labels = (frame?.labels ?? []).map(({ name, threadCount }) => ({
    value: name,
    label: `${name} (${threadCount})`,
  }));
  const addresses = (frame?.emailAddresses.edges ?? []).map(({ node }) => ({
    value: node.address,
    label: node.address,
  }));
  const { members, isTeam } = useTeam();
  const assignees = [
    { value: 'me', label: 'Assigned to me' },
    { value: 'none', label: 'Unassigned' },
    ...members.filter(({ isYou }) => !isYou).map(({ id, called }) => ({ value: id, label: called })),
  ];
  const now = frame && [labels.length > 0 && 'label', addresses.length > 1 && 'address'].filter(Boolean).join(' ');
  // Those of a page that loads have their place, so that the list below does not move.
  useEffect(() => {
    if (now !== undefined) writeStored(SHOWN_BEFORE.filters, now);
  }, [now]);
  const shown = now ?? readStored(SHOWN_BEFORE.filters) ?? '';
  return (
    <>
      {(shown.includes('label') || view.label !== null) && (
        <Condition name="Label" any="Any label" choices={labels} value={view.label} set={(label) => go({ label })} />
      )}
      {(shown.includes('address') || view.address !== null) && (
        <Condition
          name="Address"
          any="Any address"
          choices={addresses}
          value={view.address}
          set={(address) => go({ address })}
        />
      )}
      {(isTeam || view.assigned !== null) && (
        <Condition
          name="Assigned to"
          any="Anyone"
          choices={assignees}
          value={view.assigned}
          set={(assigned) => go({ assigned })}
        />
      )}
    </>
  );
}

interface ConditionProps {
  name: string;
  any: string;
  choices: readonly { value: string; label: string }[];
  value: string | null;
  set: (value: string | null) => void;
}

/** One condition; its choices have the selected one, even if it no longer exists. */
function Condition({ name, any, choices, value, set }: ConditionProps) {
  const isGone = value !== null && !choices.some((choice) => choice.value === value);
  return (
    <select
      className={style['condition']}
      aria-label={name}
      value={value ?? ''}
      data-chosen={value !== null || undefined}
      onChange={(event) => set(event.currentTarget.value || null)}
    >
      <option value="">{any}</option>
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
      {isGone && <option value={value}>{value}</option>}
    </select>
  );
}
