import { NativeSelect } from '@mantine/core';
import { IconAt, IconTag } from '../../parts/icons.ts';
import type { InboxFrame } from './inbox-documents.ts';
import type { InboxView } from './inbox-view.ts';

/** Filters of the list by label and address, where there is a choice. */
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
  return (
    <>
      {(labels.length > 0 || view.label !== null) && (
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
      {(addresses.length > 1 || view.address !== null) && (
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
    </>
  );
}

/** Returns the choices after the one for any, including the selected one even if it no longer exists. */
function withOwn(any: string, choices: { value: string; label: string }[], own: string | null) {
  const all = [{ value: '', label: any }, ...choices];
  return own === null || choices.some(({ value }) => value === own) ? all : [...all, { value: own, label: own }];
}
