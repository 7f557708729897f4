import {
  Alert,
  Anchor,
  Autocomplete,
  Button,
  Group,
  NumberInput,
  Select,
  Skeleton,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Link } from 'wouter';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { useAct } from '../../parts/use-act.ts';
import { dateFault, expiries, expiryOf } from '../keys/key-expiry.ts';
import { DOMAIN_CHOICES } from './address-documents.ts';
import { CREATE_REPLY_ADDRESS, DOMAIN_ADDRESSES } from './reply-documents.ts';

interface ReplyValues {
  domainId: string | null;
  deliverTo: string;
  /** JSON; empty: none */
  metadata: string;
  senders: string[];
  /** empty: no limit */
  maxMessages: number | '';
  expiry: string;
  date: string;
  threadId: string;
}

/** Form that creates a reply address. */
export function ReplyForm({ done }: { done: () => void }) {
  const { data } = useLiveQuery({
    query: DOMAIN_CHOICES,
    variables: {},
    kinds: ['DOMAIN_VERIFIED', 'DOMAIN_FAILED'],
    types: ['Domain'],
  });
  const { act, isBusy } = useAct(CREATE_REPLY_ADDRESS, { quiet: true, done: 'The reply address was created.' });
  const [trouble, setTrouble] = useState<string | null>(null);
  const form = useForm<ReplyValues>({
    initialValues: {
      domainId: null,
      deliverTo: '',
      metadata: '',
      senders: [],
      maxMessages: '',
      expiry: 'never',
      date: '',
      threadId: '',
    },
    validate: {
      metadata: metadataFault,
      date: (date, { expiry }) => (expiry === 'date' ? dateFault(date) : null),
    },
  });
  const domains = data?.domains.edges.map(({ node }) => node) ?? [];
  const domain = domains.find(({ id }) => id === form.values.domainId) ?? domains[0];
  const [{ data: known }] = useQuery({
    query: DOMAIN_ADDRESSES,
    variables: { domainId: domain?.id ?? '' },
    pause: domain === undefined,
  });
  if (data === undefined) return <Skeleton h={320} aria-label="Loading" />;
  if (domain === undefined)
    return (
      <Text size="sm">
        A reply address needs a verified domain.{' '}
        <Anchor component={Link} href={data.domainCounts.total === 0 ? '/domains?new' : '/domains'}>
          {data.domainCounts.total === 0 ? 'Add domain' : 'Check your domains'}
        </Anchor>
      </Text>
    );
  const create = async ({ deliverTo, metadata, senders, maxMessages, expiry, date, threadId }: ReplyValues) => {
    setTrouble(null);
    const { problem } = await act({
      input: {
        domain: domain.id,
        deliverTo: deliverTo.trim() || null,
        metadata: metadata.trim() === '' ? null : JSON.parse(metadata),
        senders,
        maxMessages: maxMessages === '' ? null : maxMessages,
        expiresAt: expiryOf(expiry, date),
        threadId: threadId.trim() || null,
      },
    });
    if (problem === null) return done();
    const { expiresAt, ...fields } = problem.fields;
    form.setErrors({ ...fields, ...(expiresAt === undefined ? {} : { date: expiresAt }) });
    setTrouble(problem.message);
  };
  return (
    <form onSubmit={form.onSubmit((values) => void create(values))} noValidate>
      <Stack gap="sm">
        <Select
          label="Domain"
          data={domains.map(({ id, name }) => ({ value: id, label: name }))}
          allowDeselect={false}
          searchable={domains.length > 10}
          {...form.getInputProps('domainId')}
          value={domain.id}
        />
        <Autocomplete
          label="Deliver to"
          description="An address of the domain. It decides the endpoint."
          placeholder={`reply@${domain.name}`}
          data={known?.emailAddresses.edges.map(({ node }) => node.address) ?? []}
          {...form.getInputProps('deliverTo')}
        />
        <Textarea
          label="Metadata"
          description="A JSON object. Each email that the address receives carries it."
          placeholder={'{ "order": 4711 }'}
          autosize
          minRows={2}
          spellCheck={false}
          {...form.getInputProps('metadata')}
        />
        <TagsInput
          label="Senders"
          description="Addresses and domains that may write to it. Press Enter after each."
          placeholder={form.values.senders.length === 0 ? 'Everyone' : ''}
          splitChars={[',', ' ', ';']}
          maxTags={100}
          {...form.getInputProps('senders')}
        />
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <NumberInput
            label="Maximum messages"
            placeholder="No limit"
            min={1}
            max={1_000_000}
            allowDecimal={false}
            {...form.getInputProps('maxMessages')}
            onChange={(value) => form.setFieldValue('maxMessages', typeof value === 'number' ? value : '')}
          />
          <Select label="Expiry" data={expiries} allowDeselect={false} {...form.getInputProps('expiry')} />
          {form.values.expiry === 'date' && <TextInput label="Last day" type="date" {...form.getInputProps('date')} />}
        </Group>
        <TextInput
          label="Thread ID"
          description="Optional. Mail to the address joins this thread."
          placeholder="th_…"
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps('threadId')}
        />
        {trouble !== null && (
          <Alert color="red" variant="outline" role="alert">
            {trouble}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy}>
            Create reply address
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Returns why the text is not metadata; null if it is, or if it is empty. */
function metadataFault(text: string): string | null {
  if (text.trim() === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `This is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? null
    : 'Enter a JSON object, such as { "order": 4711 }.';
}
