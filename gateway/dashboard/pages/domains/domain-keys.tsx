import { Code, Group, Table, Text } from '@mantine/core';
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
      <Table.ScrollContainer
        minWidth={420}
        scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': 'DKIM keys' } }}
      >
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Selector</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th>Record</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map(({ selector, state, record }) => (
              <Table.Tr key={selector}>
                <Table.Td>
                  <Code>{selector}</Code>
                </Table.Td>
                <Table.Td>
                  <StatusBadge status={STATES[state].words} tone={STATES[state].tone} />
                  <Text size="xs" c="dimmed">
                    {STATES[state].about}
                  </Text>
                </Table.Td>
                <Table.Td>
                  {record === null ? (
                    'not asked for'
                  ) : (
                    <StatusBadge status={recordStatus(record).words} tone={recordStatus(record).tone} />
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
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
