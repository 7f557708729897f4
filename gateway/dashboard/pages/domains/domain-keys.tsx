import { Code, Group, Stack, Text } from '@mantine/core';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { StatusBadge, type Tone } from '../../parts/status-badge.tsx';
import { useAct } from '../../parts/use-act.ts';
import { ROTATE_KEY, type ShownDomain } from './domain-documents.ts';
import { recordStatus } from './domain-words.ts';
import { Section } from './section.tsx';

type KeyState = ShownDomain['dkimKeys'][number]['state'];

const STATES: Record<KeyState, { words: string; about: string; tone: Tone }> = {
  ACTIVE: { words: 'signs mail', about: 'Keep its record.', tone: 'good' },
  WAITING: {
    words: 'waits for its record',
    about: 'Publish its record beside the other one. Mail is signed with it as soon as the record is seen.',
    tone: 'waiting',
  },
  RETIRED: {
    words: 'replaced',
    about: 'Keep its record until it is no longer listed: mail on its way still bears its signature.',
    tone: 'quiet',
  },
};

/** The keys that sign mail of the domain, and how to get another. */
export function DomainKeys({ domain, refresh }: { domain: ShownDomain; refresh: () => void }) {
  const { act } = useAct(ROTATE_KEY, { done: 'A new key was made. Publish its record.' });
  const { dkimKeys: keys, parent } = domain;
  if (parent !== null)
    return (
      <Section title="DKIM keys">
        <Text size="sm">Mail of this domain is signed with the key of {parent.name}.</Text>
      </Section>
    );
  const isWaiting = keys.some(({ state }) => state === 'WAITING');
  return (
    <Section title="DKIM keys">
      <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Keys">
        {keys.map(({ selector, state, record }) => (
          <li key={selector}>
            <Group gap="xs">
              <Code className="postroom-wrap">{selector}</Code>
              <StatusBadge status={STATES[state].words} tone={STATES[state].tone} />
              {record !== null && (
                <StatusBadge status={`record ${recordStatus(record).words}`} tone={recordStatus(record).tone} />
              )}
            </Group>
            <Text size="sm" c="dimmed">
              {STATES[state].about}
            </Text>
          </li>
        ))}
      </Stack>
      <Group>
        <ConfirmButton
          label="Make a new key"
          disabled={isWaiting}
          question="Make a new DKIM key?"
          about="Its record is listed beside the old one. Mail is signed with the old key until the new record is seen, so nothing breaks meanwhile. Keep the old record 7 days longer."
          confirm="Make the key"
          act={async () => {
            await act({ input: { id: domain.id } });
            refresh();
          }}
        />
        {isWaiting && (
          <Text size="sm" c="dimmed">
            A new key is waiting for its record. Publish that first.
          </Text>
        )}
      </Group>
    </Section>
  );
}
