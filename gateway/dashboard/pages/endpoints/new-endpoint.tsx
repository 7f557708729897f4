import {
  Accordion,
  Alert,
  Button,
  Group,
  Modal,
  SegmentedControl,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { graphql } from '../../graphql.ts';
import { formErrors } from '../../parts/form-errors.ts';
import { useAct } from '../../parts/use-act.ts';
import { type SubscriptionValues, subscriptionOf } from './endpoint-values.ts';
import { endpointTypes, formats } from './endpoint-words.ts';
import { SubscriptionFields } from './event-fields.tsx';

const WEBHOOK = graphql(`
  mutation DashboardCreateWebhook($input: CreateWebhookEndpointInput!) {
    createWebhookEndpoint(input: $input) {
      __typename
      ... on CreateWebhookEndpointPayload { endpoint { __typename id } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);
const EMAIL = graphql(`
  mutation DashboardCreateEmailEndpoint($input: CreateEmailEndpointInput!) {
    createEmailEndpoint(input: $input) {
      __typename
      ... on CreateEmailEndpointPayload { endpoint { __typename id } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);
const GROUP = graphql(`
  mutation DashboardCreateGroup($input: CreateEmailGroupEndpointInput!) {
    createEmailGroupEndpoint(input: $input) {
      __typename
      ... on CreateEmailGroupEndpointPayload { endpoint { __typename id } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

const kinds = { webhook: 'WebhookEndpoint', email: 'EmailEndpoint', group: 'EmailGroupEndpoint' } as const;
type Kind = keyof typeof kinds;

interface NewEndpointValues extends SubscriptionValues {
  name: string;
  url: string;
  format: keyof typeof formats;
  forwardTo: string;
  addresses: string[];
  problem: string;
}

/** Form that creates an endpoint. It is open while the URL contains `?new=`. */
export function NewEndpoint() {
  const [search, setSearch] = useSearchParams();
  const [, go] = useLocation();
  const wanted = search.get('new');
  const kind: Kind = wanted === 'email' || wanted === 'group' ? wanted : 'webhook';
  const close = () => setSearch({}, { replace: true });
  const webhook = useAct(WEBHOOK, {
    quiet: true,
    done: 'The endpoint was created. Test it, then choose it for an address.',
  });
  const email = useAct(EMAIL, { quiet: true, done: 'The endpoint was created. Choose it for an address.' });
  const group = useAct(GROUP, { quiet: true, done: 'The endpoint was created. Choose it for an address.' });
  const [part, setPart] = useState<string | null>(null);
  const form = useForm<NewEndpointValues>({
    mode: 'uncontrolled',
    initialValues: {
      name: '',
      url: '',
      format: 'NATIVE',
      events: ['email.received'],
      filterDomains: [],
      filterAddresses: [],
      ordering: 'NONE',
      forwardTo: '',
      addresses: [],
      problem: '',
    },
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter a name, such as "Ticket system".' : null),
      url: (value) =>
        kind === 'webhook' && !URL.canParse(value) ? 'Enter a complete URL, such as https://example.com/hook.' : null,
      events: (value) => (kind === 'webhook' && value.length === 0 ? 'Choose at least one event.' : null),
      forwardTo: (value) =>
        kind === 'email' && !value.includes('@') ? 'Enter an address, such as team@example.com.' : null,
      addresses: (value) => (kind === 'group' && value.length === 0 ? 'Enter at least one address.' : null),
    },
  });
  const create = async (values: NewEndpointValues) => {
    const { name, url, format, forwardTo, addresses } = values;
    form.clearErrors();
    const outcome =
      kind === 'webhook'
        ? await webhook.act({ input: { name, url, format, ...subscriptionOf(values) } })
        : kind === 'email'
          ? await email.act({ input: { name, forwardTo } })
          : await group.act({ input: { name, addresses } });
    if (outcome.problem === null) {
      form.reset();
      setPart(null);
      return go(`/endpoints/${outcome.payload.endpoint.id}`);
    }
    form.setErrors(formErrors(outcome.problem, form.getValues()));
  };
  return (
    <Modal opened={wanted !== null} onClose={close} title="Create endpoint" size="lg">
      <form
        onSubmit={form.onSubmit(
          (values) => void create(values),
          (errors) => errors['events'] !== undefined && setPart('events'),
        )}
        noValidate
      >
        <Stack>
          <SegmentedControl
            aria-label="Type"
            value={kind}
            onChange={(value) => setSearch({ new: value }, { replace: true })}
            data={Object.entries(kinds).map(([value, type]) => ({ value, label: endpointTypes[type].label }))}
          />
          <Text size="sm" c="dimmed">
            {endpointTypes[kinds[kind]].about}
          </Text>
          <TextInput
            label="Name"
            placeholder="Ticket system"
            data-autofocus
            maxLength={255}
            key={form.key('name')}
            {...form.getInputProps('name')}
          />
          {kind === 'webhook' && (
            <>
              <TextInput
                label="URL"
                placeholder="https://example.com/hooks/mail"
                description="Receives a POST request with JSON. It must respond with 2xx before the timeout."
                key={form.key('url')}
                {...form.getInputProps('url')}
              />
              <Select
                label="Format"
                allowDeselect={false}
                data={Object.entries(formats).map(([value, label]) => ({ value, label }))}
                key={form.key('format')}
                {...form.getInputProps('format')}
              />
              <Accordion variant="contained" chevronPosition="left" value={part} onChange={setPart}>
                <Accordion.Item value="events">
                  <Accordion.Control>
                    <Text size="sm">Events and order</Text>
                  </Accordion.Control>
                  <Accordion.Panel>
                    <Stack>
                      <SubscriptionFields form={form} />
                    </Stack>
                  </Accordion.Panel>
                </Accordion.Item>
              </Accordion>
            </>
          )}
          {kind === 'email' && (
            <TextInput
              label="Forward to"
              placeholder="team@example.com"
              key={form.key('forwardTo')}
              {...form.getInputProps('forwardTo')}
            />
          )}
          {kind === 'group' && (
            <TagsInput
              label="Forward to"
              description="Press Enter after each address. Up to 50 addresses."
              placeholder="ada@example.com"
              splitChars={[',', ' ', ';']}
              maxTags={50}
              key={form.key('addresses')}
              {...form.getInputProps('addresses')}
            />
          )}
          {form.errors['problem'] !== undefined && (
            <Alert color="red" variant="outline" role="alert">
              {form.errors['problem']}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={webhook.isBusy || email.isBusy || group.isBusy}>
              Create endpoint
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
