import { type KeyboardEvent, type MouseEvent, memo } from 'react';
import { IconArchive, IconClock, IconPaperclip } from '../../parts/icons.ts';
import { useIsInTeam } from '../../shell/viewer.ts';
import type { Density } from './density.ts';
import { FoundWords } from './found-words.tsx';
import style from './inbox.module.css';
import type { ThreadRow as Thread } from './inbox-documents.ts';
import { isShownUnread } from './own-reads.ts';
import { initialsOf, nameAssignee, participantsText, sendersText } from './people.ts';
import { rowTime, timesInFull } from './row-time.ts';

/** Maximum number of labels shown in a row. */
const SHOWN_LABELS = 2;

/** Why a thread came back to the inbox. */
const RETURNED = { SNOOZE: 'Snooze over', REPLY: 'Reply', REMINDER: 'No reply' } as const;

/** Mouse actions of a row. */
export interface RowActions {
  open: (id: string) => void;
  /** the pointer rests on the row, or is down: it is probably opened next */
  press: (id: string) => void;
  focus: (id: string) => void;
  /** `isSpan`: with all rows since the last selected one */
  select: (id: string, isSpan: boolean) => void;
}

export interface ThreadRowProps {
  thread: Thread;
  /** index, starting at 0 */
  index: number;
  /** pixels from the top of the list */
  top: number;
  href: string;
  ownDomains: ReadonlySet<string>;
  isSelected: boolean;
  isOpen: boolean;
  isTabStop: boolean;
  /** names recipients instead of senders */
  isSentView: boolean;
  density: Density;
  /** words to mark; null: none */
  found: RegExp | null;
  /** milliseconds, so that all rows show the same time */
  now: number;
  actions: RowActions;
}

/** A thread in the list: senders, subject, preview of the latest message, and status. */
export const ThreadRow = memo(function ThreadRow(props: ThreadRowProps) {
  const {
    thread,
    index,
    top,
    href,
    ownDomains,
    isSelected,
    isOpen,
    isTabStop,
    isSentView,
    density,
    found,
    now,
    actions,
  } = props;
  const {
    id,
    latestMessage,
    lastMessageAt,
    listedAt,
    snoozedUntil,
    returnedBy,
    unreadCount,
    messageCount,
    labels,
    isArchived,
    assignee,
  } = thread;
  const people = isSentView
    ? `To: ${participantsText(thread.participants, ownDomains)}`
    : sendersText(thread.senders, ownDomains);
  const subject = thread.subject || 'No subject';
  const times = latestMessage ?? { date: null, createdAt: lastMessageAt };
  // The time that the list is in the order of: the sender's clock may be wrong.
  const at = listedAt;
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
          <IconClock size={14} aria-hidden />
          {mark}
        </span>
      )}
      {thread.latestMessage?.hasFiles === true && (
        <>
          <IconPaperclip size={15} aria-hidden className={style['dim']} />
          <span className={style['words']}>has attachments</span>
        </>
      )}
      {isArchived && (
        <>
          <IconArchive size={15} aria-hidden className={style['dim']} />
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
            {initialsOf({ name: assignee.name, address: assignee.email })}
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
            <span className={`${style['grow']} ${isUnread ? style['unread'] : ''}`}>
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
            <span className={style['grow']}>
              <span className={isUnread ? style['unread'] : undefined}>
                <FoundWords text={subject} pattern={found} />
              </span>
              {density === 'compact' && <span className={style['dim']}>{` · ${preview}`}</span>}
            </span>
            {density === 'comfortable' && texts}
          </span>
          {density === 'comfortable' && (
            <span className={style['line']}>
              <span className={`${style['grow']} ${style['dim']}`}>
                <FoundWords text={preview} pattern={found} />
              </span>
            </span>
          )}
        </a>
      </div>
    </div>
  );
});
