import {
  Alert,
  Button,
  Fieldset,
  Grid,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { formErrors } from '../../parts/form-errors.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { useFirstField } from '../../shell/keys.ts';
import { useEndpointChoices } from '../addresses/endpoint-choice.tsx';
import { BacktestPanel } from './backtest-panel.tsx';
import { RuleCriteria } from './rule-criteria.tsx';
import { CREATE, DELETE, type Rule, UPDATE } from './rule-documents.ts';
import { hasNoCriteria, inputOf, valuesOf } from './rule-values.ts';

/** Form of a rule (null: a new one) with its back-test beside it. */
export function RuleForm({
  rule,
  hasModel,
  maxPriority,
}: {
  rule: Rule | null;
  hasModel: boolean;
  maxPriority: number;
}) {
  const [, go] = useLocation();
  useFirstField();
  const create = useAct(CREATE, { quiet: true, done: 'The rule was created and applies to new mail.' });
  const update = useAct(UPDATE, { quiet: true, done: 'Saved. The rule applies to new mail.' });
  const remove = useAct(DELETE, { done: 'The rule was deleted.' });
  const form = useForm({
    initialValues: { ...valuesOf(rule), problem: '' },
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter a name, such as "No miracle pills".' : null),
      prompt: (value, { type }) =>
        type === 'AI_PROMPT' && value.trim() === '' ? 'Enter a question for the model.' : null,
      problem: (_, { problem: _problem, ...values }) =>
        values.type === 'EXPLICIT' && hasNoCriteria(values)
          ? 'Choose at least one criterion, such as a word of the subject. A rule without one would apply to nothing.'
          : null,
      endpointId: (value, { action }) => (action === 'ROUTE' && value === null ? 'Choose an endpoint.' : null),
    },
  });
  const [tested, setTested] = useState(false);
  const endpoints = useEndpointChoices(rule?.endpoint ?? null);
  const save = async ({ problem: _problem, ...values }: typeof form.values) => {
    const input = inputOf(values, rule);
    const { problem } =
      rule === null ? await create.act({ input }) : await update.act({ input: { id: rule.id, ...input } });
    if (problem === null) return go('/rules');
    form.setErrors(formErrors(problem, values));
  };
  const { values } = form;
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, lg: 7 }}>
        <form onSubmit={form.onSubmit((given) => void save(given))} noValidate>
          <Stack>
            <TextInput
              label="Name"
              placeholder="No miracle pills"
              maxLength={255}
              data-autofocus={rule === null || undefined}
              {...form.getInputProps('name')}
            />
            <Textarea label="Description" autosize minRows={1} {...form.getInputProps('description')} />
            {hasModel && (
              <SegmentedControl
                aria-label="Type"
                {...form.getInputProps('type')}
                data={[
                  { value: 'EXPLICIT', label: 'Criteria' },
                  { value: 'AI_PROMPT', label: 'Language model' },
                ]}
              />
            )}
            {values.type === 'AI_PROMPT' ? (
              <Textarea
                label="Prompt"
                description="The rule matches if the model answers yes. If the model does not respond, the email waits for your review."
                placeholder="Is this email an offer to sell us something?"
                autosize
                minRows={3}
                maxLength={4_000}
                {...form.getInputProps('prompt')}
              />
            ) : (
              <RuleCriteria form={form} />
            )}
            <Fieldset legend="Then">
              <Stack>
                <SegmentedControl
                  aria-label="Action"
                  {...form.getInputProps('action')}
                  data={[
                    { value: 'BLOCK', label: 'Hold' },
                    { value: 'ALLOW', label: 'Allow' },
                    { value: 'ROUTE', label: 'Route' },
                  ]}
                />
                {values.action === 'ROUTE' && (
                  <Select label="Endpoint" data={endpoints} searchable {...form.getInputProps('endpointId')} />
                )}
                <Group align="flex-end">
                  <NumberInput
                    label="Priority"
                    description="Rules with a higher priority come first"
                    min={-maxPriority}
                    max={maxPriority}
                    allowDecimal={false}
                    w={160}
                    {...form.getInputProps('priority')}
                  />
                  <Switch label="On" pb={8} {...form.getInputProps('isActive', { type: 'checkbox' })} />
                </Group>
              </Stack>
            </Fieldset>
            {form.errors['problem'] !== undefined && (
              <Alert color="red" variant="outline" role="alert">
                {form.errors['problem']}
              </Alert>
            )}
            <Group>
              <Button {...needs('policies')} type="submit" loading={create.isBusy || update.isBusy}>
                {rule === null ? 'Create rule' : 'Save rule'}
              </Button>
              {rule !== null && (
                <ConfirmButton
                  {...needs('policies')}
                  label="Delete rule"
                  size="sm"
                  question={`Delete ${rule.name}?`}
                  about="Emails that the rule held stay held until you release them."
                  confirm="Delete rule"
                  act={async () => {
                    const { problem } = await remove.act({ id: rule.id });
                    if (problem === null) go('/rules');
                  }}
                />
              )}
            </Group>
          </Stack>
        </form>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 5 }}>
        <BacktestPanel input={inputOf(values, rule)} isTested={tested} tell={setTested} />
      </Grid.Col>
    </Grid>
  );
}
