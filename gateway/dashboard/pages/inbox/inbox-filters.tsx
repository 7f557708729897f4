import { Group, SegmentedControl, Select } from '@mantine/core';
import { IconAt, IconTag } from '@tabler/icons-react';
import type { InboxFrame } from './inbox-documents.ts';
import type { InboxFolder, InboxView } from './inbox-view.ts';

const FOLDERS = [
  { value: 'inbox', label: 'Inbox' },
  { value: 'unread', label: 'Unread' },
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
  const labels = (frame?.labels ?? []).map(({ name, threadCount }) => ({
    value: name,
    label: `${name} (${threadCount})`,
  }));
  const addresses = (frame?.emailAddresses.edges ?? []).map(({ node }) => node.address);
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
      {(labels.length > 0 || view.label !== null) && (
        <Select
          size="xs"
          aria-label="Label"
          placeholder="Any label"
          data={withOwn(labels, view.label)}
          value={view.label}
          onChange={(label) => go({ label })}
          leftSection={<IconTag size={14} aria-hidden />}
          clearable
          clearButtonProps={{ 'aria-label': 'Any label' }}
          searchable={labels.length > 10}
          miw={120}
        />
      )}
      {(addresses.length > 1 || view.address !== null) && (
        <Select
          size="xs"
          aria-label="Address"
          placeholder="Any address"
          data={withOwn(
            addresses.map((value) => ({ value, label: value })),
            view.address,
          )}
          value={view.address}
          onChange={(address) => go({ address })}
          leftSection={<IconAt size={14} aria-hidden />}
          clearable
          clearButtonProps={{ 'aria-label': 'Any address' }}
          searchable={addresses.length > 10}
          miw={140}
        />
      )}
    </Group>
  );
}

/** Returns the choices, including the selected one even if it no longer exists. */
function withOwn(choices: { value: string; label: string }[], own: string | null) {
  return own === null || choices.some(({ value }) => value === own)
    ? choices
    : [...choices, { value: own, label: own }];
}
