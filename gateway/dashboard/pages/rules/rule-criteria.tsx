import {
  Checkbox,
  Fieldset,
  Group,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Stack,
  TagsInput,
  Text,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { type RuleValues, results, spamVerdicts } from './rule-values.ts';

const MAX_VALUES = 100;
const checks = [
  ['spf', 'SPF'],
  ['dkim', 'DKIM'],
  ['dmarc', 'DMARC'],
] as const;

/** Criteria of an explicit rule. */
export function RuleCriteria({ form }: { form: UseFormReturnType<RuleValues & { problem: string }> }) {
  const tags = { maxTags: MAX_VALUES, splitChars: [','], acceptValueOnBlur: true };
  return (
    <Fieldset legend="When all of these match">
      <Stack>
        <TagsInput
          label="Sender"
          description="Addresses or *@domain; one of them has to match"
          placeholder="win@pills4u.example or *@pills4u.example"
          {...tags}
          {...form.getInputProps('from')}
        />
        {form.values.from.length > 0 && (
          <Checkbox
            label="Only if DMARC verifies the sender"
            description="The sender of an email is easy to forge. Require verification if the rule allows or routes mail."
            {...form.getInputProps('isAligned', { type: 'checkbox' })}
          />
        )}
        <TagsInput
          label="Recipient"
          description="In To, Cc or the envelope"
          placeholder="support@example.com"
          {...tags}
          {...form.getInputProps('to')}
        />
        <TagsInput label="Subject has" placeholder="miracle pills" {...tags} {...form.getInputProps('subject')} />
        <TagsInput label="Subject or body has" placeholder="act now" {...tags} {...form.getInputProps('hasWords')} />
        <TagsInput
          label="An attachment is"
          description="An extension, a name with *, or a content type"
          placeholder=".exe, invoice*.pdf or image/*"
          {...tags}
          {...form.getInputProps('attachments')}
        />
        <div>
          <Text size="sm" fw={600} mb={4} id="has-attachment">
            Attachments
          </Text>
          <SegmentedControl
            aria-labelledby="has-attachment"
            {...form.getInputProps('hasAttachment')}
            data={[
              { value: 'any', label: 'Any' },
              { value: 'yes', label: 'With' },
              { value: 'no', label: 'Without' },
            ]}
          />
        </div>
        <div>
          <Text size="sm" fw={600} mb={4} id="injection">
            Text aimed at agents
          </Text>
          <SegmentedControl
            aria-labelledby="injection"
            {...form.getInputProps('injection')}
            data={[
              { value: 'any', label: 'Any' },
              { value: 'REVIEW', label: 'Found' },
              { value: 'CLEAR', label: 'Not found' },
            ]}
          />
        </div>
        <Group grow preventGrowOverflow={false} align="flex-start">
          <MultiSelect
            label="The spam filter says"
            placeholder={form.values.spam.length === 0 ? 'anything' : ''}
            data={spamVerdicts}
            {...form.getInputProps('spam')}
          />
          <NumberInput
            label="Least spam score"
            placeholder="any"
            min={-1000}
            max={1000}
            decimalScale={2}
            {...form.getInputProps('minSpamScore')}
          />
        </Group>
        <Group grow preventGrowOverflow={false} align="flex-start">
          {checks.map(([name, label]) => (
            <MultiSelect
              key={name}
              label={`${label} is`}
              placeholder={form.values[name].length === 0 ? 'anything' : ''}
              data={results}
              {...form.getInputProps(name)}
            />
          ))}
        </Group>
      </Stack>
    </Fieldset>
  );
}
