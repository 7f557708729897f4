import { Alert, Button, Group, List, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { useAct } from '../../parts/use-act.ts';
import { useViewer } from '../../shell/viewer.ts';
import { CREATE_DOMAIN } from './domain-documents.ts';
import { nameFault } from './domain-name.ts';

const VERIFIED = graphql(`
  query VerifiedDomains { domains(first: 100, filter: { status: VERIFIED }) { edges { node { id name } } } }
`);

/** Asks for a domain name and explains the next step. */
export function NameForm({ done }: { done: (added: { id: string; status: string }) => void }) {
  const { act, isBusy } = useAct(CREATE_DOMAIN, { quiet: true });
  const [trouble, setTrouble] = useState<string | null>(null);
  const form = useForm({
    initialValues: { domain: '' },
    validate: { domain: (value) => nameFault(value) },
    validateInputOnBlur: true,
  });
  const name = form.values.domain.trim().toLowerCase().replace(/\.$/, '');
  const add = async () => {
    const { payload, problem } = await act({ input: { domain: name } });
    if (problem === null) return done(payload.domain);
    if (problem.fields['domain'] !== undefined) form.setFieldError('domain', problem.fields['domain']);
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
          <WhatHappens name={name} />
          {trouble !== null && (
            <Alert color="red" variant="outline" role="alert">
              {trouble}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button type="submit" loading={isBusy}>
              Add domain
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}

function WhatHappens({ name }: { name: string }) {
  const { service } = useViewer();
  const { data } = useLiveQuery({ query: VERIFIED, variables: {}, kinds: ['DOMAIN_VERIFIED'], types: ['Domain'] });
  const above = data?.domains.edges.map(({ node }) => node.name).find((parent) => name.endsWith(`.${parent}`));
  if (service.trustedDomains.some((trusted) => name === trusted || name.endsWith(`.${trusted}`)))
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
