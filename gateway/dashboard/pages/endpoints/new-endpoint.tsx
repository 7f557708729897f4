import {
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
import { useLocation, useSearchParams } from 'wouter';
import { graphql } from '../../graphql.ts';
import { useAct } from '../../parts/use-act.ts';
import { endpointTypes, formats } from './endpoint-words.ts';

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
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: {
      name: '',
      url: '',
      format: 'NATIVE' as keyof typeof formats,
      forwardTo: '',
      addresses: [] as string[],
      problem: '',
    },
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter a name, such as "Ticket system".' : null),
      url: (value) =>
        kind === 'webhook' && !URL.canParse(value) ? 'Enter a complete URL, such as https://example.com/hook.' : null,
      forwardTo: (value) =>
        kind === 'email' && !value.includes('@') ? 'Enter an address, such as team@example.com.' : null,
      addresses: (value) => (kind === 'group' && value.length === 0 ? 'Enter at least one address.' : null),
    },
  });
  const create = async ({ name, url, format, forwardTo, addresses }: typeof form.values) => {
    form.clearErrors();
    const outcome =
      kind === 'webhook'
        ? await webhook.act({ input: { name, url, format } })
        : kind === 'email'
          ? await email.act({ input: { name, forwardTo } })
          : await group.act({ input: { name, addresses } });
    if (outcome.problem === null) {
      form.reset();
      return go(`/endpoints/${outcome.payload.endpoint.id}`);
    }
    form.setErrors({ ...outcome.problem.fields, problem: outcome.problem.message });
  };
  return (
    <Modal opened={wanted !== null} onClose={close} title="Create endpoint" size="lg">
      <form onSubmit={form.onSubmit((values) => void create(values))} noValidate>
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
