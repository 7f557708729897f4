import { Skeleton } from '@mantine/core';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type PointerEvent,
  type Ref,
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
} from 'react';
import { type Density, ROW_REM } from './density.ts';
import style from './inbox.module.css';
import { indexOfThread, rowAt, type ThreadPages } from './thread-pages.ts';
import { type RowActions, ThreadRow } from './thread-row.tsx';
import { useNow } from './use-now.ts';
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

export interface ThreadListProps {
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

interface Anchor {
  id: string;
  at: string;
  offset: number;
}

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
    const timer = id === null ? 0 : window.setTimeout(() => actions.press(id), REST_MS);
    rested.current = { id, timer };
  };
  const onPointerLeave = () => {
    window.clearTimeout(rested.current.timer);
    rested.current = { id: null, timer: 0 };
  };
  const pressed = useRef<{ id: string; x: number; y: number } | null>(null);
  const onPointerDown = ({
    target,
    button,
    pointerType,
    clientX,
    clientY,
    ctrlKey,
    metaKey,
    shiftKey,
  }: PointerEvent) => {
    const link = button === 0 && !ctrlKey && !metaKey && !shiftKey && target instanceof Element && target.closest('a');
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
