import { Code, Group, Stack, Text } from '@mantine/core';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { needs } from '../../parts/needs.ts';
import { StatusBadge, type Tone } from '../../parts/status-badge.tsx';
import { useAct } from '../../parts/use-act.ts';
import { ROTATE_KEY, type ShownDomain } from './domain-documents.ts';
import { recordStatus } from './domain-words.ts';
import { Section } from './section.tsx';

type KeyState = ShownDomain['dkimKeys'][number]['state'];

const STATES: Record<KeyState, { words: string; about: string; tone: Tone }> = {
  ACTIVE: { words: 'active', about: 'Signs outgoing mail. Keep its record.', tone: 'good' },
  WAITING: {
    words: 'waiting for its record',
    about:
      'Publish its record in addition to the other one. Postroom signs mail with this key once DNS has the record.',
    tone: 'waiting',
  },
  RETIRED: {
    words: 'replaced',
    about: 'Keep its record until it is no longer listed here. Mail in transit is still signed with this key.',
    tone: 'quiet',
  },
};

/** DKIM keys of the domain and their rotation. */
export function DomainKeys({ domain, refresh }: { domain: ShownDomain; refresh: () => void }) {
  const { act } = useAct(ROTATE_KEY, { done: 'A new key was created. Publish its record.' });
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
          {...needs('domains')}
          label="Rotate key"
          disabled={isWaiting}
          question="Rotate the DKIM key?"
          about="Postroom creates a new key and lists its record here. It signs mail with the old key until DNS has the new record. Keep the old record for 7 more days."
          confirm="Rotate key"
          act={async () => {
            await act({ input: { id: domain.id } });
            refresh();
          }}
        />
        {isWaiting && (
          <Text size="sm" c="dimmed">
            A new key is waiting for its record. Publish that record first.
          </Text>
        )}
      </Group>
    </Section>
  );
}
