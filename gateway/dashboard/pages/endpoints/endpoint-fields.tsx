import { Group, NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { Endpoint } from './endpoint-documents.ts';
import type { EndpointValues } from './endpoint-values.ts';
import { formats } from './endpoint-words.ts';
import { EventFields } from './event-fields.tsx';

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
          <EventFields form={form} maxPayloadOctets={endpoint.maxPayloadOctets} />
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
