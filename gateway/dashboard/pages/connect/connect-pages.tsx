import { Anchor, Button, Center, Group, Loader, MultiSelect, Radio, Select, Stack } from '@mantine/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { Redirect } from 'wouter';
import { graphql } from '../../graphql.ts';
import { QuietButton } from '../../parts/controls.tsx';
import { useRecordForm } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.ts';
import { Fine, Small, WarningAlert } from '../../parts/text.tsx';
import { activateWorkspace } from '../../shell/session-news.ts';
import {
  type AuthProblem,
  auth,
  type ConnectQuestion,
  type ConnectRequest,
  type GrantLevel,
  type OwnWorkspace,
} from '../sign-in/auth-calls.ts';
import { AuthProblemNote, EntryCard, EntryForm, EntryLink } from '../sign-in/entry-parts.tsx';
import { withNext } from '../sign-in/next-path.ts';
import { levelWords } from './level-words.ts';

/** Asks a person whether a program gets access, and sends the browser back to the program. */
export function ConsentPage() {
  const [asked] = useState<ConnectRequest>(() => ({
    parameters: Object.fromEntries(new URLSearchParams(window.location.search)),
  }));
  const { shown, readAgain } = useQuestion(asked);
  const location = shown.state === 'redirected' ? shown.location : null;
  useEffect(() => {
    if (location !== null) window.location.replace(location);
  }, [location]);
  switch (shown.state) {
    case 'signed-out':
      return <Redirect to={withNext('/sign-in', window.location.pathname + window.location.search)} replace />;
    case 'refused':
      return (
        <EntryCard title="This program cannot connect" below={<Home />}>
          <AuthProblemNote problem={shown.problem} />
        </EntryCard>
      );
    case 'asked':
      return (
        <EntryCard title={`Connect ${shown.question.client.name}?`} about={<About question={shown.question} />}>
          <DecisionForm
            key={shown.question.workspaceId}
            {...shown}
            asked={asked}
            onSwitched={() => void readAgain()}
            onDecided={(next) => window.location.assign(next ?? '/')}
          />
        </EntryCard>
      );
    case 'loading':
    case 'redirected':
      return (
        <EntryCard title="Connect a program">
          <Center py="md">
            <Loader aria-label="Loading" />
          </Center>
        </EntryCard>
      );
  }
}

/** Shows who asks, as far as it is known. */
function About({ question: { client, host } }: { question: ConnectQuestion }) {
  return (
    <Stack gap={4}>
      <Small inherit>This program asks for access to mail. Continue only if you started this yourself.</Small>
      <Small inherit>
        {client.verifiedHost === null
          ? 'It gave this name itself; the name is not verified.'
          : `It is a program of ${client.verifiedHost}.`}{' '}
        Your browser then goes to <b>{host}</b>.
      </Small>
    </Stack>
  );
}

function Home() {
  return <EntryLink href="/">Go to the overview</EntryLink>;
}

/** Takes the code that a terminal shows, and asks whether the command line gets access. */
export function DevicePage() {
  // A link can contain a code, but never enters it: the person compares it with the terminal first.
  const [asked, setAsked] = useState<{ userCode: string } | null>(null);
  const [decision, setDecision] = useState<'allowed' | 'denied' | null>(null);
  const { shown, isReading, readAgain } = useQuestion(asked as ConnectRequest | null);
  const form = useRecordForm({
    values: { code: new URLSearchParams(window.location.search).get('code') ?? '' },
    submit: async ({ code }) => {
      setAsked({ userCode: code.trim().toUpperCase() });
      return { problem: null };
    },
  });
  if (shown.state === 'signed-out')
    return <Redirect to={withNext('/sign-in', window.location.pathname + window.location.search)} replace />;
  if (decision !== null)
    return (
      <EntryCard
        title={decision === 'allowed' ? 'The terminal is connected' : 'Access was denied'}
        about="You can close this page and return to the terminal."
        below={<Home />}
      >
        {null}
      </EntryCard>
    );
  if (asked !== null && shown.state === 'asked')
    return (
      <EntryCard
        title="Connect the command line?"
        about={
          <>
            Code <b>{asked.userCode}</b>, entered at {shown.question.host}.
          </>
        }
      >
        <Stack>
          <WarningAlert icon={<Icon name="alert-triangle" />} py="sm">
            <Small>
              Continue only if you see this code in your own terminal. Anyone who sent it to you gets access.
            </Small>
          </WarningAlert>
          <DecisionForm
            key={shown.question.workspaceId}
            {...shown}
            asked={asked}
            onSwitched={() => void readAgain()}
            onDecided={(_, isAllowed) => setDecision(isAllowed ? 'allowed' : 'denied')}
          />
        </Stack>
      </EntryCard>
    );
  return (
    <EntryCard title="Connect the command line" about="Enter the code that your terminal shows." below={<Home />}>
      <EntryForm
        form={form}
        label="Code of the terminal"
        submit="Continue"
        isDisabled={form.values.code.trim() === ''}
        isBusy={asked !== null && isReading}
      >
        <AuthProblemNote problem={shown.state === 'refused' && !isReading ? shown.problem : null} />
        <form.Text name="code" label="Code" placeholder="BCDF-GHJK" data-autofocus />
      </EntryForm>
    </EntryCard>
  );
}

const ADDRESSES = graphql(`query ConnectAddresses { emailAddresses(first: 100) { edges { node { id address } } } }`);

interface DecisionFormProps {
  asked: ConnectRequest;
  question: ConnectQuestion;
  /** who is signed in */
  email: string;
  workspaces: readonly OwnWorkspace[];
  /** `location`: where the browser goes next; null: the decision is for a terminal */
  onDecided: (location: string | null, isAllowed: boolean) => void;
  /** called when another workspace became the active one */
  onSwitched: () => void;
}

/** Asks a person which mail a program gets, and what it may do with it. */
function DecisionForm({ asked, question, email, workspaces, onDecided, onSwitched }: DecisionFormProps) {
  const [level, setLevel] = useState<GrantLevel>(question.requested);
  const [addresses, setAddresses] = useState<string[] | null>(null);
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const [busyWith, setBusyWith] = useState<'allow' | 'deny' | null>(null);
  const [{ data }] = useQuery({ query: ADDRESSES });
  const known = data?.emailAddresses.edges.map(({ node }) => node.address) ?? [];
  const isLimited = level !== 'everything' && addresses !== null;
  const decide = async (isAllowed: boolean) => {
    setBusyWith(isAllowed ? 'allow' : 'deny');
    const { result, problem: why } = await auth.decideConnection({
      asked,
      workspaceId: question.workspaceId,
      level: isAllowed ? level : null,
      addresses: isAllowed && isLimited ? addresses : null,
    });
    setProblem(why);
    setBusyWith(null);
    if (result !== null) onDecided(result.location, isAllowed);
  };
  const switchTo = async (id: string | null) => {
    if (id === null || id === question.workspaceId) return;
    const why = await activateWorkspace(id);
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
          <QuietButton label="Deny" loading={busyWith === 'deny'} onClick={() => void decide(false)} />
          <Button type="submit" loading={busyWith === 'allow'} disabled={isLimited && addresses.length === 0}>
            Allow
          </Button>
        </Group>
        <Fine>You can end the access at any time in Settings, under Security.</Fine>
      </Stack>
    </form>
  );
}

/** What a page knows about a request of a program. */
type Shown =
  | { state: 'loading' | 'signed-out' }
  | { state: 'refused'; problem: AuthProblem }
  | { state: 'redirected'; location: string }
  | { state: 'asked'; question: ConnectQuestion; email: string; workspaces: readonly OwnWorkspace[] };

interface Question {
  /** of the last request that was read */
  shown: Shown;
  /** whether `asked` waits for its response */
  isReading: boolean;
  readAgain: () => Promise<void>;
}

/** Reads what a program asks for, in the active workspace. `asked` null: nothing is asked yet. It must be the same object each time. */
function useQuestion(asked: ConnectRequest | null): Question {
  const [response, setResponse] = useState<{ asked: ConnectRequest | null; shown: Shown } | null>(null);
  const reads = useRef(0);
  const readAgain = useCallback(async () => {
    reads.current += 1;
    const own = reads.current;
    const shown = asked === null ? await readSession() : await readQuestion(asked);
    // A late response to an earlier question would hide that to this one.
    if (own === reads.current) setResponse({ asked, shown });
  }, [asked]);
  useEffect(() => void readAgain(), [readAgain]);
  return { shown: response?.shown ?? { state: 'loading' }, isReading: response?.asked !== asked, readAgain };
}

async function readSession(): Promise<Shown> {
  const { result, problem } = await auth.session();
  if (problem !== null) return { state: 'refused', problem };
  return { state: result === null ? 'signed-out' : 'loading' };
}

async function readQuestion(asked: ConnectRequest): Promise<Shown> {
  const session = await auth.session();
  if (session.problem !== null) return { state: 'refused', problem: session.problem };
  if (session.result === null) return { state: 'signed-out' };
  const [request, workspaces] = await Promise.all([auth.connectRequest(asked), auth.workspaces()]);
  const problem = request.problem ?? workspaces.problem;
  if (problem !== null) return { state: 'refused', problem };
  if (request.result === null || workspaces.result === null) return { state: 'loading' };
  if ('location' in request.result) return { state: 'redirected', location: request.result.location };
  const { question } = request.result;
  return { state: 'asked', question, email: session.result.user.email, workspaces: workspaces.result.workspaces };
}
