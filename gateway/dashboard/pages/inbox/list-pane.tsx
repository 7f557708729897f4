import { ActionIcon, Box, Group } from '@mantine/core';
import { lazy, Suspense, useMemo, useRef } from 'react';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconLayoutList, IconList, IconPencilPlus } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useIsInTeam } from '../../shell/viewer.ts';
import { useDensity } from './density.ts';
import style from './inbox.module.css';
import { InboxFilters } from './inbox-filters.tsx';
import { InboxSearch } from './inbox-search.tsx';
import { readWantedThreads } from './inbox-view.ts';
import { patternOfSearch } from './search-pattern.ts';
import { ThreadList } from './thread-list.tsx';
import type { Inbox } from './use-inbox.ts';

const LargeChangeDialog = lazy(async () => ({
  default: (await import('./large-change-dialog.tsx')).LargeChangeDialog,
}));
const BulkBar = lazy(async () => ({ default: (await import('./bulk-bar.tsx')).BulkBar }));
const MergeDialog = lazy(async () => ({ default: (await import('./merge-dialog.tsx')).MergeDialog }));
const InboxEmpty = lazy(async () => ({ default: (await import('./inbox-empty.tsx')).InboxEmpty }));
const ResultCount = lazy(async () => ({ default: (await import('./result-count.tsx')).ResultCount }));
const SaveViewMenu = lazy(async () => ({ default: (await import('./save-view-menu.tsx')).SaveViewMenu }));
const SelectionBar = lazy(async () => ({ default: (await import('./selection-bar.tsx')).SelectionBar }));

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
            <IconPencilPlus size={18} aria-hidden />
          </ActionIcon>
        </Group>
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <Box flex={1} miw={0}>
            <InboxFilters view={view} frame={frame} go={(change) => go({ ...change, threadId: null })} />
          </Box>
          {isNarrowed(view) && (
            <Suspense>
              <SaveViewMenu view={view} />
            </Suspense>
          )}
          <ActionIcon
            variant="default"
            size={30}
            aria-label={isCompact ? 'Show larger rows' : 'Show more rows'}
            title={isCompact ? 'Show larger rows' : 'Show more rows'}
            onClick={() => setDensity(isCompact ? 'comfortable' : 'compact')}
          >
            {isCompact ? <IconLayoutList size={16} aria-hidden /> : <IconList size={16} aria-hidden />}
          </ActionIcon>
        </Group>
        {/* Over the search and the filters, so that the rows stay where they are. */}
        {selected.length > 0 && bulk.chosen === null && bulk.progress === null && (
          <div className={style['selection']}>
            <Suspense>
              <SelectionBar inbox={inbox} />
            </Suspense>
          </div>
        )}
      </div>
      {(bulk.chosen !== null || bulk.progress !== null) && (
        <Box style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}>
          <Suspense>
            <BulkBar inbox={inbox} />
          </Suspense>
        </Box>
      )}
      {inbox.large.question !== null && (
        <Suspense>
          <LargeChangeDialog question={inbox.large.question} close={inbox.large.close} />
        </Suspense>
      )}
      {inbox.isMerging && (
        <Suspense>
          <MergeDialog threads={selected} close={inbox.stopMerging} merge={inbox.merge} />
        </Suspense>
      )}
      {list.error !== undefined && (
        <Box p="xs">
          <ErrorNote error={list.error} retry={list.reload} />
        </Box>
      )}
      {view.search !== '' && !isEmpty && list.error === undefined && (
        <Suspense>
          <ResultCount wanted={readWantedThreads(view, isInTeam)} />
        </Suspense>
      )}
      {isEmpty ? (
        <Box p="xs" style={{ overflowY: 'auto' }}>
          <Suspense>
            <InboxEmpty
              view={view}
              frame={frame}
              clear={clear}
              insert={(text) => inserter.current?.(text)}
              searchFor={(search) => go({ search })}
            />
          </Suspense>
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
