import { Group, Skeleton, Stack, Text } from '@mantine/core';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { useAct } from '../../parts/use-act.ts';
import { levelWords } from '../connect/level-words.ts';
import { Section } from './section.tsx';

const PROGRAMS = graphql(`
  query DashboardPrograms {
    oauthGrants { id clientId client { name host } level domains addresses person isYours createdAt lastUsedAt lastUsedFrom }
  }
`);
type Program = ResultOf<typeof PROGRAMS>['oauthGrants'][number];

const END_ACCESS = graphql(`
  mutation EndProgramAccess($input: RevokeOauthGrantInput!) {
    revokeOauthGrant(input: $input) {
      __typename
      ... on RevokeOauthGrantPayload { grant { id } }
      ... on Error { message code }
    }
  }
`);

/** Programs that got access to the workspace by OAuth. */
export function ProgramsSection() {
  const { data, error, refresh } = useLiveQuery({ query: PROGRAMS, variables: {}, kinds: [], types: ['OauthGrant'] });
  const { act } = useAct(END_ACCESS, { done: 'The access was ended.' });
  const programs = data?.oauthGrants;
  const end = async (id: string) => {
    await act({ input: { id } });
    refresh();
  };
  return (
    <Section
      title="Programs with access"
      about="Agents and command lines that you connected by signing in. They do not see your password."
    >
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {programs === undefined && error === undefined && <Skeleton h={60} />}
      {programs?.length === 0 && (
        <Text size="sm">No programs yet. Give an agent the URL of the MCP server, or run “npx postroom login”.</Text>
      )}
      {programs !== undefined && programs.length > 0 && (
        <Stack component="ul" gap="md" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Programs with access">
          {programs.map((program) => (
            <ProgramRow key={program.id} program={program} end={() => end(program.id)} />
          ))}
        </Stack>
      )}
    </Section>
  );
}

function ProgramRow({ program, end }: { program: Program; end: () => Promise<void> }) {
  const { client, level, domains, addresses, person, isYours, createdAt, lastUsedAt, lastUsedFrom } = program;
  const words = levelWords.find(({ value }) => value === level.toLowerCase());
  const reach = domains === null && addresses === null ? null : [...(domains ?? []), ...(addresses ?? [])].join(', ');
  return (
    <Group component="li" justify="space-between" align="flex-start" gap="sm" wrap="nowrap">
      <Stack gap={0} miw={0} flex={1}>
        <Text fw={600} className="postroom-wrap">
          {client.name}
        </Text>
        <Text size="sm" className="postroom-wrap">
          {words?.label ?? level}
          {reach !== null && ` · only ${reach}`}
        </Text>
        <Text size="xs" c="dimmed" className="postroom-wrap">
          {client.host}
          {!isYours && person !== null && ` · allowed by ${person}`}
          <RelativeTime at={createdAt} prefix=" · connected " />
          {lastUsedAt === null ? ' · not used yet' : <RelativeTime at={lastUsedAt} prefix=" · last used " />}
          {lastUsedFrom !== null && ` from ${lastUsedFrom}`}
        </Text>
      </Stack>
      <ConfirmButton
        label="End access"
        aria-label={`End access of ${client.name}`}
        question={`End the access of ${client.name}?`}
        about="It stops working at once. What it set up, such as endpoints and scheduled mail, stops, too."
        confirm="End access"
        act={end}
      />
    </Group>
  );
}
