import { Alert, Button, Code, CopyButton, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { useAct } from '../../parts/use-act.ts';
import { Section } from './section.tsx';

const CONNECTION = graphql(`
  query DashboardScim {
    scimDirectory { url users groups waiting token { id name hint createdAt createdBy lastUsedAt } }
  }
`);

const CREATE = graphql(`
  mutation CreateScimToken($input: CreateScimTokenInput!) {
    createScimToken(input: $input) {
      __typename
      ... on CreateScimTokenPayload { directory { secret } }
      ... on Error { message code }
    }
  }
`);

const REVOKE = graphql(`
  mutation RevokeScimToken($input: RevokeScimTokenInput!) {
    revokeScimToken(input: $input) {
      __typename
      ... on RevokeScimTokenPayload { directory { url } }
      ... on Error { message code }
    }
  }
`);

/** The token by which the directory of a company provisions members, for the owner of the workspace. */
export function ScimSection() {
  const { data, error, refresh } = useLiveQuery({
    query: CONNECTION,
    variables: {},
    kinds: [],
    types: ['ScimDirectory'],
  });
  const { act: create } = useAct(CREATE, { done: 'The SCIM token was created.' });
  const { act: revoke } = useAct(REVOKE, { done: 'The SCIM token was revoked.' });
  const [name, setName] = useState('');
  const [secret, setSecret] = useState<string | null>(null);
  const directory = data?.scimDirectory;
  const token = directory?.token ?? null;
  const make = async () => {
    const { payload } = await create({ input: { name } });
    if (payload === null) return;
    setSecret(payload.directory.secret);
    setName('');
    refresh();
  };
  const end = async (id: string) => {
    await revoke({ input: { id } });
    setSecret(null);
    refresh();
  };
  return (
    <Section
      title="SCIM provisioning"
      about="The directory of your company adds members and removes them. Groups give roles as in single sign-on."
    >
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {directory === undefined && error === undefined && <Skeleton h={100} />}
      {directory !== undefined && (
        <Text size="sm" className="postroom-wrap">
          Base URL, for the settings of the directory: <code>{directory.url}</code>
        </Text>
      )}
      {secret !== null && (
        <Alert color="yellow" variant="outline" title="Copy the token">
          <Stack>
            <Text size="sm">It is shown only now.</Text>
            <Code className="postroom-wrap">{secret}</Code>
            <Group>
              <CopyButton value={secret}>
                {({ copied, copy }) => (
                  <Button variant="default" onClick={copy}>
                    {copied ? 'Copied' : 'Copy token'}
                  </Button>
                )}
              </CopyButton>
              <Button onClick={() => setSecret(null)}>Done</Button>
            </Group>
          </Stack>
        </Alert>
      )}
      {directory !== undefined && token !== null && (
        <Group justify="space-between" align="flex-start" gap="sm" wrap="nowrap">
          <Stack gap={0} miw={0} flex={1}>
            <Text fw={600} className="postroom-wrap">
              {token.name}
            </Text>
            <Text size="sm">
              {directory.users} users, {directory.groups} groups
              {directory.waiting > 0 &&
                `. ${directory.waiting} wait: an address in a verified domain, or a role, is missing`}
            </Text>
            <Text size="xs" c="dimmed" className="postroom-wrap">
              {token.hint}
              <RelativeTime at={token.createdAt} prefix=" · created " />
              {token.createdBy !== null && ` by ${token.createdBy}`}
              {token.lastUsedAt === null ? (
                ' · not used yet'
              ) : (
                <RelativeTime at={token.lastUsedAt} prefix=" · last used " />
              )}
            </Text>
          </Stack>
          <ConfirmButton
            label="Revoke token"
            question="Revoke the SCIM token?"
            about="The directory can no longer change members. Those that it added stay."
            confirm="Revoke token"
            act={() => end(token.id)}
          />
        </Group>
      )}
      {directory !== undefined && token === null && (
        <form
          aria-label="Create SCIM token"
          onSubmit={(event) => {
            event.preventDefault();
            void make();
          }}
        >
          <Group align="flex-end">
            <TextInput
              label="Name of the directory"
              placeholder="Okta"
              maxLength={100}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <Button type="submit" disabled={name.trim() === ''}>
              Create token
            </Button>
          </Group>
        </form>
      )}
    </Section>
  );
}
