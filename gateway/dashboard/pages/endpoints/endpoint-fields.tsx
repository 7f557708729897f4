import { Group, NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { Endpoint } from './endpoint-documents.ts';
import { formats } from './endpoint-words.ts';
import type { EndpointChanges } from './use-endpoint-update.ts';

/** Values of the settings form for all types. Fields of other types are hidden. */
export interface EndpointValues {
  name: string;
  description: string;
  url: string;
  format: keyof typeof formats;
  payload: 'NESTED' | 'FLAT';
  attachments: 'CONTENT' | 'LINK';
  timeoutSeconds: number;
  retryAttempts: number;
  /** one header per line, as `Name: value` */
  headers: string;
  forwardTo: string;
  addresses: string[];
  subjectPrefix: string;
  senderName: string;
  preserveHeaders: boolean;
  includeAttachments: boolean;
}

/** Returns the initial values of the form. */
export function valuesOf(endpoint: Endpoint): EndpointValues {
  const isWebhook = endpoint.__typename === 'WebhookEndpoint';
  return {
    name: endpoint.name,
    description: endpoint.description ?? '',
    url: isWebhook ? endpoint.url : '',
    format: isWebhook ? endpoint.format : 'NATIVE',
    payload: isWebhook ? endpoint.payload : 'NESTED',
    attachments: isWebhook ? endpoint.attachments : 'CONTENT',
    timeoutSeconds: isWebhook ? endpoint.timeoutSeconds : 0,
    retryAttempts: isWebhook ? endpoint.retryAttempts : 0,
    headers: isWebhook ? endpoint.headers.map(({ name, value }) => `${name}: ${value}`).join('\n') : '',
    forwardTo: endpoint.__typename === 'EmailEndpoint' ? endpoint.forwardTo : '',
    addresses: endpoint.__typename === 'EmailGroupEndpoint' ? [...endpoint.addresses] : [],
    subjectPrefix: isWebhook ? '' : (endpoint.subjectPrefix ?? ''),
    senderName: isWebhook ? '' : (endpoint.senderName ?? ''),
    preserveHeaders: isWebhook ? false : endpoint.preserveHeaders,
    includeAttachments: isWebhook ? true : endpoint.includeAttachments,
  };
}

/** Returns the mutation input for the values. */
export function changesOf(endpoint: Endpoint, values: EndpointValues): EndpointChanges {
  const { name, url, format, payload, attachments, timeoutSeconds, retryAttempts } = values;
  const about = { id: endpoint.id, name, description: values.description };
  if (endpoint.__typename === 'WebhookEndpoint') {
    const headers = values.headers
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const at = line.indexOf(':');
        return {
          name: line.slice(0, at === -1 ? line.length : at).trim(),
          value: at === -1 ? '' : line.slice(at + 1).trim(),
        };
      });
    return { ...about, url, format, payload, attachments, timeoutSeconds, retryAttempts, headers };
  }
  const { subjectPrefix, senderName, preserveHeaders, includeAttachments } = values;
  const forward = {
    subjectPrefix: subjectPrefix || null,
    senderName: senderName || null,
    preserveHeaders,
    includeAttachments,
  };
  return endpoint.__typename === 'EmailEndpoint'
    ? { ...about, ...forward, forwardTo: values.forwardTo }
    : { ...about, ...forward, addresses: values.addresses };
}

/** The form fields of the type. */
export function EndpointFields({ endpoint, form }: { endpoint: Endpoint; form: UseFormReturnType<EndpointValues> }) {
  return (
    <>
      <TextInput label="Name" maxLength={255} {...form.getInputProps('name')} key={form.key('name')} />
      <Textarea
        label="Description"
        autosize
        minRows={1}
        {...form.getInputProps('description')}
        key={form.key('description')}
      />
      {endpoint.__typename === 'WebhookEndpoint' ? (
        <>
          <TextInput label="URL" {...form.getInputProps('url')} key={form.key('url')} />
          <Group grow preventGrowOverflow={false} align="flex-start">
            <Select
              label="Format"
              allowDeselect={false}
              data={Object.entries(formats).map(([value, label]) => ({ value, label }))}
              {...form.getInputProps('format')}
              key={form.key('format')}
            />
            <Select
              label="JSON structure"
              allowDeselect={false}
              data={[
                { value: 'NESTED', label: 'Nested' },
                { value: 'FLAT', label: 'Flat' },
              ]}
              {...form.getInputProps('payload')}
              key={form.key('payload')}
            />
            <Select
              label="Attachments"
              allowDeselect={false}
              data={[
                { value: 'CONTENT', label: 'In the payload' },
                { value: 'LINK', label: 'As download links' },
              ]}
              {...form.getInputProps('attachments')}
              key={form.key('attachments')}
            />
          </Group>
          <Group grow preventGrowOverflow={false} align="flex-start">
            <NumberInput
              label="Timeout (seconds)"
              min={1}
              max={300}
              allowDecimal={false}
              {...form.getInputProps('timeoutSeconds')}
              key={form.key('timeoutSeconds')}
            />
            <NumberInput
              label="Retries"
              min={0}
              max={10}
              allowDecimal={false}
              {...form.getInputProps('retryAttempts')}
              key={form.key('retryAttempts')}
            />
          </Group>
          <Textarea
            label="Custom headers"
            description="One per line, for example Authorization: Bearer abc"
            autosize
            minRows={2}
            ff="monospace"
            {...form.getInputProps('headers')}
            key={form.key('headers')}
          />
        </>
      ) : (
        <>
          {endpoint.__typename === 'EmailEndpoint' ? (
            <TextInput label="Forward to" {...form.getInputProps('forwardTo')} key={form.key('forwardTo')} />
          ) : (
            <TagsInput
              label="Forward to"
              splitChars={[',', ' ', ';']}
              maxTags={50}
              {...form.getInputProps('addresses')}
              key={form.key('addresses')}
            />
          )}
          <Group grow preventGrowOverflow={false} align="flex-start">
            <TextInput
              label="Subject prefix"
              placeholder="[Support]"
              {...form.getInputProps('subjectPrefix')}
              key={form.key('subjectPrefix')}
            />
            <TextInput label="Sender name" {...form.getInputProps('senderName')} key={form.key('senderName')} />
          </Group>
          <Switch
            label="Include attachments"
            {...form.getInputProps('includeAttachments', { type: 'checkbox' })}
            key={form.key('includeAttachments')}
          />
          <Switch
            label="Relay the original message"
            description="Keeps the original header and uses a signed return address, instead of sending a new message with a rewritten sender."
            {...form.getInputProps('preserveHeaders', { type: 'checkbox' })}
            key={form.key('preserveHeaders')}
          />
        </>
      )}
    </>
  );
}
