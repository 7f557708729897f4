import { Group } from '@mantine/core';
import { ConditionFilters } from './condition-filters.tsx';
import style from './inbox.module.css';
import type { InboxFrame } from './inbox-documents.ts';
import type { InboxFolder, InboxView } from './inbox-view.ts';

const FOLDERS: { value: InboxFolder; label: string }[] = [
  { value: 'inbox', label: 'Inbox' },
  { value: 'unread', label: 'Unread' },
  { value: 'snoozed', label: 'Snoozed' },
  { value: 'sent', label: 'Sent' },
  { value: 'archived', label: 'Archived' },
  { value: 'trash', label: 'Trash' },
];

/** Filters of the list: folder, label, address. */
export function InboxFilters({
  view,
  frame,
  go,
}: {
  view: InboxView;
  frame: InboxFrame | undefined;
  go: (change: Partial<InboxView>) => void;
}) {
  return (
    <Group gap="0.3rem 0.1rem">
      <div className={style['folders']} role="radiogroup" aria-label="Folder">
        {FOLDERS.map(({ value, label }) => (
          <label key={value}>
            <input
              type="radio"
              name="folder"
              value={value}
              checked={view.folder === value}
              onChange={() => go({ folder: value })}
            />
            {label}
          </label>
        ))}
      </div>
      <ConditionFilters view={view} frame={frame} go={go} />
    </Group>
  );
}
