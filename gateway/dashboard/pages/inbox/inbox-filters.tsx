import { Group } from '@mantine/core';
import { useEffect } from 'react';
import { readStored, SHOWN_BEFORE, writeStored } from '../../parts/browser-storage.ts';
import style from './inbox.module.css';
import type { InboxFrame } from './inbox-documents.ts';
import type { InboxFolder, InboxView } from './inbox-view.ts';
import { useTeam } from './use-team.ts';

const FOLDERS: { value: InboxFolder; label: string }[] = [
  { value: 'inbox', label: 'Inbox' },
  { value: 'unread', label: 'Unread' },
  { value: 'snoozed', label: 'Snoozed' },
  { value: 'sent', label: 'Sent' },
  { value: 'archived', label: 'Archived' },
  { value: 'trash', label: 'Trash' },
];

interface FilterProps {
  view: InboxView;
  frame: InboxFrame | undefined;
  go: (change: Partial<InboxView>) => void;
}

/** Filters of the list: folder, label, address. */
export function InboxFilters({ view, frame, go }: FilterProps) {
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

/** One condition; its choices have the selected one, even if it no longer exists. */
function Condition({
  name,
  any,
  choices,
  value,
  set,
}: {
  name: string;
  any: string;
  choices: readonly { value: string; label: string }[];
  value: string | null;
  set: (value: string | null) => void;
}) {
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
