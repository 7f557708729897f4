import { Anchor, Button, Group, MultiSelect, Radio, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { graphql } from '../../graphql.ts';
import {
  type AuthProblem,
  auth,
  type ConnectQuestion,
  type ConnectRequest,
  type GrantLevel,
  type OwnWorkspace,
} from '../sign-in/auth-calls.ts';
import { AuthProblemNote } from '../sign-in/auth-problem-note.tsx';
import { withNext } from '../sign-in/next-path.ts';
import { levelWords } from './level-words.ts';

const ADDRESSES = graphql(`query ConnectAddresses { emailAddresses(first: 100) { edges { node { id address } } } }`);

/** Asks a person which mail a program gets, and what it may do with it. */
export function DecisionForm({
  asked,
  question,
  email,
  workspaces,
  onDecided,
  onSwitched,
}: {
  asked: ConnectRequest;
  question: ConnectQuestion;
  /** who is signed in */
  email: string;
  workspaces: readonly OwnWorkspace[];
  /** `location`: where the browser goes next; null: the decision is for a terminal */
  onDecided: (location: string | null, isAllowed: boolean) => void;
  /** called when another workspace became the active one */
  onSwitched: () => void;
}) {
  const [level, setLevel] = useState<GrantLevel>(question.requested);
  const [addresses, setAddresses] = useState<string[] | null>(null);
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const [busyWith, setBusyWith] = useState<'allow' | 'deny' | null>(null);
  const [{ data }] = useQuery({ query: ADDRESSES });
  const known = data?.emailAddresses.edges.map(({ node }) => node.address) ?? [];
  const isLimited = level !== 'everything' && addresses !== null;
  const decide = async (isAllowed: boolean) => {
    setBusyWith(isAllowed ? 'allow' : 'deny');
    const { answer, problem: why } = await auth.decideConnection({
      asked,
      workspaceId: question.workspaceId,
      level: isAllowed ? level : null,
      addresses: isAllowed && isLimited ? addresses : null,
    });
    setProblem(why);
    setBusyWith(null);
    if (answer !== null) onDecided(answer.location, isAllowed);
  };
  const switchTo = async (id: string | null) => {
    if (id === null || id === question.workspaceId) return;
    const { problem: why } = await auth.switchWorkspace(id);
    setProblem(why);
    if (why === null) onSwitched();
  };
  return (
    <form
      aria-label="Access of the program"
      onSubmit={(event) => {
        event.preventDefault();
        void decide(true);
      }}
    >
      <Stack>
        <Select
          label="Workspace"
          description={`You are signed in as ${email}.`}
          data={workspaces.map(({ id, name, role }) => ({ value: id, label: `${name} · ${role}` }))}
          value={question.workspaceId}
          onChange={(id) => void switchTo(id)}
          allowDeselect={false}
          readOnly={workspaces.length < 2}
        />
        <Radio.Group label="What it may do" value={level} onChange={(next) => setLevel(next as GrantLevel)}>
          <Stack gap="sm" mt="xs">
            {levelWords.map(({ value, label, about }) => (
              <Radio
                key={value}
                value={value}
                label={label}
                description={
                  question.levels.includes(value) ? about : 'Your role in this workspace does not allow this.'
                }
                disabled={!question.levels.includes(value)}
              />
            ))}
          </Stack>
        </Radio.Group>
        {level !== 'everything' && (
          <Radio.Group
            label="Whose mail"
            value={addresses === null ? 'all' : 'some'}
            onChange={(next) => setAddresses(next === 'all' ? null : [])}
          >
            <Stack gap="sm" mt="xs">
              <Radio value="all" label="All addresses that you see" />
              <Radio value="some" label="Only some addresses" disabled={known.length === 0} />
            </Stack>
          </Radio.Group>
        )}
        {isLimited && (
          <MultiSelect
            label="Addresses"
            placeholder="Choose addresses"
            data={known}
            value={addresses}
            onChange={setAddresses}
            searchable
          />
        )}
        <AuthProblemNote problem={problem} />
        {problem?.code === 'SIGN_IN_AGAIN' && (
          <Anchor href={withNext('/sign-in', window.location.pathname + window.location.search)} underline="always">
            Sign in again
          </Anchor>
        )}
        <Group grow>
          <Button variant="default" loading={busyWith === 'deny'} onClick={() => void decide(false)}>
            Deny
          </Button>
          <Button type="submit" loading={busyWith === 'allow'} disabled={isLimited && addresses.length === 0}>
            Allow
          </Button>
        </Group>
        <Text size="xs" c="dimmed">
          You can end the access at any time in Settings, under Security.
        </Text>
      </Stack>
    </form>
  );
}
