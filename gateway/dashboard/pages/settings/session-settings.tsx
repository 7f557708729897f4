import { Badge, Group } from '@mantine/core';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { BusyButton, ConfirmButton } from '../../parts/buttons.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { LoadedSection, PlainList, Section } from '../../parts/section.tsx';
import { Small } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { signOutEverywhere } from '../../shell/session-news.ts';
import { levelWords } from '../connect/level-words.ts';
import { type AuthSession, auth } from '../sign-in/auth-calls.ts';
import { change, deviceWords, isHandheld, SettingRow, useAsked, WhenRead } from './setting-parts.tsx';

/** Active sessions of the account. */
export function SessionsSection() {
  const asked = useAsked(readSessions);
  const { result, askAgain } = asked;
  return (
    <Section
      title="Sessions"
      about="Browsers where you are signed in. A session ends after 12 hours of inactivity, and after 30 days at the latest."
      actions={
        <Group gap="xs">
          {result !== undefined && result.sessions.length > 1 && (
            <BusyButton
              label="Sign out all other sessions"
              act={() => change(auth.endOtherSessions(), 'All other browsers were signed out.', askAgain)}
            />
          )}
          <ConfirmButton
            label="Sign out everywhere"
            size="sm"
            question="Sign out everywhere?"
            about="All browsers are signed out, including this one. API keys keep working."
            act={signOutEverywhere}
          />
        </Group>
      }
    >
      <WhenRead asked={asked} height={90}>
        {({ sessions, currentId }) => (
          <PlainList label="Sessions" gap="md">
            {sessions.map((session) => (
              <SessionRow key={session.id} session={session} isCurrent={session.id === currentId} ended={askAgain} />
            ))}
          </PlainList>
        )}
      </WhenRead>
    </Section>
  );
}

/** This browser's session first, then the most recently used one. */
async function readSessions() {
  const [all, current] = await Promise.all([auth.sessions(), auth.session()]);
  if (all.problem !== null) return all;
  const currentId = current.result?.session.id ?? null;
  const rank = ({ id, updatedAt }: AuthSession) => (id === currentId ? Infinity : Date.parse(updatedAt));
  const sessions = all.result.toSorted((one, other) => (rank(other) > rank(one) ? 1 : -1));
  return { result: { sessions, currentId }, problem: null };
}

type SessionRowProps = { session: AuthSession; isCurrent: boolean; ended: () => Promise<void> };

function SessionRow({ session, isCurrent, ended }: SessionRowProps) {
  const { id, userAgent, ipAddress, createdAt, updatedAt } = session;
  const device = deviceWords(userAgent);
  return (
    <SettingRow
      icon={isHandheld(userAgent) ? 'device-mobile' : 'device-desktop'}
      name={device}
      marks={
        isCurrent && (
          <Badge variant="outline" color="gray">
            this browser
          </Badge>
        )
      }
      about={
        <>
          {ipAddress != null && ipAddress !== '' && `${ipAddress} · `}
          <RelativeTime at={createdAt} prefix="Signed in " />
          <RelativeTime at={updatedAt} prefix=" · Last used " />
        </>
      }
    >
      {!isCurrent && (
        <BusyButton
          label="Sign out"
          aria-label={`Sign out ${device}`}
          size="xs"
          act={() => change(auth.endSession(id), `${device} was signed out.`, ended)}
        />
      )}
    </SettingRow>
  );
}

const PROGRAMS = graphql(`
  query DashboardPrograms {
    oauthGrants {
      id clientId
      client { name host }
      level domains addresses person isYours createdAt lastUsedAt lastUsedFrom
    }
  }
`);
type Program = ResultOf<typeof PROGRAMS>['oauthGrants'][number];

const END_ACCESS = mutation('revokeOauthGrant', 'grant { id }');

/** Programs that got access to the workspace by OAuth. */
export function ProgramsSection() {
  const query = useLiveQuery({ query: PROGRAMS, types: ['OauthGrant'] });
  return (
    <LoadedSection
      title="Programs with access"
      about="Agents and command lines that you connected by signing in. They do not see your password."
      query={query}
      height={60}
    >
      {({ oauthGrants }) => (
        <PlainList
          label="Programs with access"
          gap="md"
          empty="No programs yet. Give an agent the URL of the MCP server, or run “npx postroom login”."
        >
          {oauthGrants.map((program) => (
            <ProgramRow key={program.id} program={program} ended={query.refresh} />
          ))}
        </PlainList>
      )}
    </LoadedSection>
  );
}

function ProgramRow({ program, ended }: { program: Program; ended: () => void }) {
  const { id, client, level, domains, addresses, person, isYours, createdAt, lastUsedAt, lastUsedFrom } = program;
  const { act } = useAct(END_ACCESS, { done: 'The access was ended.' });
  const words = levelWords.find(({ value }) => value === level.toLowerCase());
  const reach = domains === null && addresses === null ? null : [...(domains ?? []), ...(addresses ?? [])].join(', ');
  return (
    <SettingRow
      name={client.name}
      about={
        <>
          <Small c="var(--mantine-color-text)" className="postroom-wrap">
            {words?.label ?? level}
            {reach !== null && ` · only ${reach}`}
          </Small>
          {client.host}
          {!isYours && person !== null && ` · allowed by ${person}`}
          <RelativeTime at={createdAt} prefix=" · connected " />
          {lastUsedAt === null ? ' · not used yet' : <RelativeTime at={lastUsedAt} prefix=" · last used " />}
          {lastUsedFrom !== null && ` from ${lastUsedFrom}`}
        </>
      }
    >
      <ConfirmButton
        label="End access"
        aria-label={`End access of ${client.name}`}
        question={`End the access of ${client.name}?`}
        about="It stops working at once. What it set up, such as endpoints and scheduled mail, stops, too."
        act={() => act({ id }).then(ended)}
      />
    </SettingRow>
  );
}
