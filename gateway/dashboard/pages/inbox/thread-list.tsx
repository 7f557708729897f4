import { Skeleton } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
  Fragment,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type PointerEvent,
  type Ref,
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
} from 'react';
import { Icon } from '../../parts/icons.ts';
import { useIsInTeam } from '../../shell/viewer.ts';
import style from './inbox.module.css';
import type { ThreadRow as Thread } from './inbox-documents.ts';
import { isShownUnread } from './own-reads.ts';
import { makeInitials, nameAssignee, participantsText, sendersText } from './people.ts';
import { rowTime, timesInFull, useNow } from './row-time.ts';
import { indexOfThread, rowAt, type ThreadPages } from './thread-pages.ts';
import type { ThreadList as List } from './use-thread-list.ts';

/** Number of rows rendered above and below the visible ones. */
const OVERSCAN_ROWS = 8;
/** Distance in rows between remembered rows, by which the list keeps its scroll position. */
const ANCHORS = 12;
/** A pointer that moved further between down and up drags. CSS pixels. */
const CLICK_PX = 5;
/** A pointer that rests on a row for this long is probably about to press it. Milliseconds. */
const REST_MS = 80;
/** Number of rows that Page Up and Page Down move. */
const PAGE_STEP = 8;

/** Control of the list for keys pressed outside it. */
export interface ThreadListHandle {
  /** Scrolls to the row and focuses it. */
  focus: (index: number) => void;
}

interface ThreadListProps {
  list: List;
  label: string;
  openId: string | null;
  activeId: string | null;
  selected: ReadonlySet<string>;
  ownDomains: ReadonlySet<string>;
  /** names recipients instead of senders */
  isSentView: boolean;
  density: Density;
  /** words to mark; null: none */
  found: RegExp | null;
  hrefOf: (id: string) => string;
  actions: RowActions;
  ref?: Ref<ThreadListHandle>;
}

type Anchor = { id: string; at: string; offset: number };

/** A grid of any number of threads that renders only visible rows. Arrow keys move through it. */
export function ThreadList(props: ThreadListProps) {
  const { list, label, openId, activeId, selected, ownDomains, isSentView, density, found, hrefOf, actions, ref } =
    props;
  const { pages, see } = list;
  const scroll = useRef<HTMLDivElement>(null);
  const anchors = useRef<Anchor[]>([]);
  const now = useNow(pages);
  const rowPx = useMemo(
    () => ROW_REM[density] * Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
    [density],
  );
  const activeIndex = activeId === null ? -1 : indexOfThread(pages, activeId);
  // oxlint-disable-next-line react/incompatible-library -- nothing here is passed to memoized components
  const virtual = useVirtualizer({
    count: pages.size + (pages.hasMore ? 1 : 0),
    getScrollElement: () => scroll.current,
    estimateSize: () => rowPx,
    overscan: OVERSCAN_ROWS,
    // Until it is measured, so that the first frame has rows.
    initialRect: { width: 0, height: window.innerHeight },
    // Keeps the focused row rendered, so that the keyboard does not lose the list.
    rangeExtractor: (range) => {
      const indexes = defaultRangeExtractor(range);
      return activeIndex === -1 || indexes.includes(activeIndex)
        ? indexes
        : [...indexes, activeIndex].sort((a, b) => a - b);
    },
  });
  useLayoutEffect(() => virtual.measure(), [virtual, rowPx]);
  const items = virtual.getVirtualItems();
  const from = virtual.range?.startIndex ?? 0;
  const to = virtual.range?.endIndex ?? 0;
  const tellSeen = useEffectEvent(() => see(from, to));
  useEffect(() => tellSeen(), [from, to]);

  const focus = (index: number) => {
    const row = rowAt(pages, index);
    if (row === null) return;
    virtual.scrollToIndex(index, { align: 'auto' });
    actions.focus(row.node.id);
    // It may not be rendered yet.
    requestAnimationFrame(() => {
      // A field that the user went to in the meantime keeps the focus.
      if (document.activeElement?.matches('input:not([type=checkbox]), textarea, [contenteditable=true]') === true)
        return;
      rowElement(scroll.current, row.node.id)?.focus({ preventScroll: true });
    });
  };
  useImperativeHandle(ref, () => ({ focus }));

  const remember = () => {
    anchors.current = anchorsAt(pages, scroll.current?.scrollTop ?? 0, rowPx);
  };
  // New rows above must not move what the user is reading.
  useLayoutEffect(() => {
    const element = scroll.current;
    if (element !== null && element.scrollTop > rowPx / 2)
      for (const { id, at, offset } of anchors.current) {
        const index = indexOfThread(pages, id);
        if (index === -1 || rowAt(pages, index)?.node.listedAt !== at) continue;
        const top = index * rowPx - offset;
        if (Math.abs(top - element.scrollTop) > 1) element.scrollTop = top;
        break;
      }
    anchors.current = anchorsAt(pages, element?.scrollTop ?? 0, rowPx);
  }, [pages, rowPx]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps: Record<string, number> = {
      ArrowDown: activeIndex + 1,
      ArrowUp: activeIndex - 1,
      PageDown: activeIndex + PAGE_STEP,
      PageUp: activeIndex - PAGE_STEP,
      Home: 0,
      End: pages.size - 1,
    };
    const next = steps[event.key];
    if (next !== undefined) {
      event.preventDefault();
      const index = Math.min(pages.size - 1, Math.max(0, next));
      focus(index);
      const row = rowAt(pages, index);
      if (event.shiftKey && row !== null) actions.select(row.node.id, true);
    } else if (event.key === ' ' && activeId !== null) {
      event.preventDefault();
      actions.select(activeId, event.shiftKey);
    } else if (event.key === 'Enter' && activeId !== null) {
      event.preventDefault();
      actions.open(activeId);
    }
  };

  const rested = useRef<{ id: string | null; timer: number }>({ id: null, timer: 0 });
  const onPointerOver = ({ target, pointerType }: PointerEvent) => {
    const id = pointerType === 'mouse' && target instanceof Element ? rowIdAt(target) : null;
    if (id === rested.current.id) return;
    window.clearTimeout(rested.current.timer);
    const timer = id === null ? 0 : window.setTimeout(() => actions.rest(id), REST_MS);
    rested.current = { id, timer };
  };
  const onPointerLeave = () => {
    window.clearTimeout(rested.current.timer);
    rested.current = { id: null, timer: 0 };
  };
  const pressed = useRef<{ id: string; x: number; y: number } | null>(null);
  const onPointerDown = (event: PointerEvent) => {
    const { target, pointerType, clientX, clientY } = event;
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    const link = isPlain && target instanceof Element && target.closest('a');
    const id = link ? rowIdAt(link) : null;
    pressed.current = id === null ? null : { id, x: clientX, y: clientY };
    // A touch may begin to scroll.
    if (id !== null && pointerType === 'mouse') actions.press(id);
  };
  // A row that moved while it was pressed, as mail arrived above it, gets no click.
  const onPointerUp = ({ target, clientX, clientY }: PointerEvent) => {
    const press = pressed.current;
    pressed.current = null;
    if (press === null || Math.hypot(clientX - press.x, clientY - press.y) > CLICK_PX) return;
    if (!(target instanceof Element) || rowIdAt(target) !== press.id) actions.open(press.id);
  };

  return (
    <div
      ref={scroll}
      className={style['scroll']}
      role="grid"
      aria-label={label}
      aria-multiselectable
      aria-rowcount={pages.hasMore ? -1 : pages.size}
      aria-colcount={2}
      aria-busy={list.isLoading}
      onScroll={remember}
      onKeyDown={onKeyDown}
      onPointerOver={onPointerOver}
      onPointerLeave={onPointerLeave}
      onPointerDown={onPointerDown}
      onPointerUp={onPointerUp}
      tabIndex={-1}
    >
      <div className={style['rows']} role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rowAt(pages, index);
          if (row === null) return <WaitingRow key={`waiting-${index}`} top={start} index={index} density={density} />;
          const { id } = row.node;
          return (
            <ThreadRow
              key={id}
              thread={row.node}
              index={index}
              top={start}
              href={hrefOf(id)}
              ownDomains={ownDomains}
              isSelected={selected.has(id)}
              isOpen={id === openId}
              isTabStop={activeIndex === -1 ? index === from : index === activeIndex}
              isSentView={isSentView}
              density={density}
              found={found}
              now={now}
              actions={actions}
            />
          );
        })}
      </div>
    </div>
  );
}

function WaitingRow({ top, index, density }: { top: number; index: number; density: Density }) {
  return (
    <div
      role="row"
      aria-rowindex={index + 1}
      className={style['row']}
      data-density={density}
      style={{ transform: `translateY(${top}px)` }}
    >
      <div role="gridcell" aria-label="Loading" />
      <div role="gridcell" className={style['open']} aria-hidden>
        <Skeleton h={10} w="45%" />
        <Skeleton h={10} w="80%" />
        {density === 'comfortable' && <Skeleton h={10} w="65%" />}
      </div>
    </div>
  );
}

/** Returns the visible rows and the offset of each from the upper edge. */
function anchorsAt(pages: ThreadPages, top: number, rowPx: number): Anchor[] {
  const first = Math.floor(top / rowPx);
  return Array.from({ length: ANCHORS }, (_, n) => first + n).flatMap((index) => {
    const row = rowAt(pages, index);
    return row === null ? [] : [{ id: row.node.id, at: row.node.listedAt, offset: index * rowPx - top }];
  });
}

function rowIdAt(within: Element): string | null {
  return within.closest<HTMLElement>('[data-thread]')?.dataset['thread'] ?? null;
}

function rowElement(within: HTMLElement | null, id: string): HTMLElement | null {
  return within?.querySelector<HTMLElement>(`[data-thread="${CSS.escape(id)}"]`) ?? null;
}

/** Maximum number of labels shown in a row. */
const SHOWN_LABELS = 2;

/** Why a thread came back to the inbox. */
const RETURNED = { SNOOZE: 'Snooze over', REPLY: 'Reply', REMINDER: 'No reply' } as const;

/** Mouse actions of a row. */
export interface RowActions {
  open: (id: string) => void;
  /** the pointer rests on the row: it may be opened next */
  rest: (id: string) => void;
  /** the pointer is down on the row: it is probably opened next */
  press: (id: string) => void;
  focus: (id: string) => void;
  /** `isSpan`: with all rows since the last selected one */
  select: (id: string, isSpan: boolean) => void;
}

interface ThreadRowProps extends Pick<ThreadListProps, 'ownDomains' | 'isSentView' | 'density' | 'found' | 'actions'> {
  thread: Thread;
  /** index, starting at 0 */
  index: number;
  /** pixels from the top of the list */
  top: number;
  href: string;
  isSelected: boolean;
  isOpen: boolean;
  isTabStop: boolean;
  /** milliseconds, so that all rows show the same time */
  now: number;
}

/** A thread in the list: senders, subject, preview of the latest message, and status. */
const ThreadRow = memo(function ThreadRow(props: ThreadRowProps) {
  const { thread, index, top, href, ownDomains, isSelected, isOpen, isTabStop } = props;
  const { isSentView, density, found, now, actions } = props;
  // Its time is that by which the list is in order: the sender's clock may be wrong.
  const { id, latestMessage, lastMessageAt, listedAt: at, snoozedUntil, returnedBy } = thread;
  const { unreadCount, messageCount, labels, isArchived, assignee } = thread;
  const people = isSentView
    ? `To: ${participantsText(thread.participants, ownDomains)}`
    : sendersText(thread.senders, ownDomains);
  const subject = thread.subject || '(no subject)';
  const times = latestMessage ?? { date: null, createdAt: lastMessageAt };
  const mark = snoozedUntil !== null ? `Until ${rowTime(snoozedUntil, now)}` : returnedBy && RETURNED[returnedBy];
  const isInTeam = useIsInTeam();
  const isUnread = isShownUnread(thread, isInTeam);
  const click = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.button !== 0) return;
    event.preventDefault();
    if (event.shiftKey) actions.select(id, true);
    else actions.open(id);
  };
  const tick = (event: KeyboardEvent | MouseEvent) => actions.select(id, event.shiftKey);
  const texts = (
    <>
      {mark !== null && (
        <span className={style['mark']}>
          <Icon name="clock" size={14} />
          {mark}
        </span>
      )}
      {thread.latestMessage?.hasFiles === true && (
        <>
          <Icon name="paperclip" size={15} className={style['dim']} />
          <span className={style['words']}>has attachments</span>
        </>
      )}
      {isArchived && (
        <>
          <Icon name="archive" size={15} className={style['dim']} />
          <span className={style['words']}>archived</span>
        </>
      )}
      {labels.slice(0, SHOWN_LABELS).map((label) => (
        <span key={label} className={style['tag']}>
          {label}
        </span>
      ))}
      {assignee !== null && (
        <>
          <span className={style['face']} title={`Assigned to ${nameAssignee(assignee)}`} aria-hidden>
            {assignee.image === null ? (
              makeInitials({ name: assignee.name, address: assignee.email })
            ) : (
              <img src={assignee.image} alt="" width={16} height={16} />
            )}
          </span>
          <span className={style['words']}>{`assigned to ${nameAssignee(assignee)}`}</span>
        </>
      )}
      {labels.length > SHOWN_LABELS && <span className={style['count']}>+{labels.length - SHOWN_LABELS}</span>}
    </>
  );
  const preview = latestMessage?.preview || 'No text';
  return (
    <div
      role="row"
      aria-rowindex={index + 1}
      aria-selected={isSelected}
      tabIndex={isTabStop ? 0 : -1}
      className={style['row']}
      data-density={density}
      data-thread={id}
      data-open={isOpen || undefined}
      aria-current={isOpen ? 'true' : undefined}
      style={{ transform: `translateY(${top}px)` }}
      onFocus={() => actions.focus(id)}
    >
      <div role="gridcell" className={style['tick']}>
        {isUnread && <span className={style['dot']} aria-hidden />}
        {/* Not Mantine's, of which a list of fifty rows has fifty. */}
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isSelected}
          onClick={tick}
          onChange={() => undefined}
          aria-label={`Select ${subject}`}
        />
      </div>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the text of the link names it */}
      <div role="gridcell">
        <a className={style['open']} href={href} tabIndex={-1} onClick={click} draggable={false}>
          <span className={style['line']}>
            {isUnread && <span className={style['words']}>{isInTeam ? 'Unread. ' : `${unreadCount} unread. `}</span>}
            <span className={`${style['grow']} ${isUnread ? style['unread'] : ''}`} dir="auto">
              <FoundWords text={people} pattern={found} />
              {messageCount > 1 && (
                <span className={style['messages']}>
                  {messageCount}
                  <span className={style['words']}> messages</span>
                </span>
              )}
            </span>
            {density === 'compact' && texts}
            <time
              className={style['count']}
              dateTime={at}
              title={timesInFull(times, latestMessage?.type === 'RECEIVED')}
            >
              {rowTime(at, now)}
            </time>
          </span>
          <span className={style['line']}>
            <span className={style['grow']} dir="auto">
              <span className={isUnread ? style['unread'] : undefined}>
                <FoundWords text={subject} pattern={found} />
              </span>
              {density === 'compact' && <span className={style['dim']}>{` · ${preview}`}</span>}
            </span>
            {density === 'comfortable' && texts}
          </span>
          {density === 'comfortable' && (
            <span className={style['line']}>
              <span className={`${style['grow']} ${style['dim']}`} dir="auto">
                <FoundWords text={preview} pattern={found} />
              </span>
            </span>
          )}
        </a>
      </div>
    </div>
  );
});

/** A text in which the words that were searched for are marked. */
function FoundWords({ text, pattern }: { text: string; pattern: RegExp | null }) {
  if (pattern === null) return text;
  return text
    .split(pattern)
    .map((part, index) =>
      index % 2 === 0 ? <Fragment key={`${index}`}>{part}</Fragment> : <mark key={`${index}`}>{part}</mark>,
    );
}

/** Height of a row of the list. */
type Density = 'compact' | 'comfortable';

/** Heights of a row in rem, also used by inbox.module.css. */
const ROW_REM: Record<Density, number> = { compact: 3.25, comfortable: 5.25 };

/** Returns the density that the user chose in this browser, and a function that changes it. */
export function useDensity(): [Density, (density: Density) => void] {
  const [density, setDensity] = useLocalStorage<Density>({
    key: 'postroom-density',
    defaultValue: 'compact',
    getInitialValueInEffect: false,
  });
  return [density === 'comfortable' ? density : 'compact', setDensity];
}
