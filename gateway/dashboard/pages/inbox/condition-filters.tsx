import { NativeSelect } from '@mantine/core';
import { useEffect } from 'react';
import { readStored, writeStored } from '../../parts/browser-storage.ts';
import { IconAt, IconTag, IconUser } from '../../parts/icons.ts';
import type { InboxFrame } from './inbox-documents.ts';
import type { InboxView } from './inbox-view.ts';
import { useTeam } from './use-team.ts';

/** Which filters this browser showed last: those of a page that loads have their place, so that the list below does not move. */
const SHOWN = 'postroom-inbox-filters';

/** Filters of the list by label, address and assignee, where there is a choice. */
export function ConditionFilters({
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
  useEffect(() => {
    if (now !== undefined) writeStored(SHOWN, now);
  }, [now]);
  const shown = now ?? readStored(SHOWN) ?? '';
  return (
    <>
      {(shown.includes('label') || view.label !== null) && (
        <NativeSelect
          size="xs"
          aria-label="Label"
          data={withOwn('Any label', labels, view.label)}
          value={view.label ?? ''}
          onChange={(event) => go({ label: event.currentTarget.value || null })}
          leftSection={<IconTag size={14} aria-hidden />}
          miw={120}
        />
      )}
      {(shown.includes('address') || view.address !== null) && (
        <NativeSelect
          size="xs"
          aria-label="Address"
          data={withOwn('Any address', addresses, view.address)}
          value={view.address ?? ''}
          onChange={(event) => go({ address: event.currentTarget.value || null })}
          leftSection={<IconAt size={14} aria-hidden />}
          miw={140}
        />
      )}
      {(isTeam || view.assigned !== null) && (
        <NativeSelect
          size="xs"
          aria-label="Assigned to"
          data={withOwn('Assigned to anyone', assignees, view.assigned)}
          value={view.assigned ?? ''}
          onChange={(event) => go({ assigned: event.currentTarget.value || null })}
          leftSection={<IconUser size={14} aria-hidden />}
          miw={150}
        />
      )}
    </>
  );
}

/** Returns the choices after the one for any, including the selected one even if it no longer exists. */
function withOwn(any: string, choices: { value: string; label: string }[], own: string | null) {
  const all = [{ value: '', label: any }, ...choices];
  return own === null || choices.some(({ value }) => value === own) ? all : [...all, { value: own, label: own }];
}
