import { Alert, Button, Group, List, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useQuery } from 'urql';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { useFirstField } from '../../shell/keys.ts';
import { useViewer } from '../../shell/viewer.ts';
import { CREATE_DOMAIN } from './domain-documents.ts';

const VERIFIED = graphql(`
  query VerifiedDomains { domains(first: 100, filter: { status: VERIFIED }) { edges { node { id name } } } }
`);

const SUGGESTED = graphql(`query SuggestedDomain { viewer { id suggestedDomain } }`);

/** Asks for a domain name and explains the next step. */
export function NameForm({ done }: { done: (added: { id: string; status: string }) => void }) {
  useFirstField();
  const { act, isBusy } = useAct(CREATE_DOMAIN, { quiet: true });
  const [otherTrouble, setTrouble] = useState<string | null>(null);
  const [taken, setTaken] = useState<string | null>(null);
  const [{ data }] = useQuery({ query: SUGGESTED, variables: {}, requestPolicy: 'network-only' });
  const suggested = data?.viewer.suggestedDomain ?? null;
  const form = useForm({
    initialValues: { domain: '' },
    validate: { domain: (value) => nameFault(value) },
    validateInputOnBlur: true,
  });
  const name = form.values.domain.trim().toLowerCase().replace(/\.$/, '');
  // The suggestion may come after the refusal.
  const trouble =
    taken === null
      ? otherTrouble
      : `Another account has ${taken}. ${
          suggested === null ? 'Add a subdomain or another domain.' : `Use ${suggested}, which is free.`
        }`;
  const add = async () => {
    setTaken(null);
    const { payload, problem } = await act({ input: { domain: name } });
    if (problem === null) return done(payload.domain);
    if (problem.fields['domain'] !== undefined) form.setFieldError('domain', problem.fields['domain']);
    else if (problem.code === 'DOMAIN_ALREADY_REGISTERED') setTaken(name);
    else setTrouble(problem.message);
  };
  return (
    <Paper withBorder p="lg" maw={680} bg="var(--postroom-raised)">
      <form onSubmit={form.onSubmit(() => void add())} noValidate>
        <Stack>
          <TextInput
            label="Domain"
            description="The part after the @, such as example.com or inbound.example.com."
            placeholder="example.com"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            data-autofocus
            {...form.getInputProps('domain')}
          />
          <Suggestion name={name} suggested={suggested} choose={(chosen) => form.setFieldValue('domain', chosen)} />
          <WhatHappens name={name} />
          {trouble !== null && (
            <Alert color="red" variant="outline" role="alert">
              {trouble}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button {...needs('domains')} type="submit" loading={isBusy}>
              Add domain
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}

/** Offers the name that the account can have without DNS records, until it is entered. */
function Suggestion({
  name,
  suggested,
  choose,
}: {
  name: string;
  suggested: string | null;
  choose: (name: string) => void;
}) {
  if (suggested === null || name === suggested) return null;
  return (
    <Group gap="xs">
      <Text size="sm">To try Postroom on this machine, {suggested} needs no DNS records.</Text>
      <Button size="compact-sm" variant="default" onClick={() => choose(suggested)}>
        Use {suggested}
      </Button>
    </Group>
  );
}

function WhatHappens({ name }: { name: string }) {
  const { service } = useViewer();
  const { data } = useLiveQuery({ query: VERIFIED, variables: {}, kinds: ['DOMAIN_VERIFIED'], types: ['Domain'] });
  const above = data?.domains.edges.map(({ node }) => node.name).find((parent) => name.endsWith(`.${parent}`));
  if (service.trustedDomains.includes(name) || service.trustedDomains.includes(`*.${name.replace(/^[^.]+\./, '')}`))
    return <Text size="sm">This service trusts the domain. It is verified at once, without DNS records.</Text>;
  if (above !== undefined)
    return (
      <Text size="sm">
        It is a subdomain of {above}, which you own. It is verified at once and uses the same DKIM key. To receive mail,
        it needs its own MX record.
      </Text>
    );
  return (
    <div>
      <Text size="sm">Next steps:</Text>
      <List size="sm">
        <List.Item>This page shows the DNS records to publish. Nothing changes before you publish them.</List.Item>
        <List.Item>
          One of them proves that the domain is yours; the MX record brings its mail to {service.mailHostname}.
        </List.Item>
        <List.Item>Postroom checks the records automatically, and whenever you ask.</List.Item>
      </List>
    </div>
  );
}

/** Maximum length in characters, RFC 1035 §2.3.4, without the dot of the root. */
const MAX_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/** Returns why the text is not a domain name; null leaves the decision to the service. */
function nameFault(text: string): string | null {
  const name = text.trim().replace(/\.$/, '');
  if (name === '') return 'Enter a domain name.';
  if (name.includes('@')) return 'Enter only the part after the @.';
  if (/^[a-z]+:\/\//i.test(name) || name.includes('/')) return 'Enter only the domain name, without http:// or a path.';
  if (/\s/.test(name)) return 'A domain name cannot contain spaces.';
  const labels = name.split('.');
  if (labels.length < 2) return 'Enter a complete domain name, such as example.com.';
  if (labels.includes('')) return 'A domain name cannot contain empty parts. Remove the extra dot.';
  if (name.length > MAX_LENGTH || labels.some((label) => label.length > MAX_LABEL_LENGTH))
    return `A domain name has at most ${MAX_LENGTH} characters, and at most ${MAX_LABEL_LENGTH} between two dots.`;
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-')))
    return 'No part of a domain name can begin or end with a hyphen.';
  // Letters of any script: the service converts them to A-labels.
  return /^[\p{L}\p{M}\p{N}.-]+$/u.test(name)
    ? null
    : 'A domain name can contain only letters, digits, hyphens and dots.';
}
