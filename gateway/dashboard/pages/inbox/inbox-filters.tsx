import { Group, SegmentedControl } from '@mantine/core';
import { ConditionFilters } from './condition-filters.tsx';
import type { InboxFrame } from './inbox-documents.ts';
import type { InboxFolder, InboxView } from './inbox-view.ts';

const FOLDERS = [
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
    <Group gap="xs" grow preventGrowOverflow={false} wrap="wrap">
      <SegmentedControl
        size="xs"
        aria-label="Folder"
        data={FOLDERS}
        value={view.folder}
        onChange={(folder) => go({ folder: folder as InboxFolder })}
        miw={300}
      />
      <ConditionFilters view={view} frame={frame} go={go} />
    </Group>
  );
}
