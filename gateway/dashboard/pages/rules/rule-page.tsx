import { Fieldset, Grid, Group, Loader, SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ConfirmButton } from '../../parts/buttons.tsx';
import { makeChoices, useEndpointChoices } from '../../parts/choices.ts';
import { QuietButton } from '../../parts/controls.tsx';
import { RecordForm, type RecordFormState, Trouble, useRecordForm } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { PlainList, RecordPage, Section } from '../../parts/section.tsx';
import { Fine, Hint, Small, SmallLink, Strong } from '../../parts/text.tsx';
import { type PayloadOf, useAct } from '../../parts/use-act.ts';
import { formatCount } from '../../parts/words.ts';
import { useFirstField } from '../../shell/keys.ts';
import {
  hasNoCriteria,
  RULES,
  type Rule,
  type RuleValues,
  readValues,
  UPDATE_RULE,
  writeInput,
} from './rule-values.ts';

/** One rule: its criteria, its action, and its back-test. `new`: a rule to create. */
export function RulePage() {
  const { id } = useParams<{ id: string }>();
  const query = useLiveQuery({ query: RULES, types: ['GuardRule'] });
  return (
    <RecordPage
      query={query}
      find={({ guardRules, guardLimits }) => {
        const rule = guardRules.edges.find(({ node }) => node.id === id)?.node ?? null;
        return id === 'new' || rule !== null ? { rule, ...guardLimits } : null;
      }}
      kind="Rule"
      heading="Guard rule"
      icon="shield-off"
      missing="It was deleted, or the link is incorrect."
      all={{ label: 'All rules', href: '/rules' }}
    >
      {({ rule, hasModel, maxPriority }) => (
        <Page
          title={rule === null ? 'New guard rule' : rule.name}
          about="Test the rule with past emails before you save it."
        >
          <RuleForm key={id} rule={rule} hasModel={hasModel} maxPriority={maxPriority} />
        </Page>
      )}
    </RecordPage>
  );
}

const CREATE_RULE = mutation('createGuardRule', 'guardRule { __typename id }');
const DELETE_RULE = mutation('deleteGuardRule', 'deletedId');

interface RuleFormProps {
  /** null: a new one */
  rule: Rule | null;
  hasModel: boolean;
  maxPriority: number;
}

/** Form of a rule with its back-test beside it. */
function RuleForm({ rule, hasModel, maxPriority }: RuleFormProps) {
  const [, go] = useLocation();
  const leave = () => go('/rules');
  useFirstField();
  const create = useAct(CREATE_RULE, { quiet: true, done: 'The rule was created and applies to new mail.' });
  const update = useAct(UPDATE_RULE, { quiet: true, done: 'Saved. The rule applies to new mail.' });
  const remove = useAct(DELETE_RULE, { done: 'The rule was deleted.', onDone: leave });
  const form = useRecordForm({
    values: { ...readValues(rule), problem: '' },
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter a name, such as "No miracle pills".' : null),
      prompt: (value, { type }) =>
        type === 'AI_PROMPT' && value.trim() === '' ? 'Enter a question for the model.' : null,
      problem: (_, values) =>
        values.type === 'EXPLICIT' && hasNoCriteria(values)
          ? 'Choose at least one criterion, such as a word of the subject. A rule without one would apply to nothing.'
          : null,
      endpointId: (value, { action }) => (action === 'ROUTE' && value === null ? 'Choose an endpoint.' : null),
    },
    submit: async (values): Promise<Pick<Awaited<ReturnType<typeof create.act>>, 'problem'>> => {
      const input = writeInput(values, rule);
      return rule === null ? create.act(input) : update.act({ id: rule.id, ...input });
    },
    saved: leave,
  });
  const endpoints = useEndpointChoices(rule?.endpoint ?? null);
  const { values } = form;
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, lg: 7 }}>
        <RecordForm
          form={form}
          submit={rule === null ? 'Create rule' : 'Save rule'}
          needed="policies"
          justify="flex-start"
          aside={
            rule !== null && (
              <ConfirmButton
                needed="policies"
                label="Delete rule"
                size="sm"
                question={`Delete ${rule.name}?`}
                about="Emails that the rule held stay held until you release them."
                act={() => remove.act({ id: rule.id })}
              />
            )
          }
        >
          <form.Text
            name="name"
            label="Name"
            placeholder="No miracle pills"
            maxLength={255}
            data-autofocus={rule === null || undefined}
          />
          <form.LongText name="description" label="Description" minRows={1} />
          {hasModel && (
            <SegmentedControl
              aria-label="Type"
              {...form.getInputProps('type')}
              data={makeChoices({ EXPLICIT: 'Criteria', AI_PROMPT: 'Language model' })}
            />
          )}
          {values.type === 'AI_PROMPT' ? (
            <form.LongText
              name="prompt"
              label="Prompt"
              description="The rule matches if the model answers yes. If the model does not respond, the email waits for your review."
              placeholder="Is this email an offer to sell us something?"
              minRows={3}
              maxLength={4_000}
            />
          ) : (
            <Criteria form={form} />
          )}
          <Fieldset legend="Then">
            <Stack>
              <SegmentedControl
                aria-label="Action"
                {...form.getInputProps('action')}
                data={makeChoices({ BLOCK: 'Hold', ALLOW: 'Allow', ROUTE: 'Route' })}
              />
              {values.action === 'ROUTE' && (
                <form.Choice name="endpointId" label="Endpoint" data={endpoints} searchable />
              )}
              <Group align="flex-end">
                <form.Number
                  name="priority"
                  label="Priority"
                  description="Rules with a higher priority come first"
                  placeholder=""
                  min={-maxPriority}
                  max={maxPriority}
                  w={160}
                />
                <form.Switch name="isActive" label="On" pb={8} />
              </Group>
            </Stack>
          </Fieldset>
        </RecordForm>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 5 }}>
        <BacktestPanel input={writeInput(values, rule)} />
      </Grid.Col>
    </Grid>
  );
}

const RESULTS = ['PASS', 'FAIL', 'SOFTFAIL', 'NEUTRAL', 'NONE', 'TEMPERROR', 'PERMERROR', 'POLICY'].map(nameValue);
const SPAM_VERDICTS = ['CLEAN', 'SUSPECTED', 'SPAM', 'NOT_CHECKED'].map(nameValue);
const CHECKS = [
  ['spf', 'SPF'],
  ['dkim', 'DKIM'],
  ['dmarc', 'DMARC'],
] as const;
const SEGMENTS: [name: 'hasAttachment' | 'injection', label: string, data: { value: string; label: string }[]][] = [
  ['hasAttachment', 'Attachments', segments({ any: 'Any', yes: 'With', no: 'Without' })],
  ['injection', 'Text aimed at agents', segments({ any: 'Any', REVIEW: 'Found', CLEAR: 'Not found' })],
];
const TAGS = { maxTags: 100, splitChars: [','], acceptValueOnBlur: true };

function segments(labels: Record<string, string>) {
  return Object.entries(labels).map(([value, label]) => ({ value, label }));
}

function nameValue(value: string) {
  return { value, label: value.toLowerCase().replace('_', ' ') };
}

/** Criteria of an explicit rule. */
function Criteria({ form }: { form: RecordFormState<RuleValues & { problem: string }> }) {
  const { values } = form;
  return (
    <Fieldset legend="When all of these match">
      <Stack>
        <form.Tags
          name="from"
          label="Sender"
          description="Addresses or *@domain; one of them has to match"
          placeholder="win@pills4u.example or *@pills4u.example"
          {...TAGS}
        />
        {values.from.length > 0 && (
          <form.Checkbox
            name="isAligned"
            label="Only if DMARC verifies the sender"
            description="The sender of an email is easy to forge. Require verification if the rule allows or routes mail."
          />
        )}
        <form.Tags
          name="to"
          label="Recipient"
          description="In To, Cc or the envelope"
          placeholder="support@example.com"
          {...TAGS}
        />
        <form.Tags name="subject" label="Subject has" placeholder="miracle pills" {...TAGS} />
        <form.Tags name="hasWords" label="Subject or body has" placeholder="act now" {...TAGS} />
        <form.Tags
          name="attachments"
          label="An attachment is"
          description="An extension, a name with *, or a content type"
          placeholder=".exe, invoice*.pdf or image/*"
          {...TAGS}
        />
        {SEGMENTS.map(([name, label, data]) => (
          <div key={name}>
            <Strong mb={4} id={name}>
              {label}
            </Strong>
            <SegmentedControl aria-labelledby={name} {...form.getInputProps(name)} data={data} />
          </div>
        ))}
        <Group grow preventGrowOverflow={false} align="flex-start">
          <form.Choices
            name="spam"
            label="The spam filter says"
            placeholder={values.spam.length === 0 ? 'anything' : ''}
            data={SPAM_VERDICTS}
          />
          <form.Number
            name="minSpamScore"
            label="Least spam score"
            placeholder="any"
            min={-1000}
            max={1000}
            allowDecimal
            decimalScale={2}
          />
        </Group>
        <Group grow preventGrowOverflow={false} align="flex-start">
          {CHECKS.map(([name, label]) => (
            <form.Choices
              key={name}
              name={name}
              label={`${label} is`}
              placeholder={values[name].length === 0 ? 'anything' : ''}
              data={RESULTS}
            />
          ))}
        </Group>
      </Stack>
    </Fieldset>
  );
}

const BACKTEST = mutation(
  'backtestGuardRule',
  `
    backtest {
      since scannedCount matchedCount decidedCount isComplete stoppedAt
      examples { isDecisive matches { criterion value } email { id subject createdAt from { name address } } }
    }
  `,
);
type Backtest = PayloadOf<ResultOf<typeof BACKTEST>>['backtest'];

const DAYS = 30;

/** What the rule in the form would have done with the mail of the last 30 days. Changes nothing. */
function BacktestPanel({ input }: { input: ReturnType<typeof writeInput> }) {
  const { act, isBusy, problem } = useAct(BACKTEST, { quiet: true });
  const [backtest, setBacktest] = useState<Backtest | null>(null);
  /** the criteria that were tested */
  const [tested, setTested] = useState('');
  const run = async () => {
    const { action, config, priority, type } = input;
    const { payload } = await act({
      action: action ?? { action: 'BLOCK' },
      config,
      priority: priority ?? 0,
      type,
      days: DAYS,
      limit: 20,
    });
    setBacktest(payload?.backtest ?? null);
    setTested(JSON.stringify(config));
  };
  return (
    <Section title="Back-test">
      <Hint>Shows what this rule would have done with emails of the last {DAYS} days. Changes nothing.</Hint>
      <QuietButton w="fit-content" label="Run back-test" icon="history" loading={isBusy} onClick={() => void run()} />
      <Stack gap="sm" aria-live="polite" data-backtest={backtest?.matchedCount}>
        {isBusy && <Loader size="sm" aria-label="Running the back-test" />}
        <Trouble text={problem?.message} title="The back-test failed" />
        {backtest !== null && (
          <>
            {tested !== JSON.stringify(input.config) && <Strong>The rule has changed. Run the back-test again.</Strong>}
            <Small>
              It would have matched <b>{formatCount(backtest.matchedCount)}</b> of {formatCount(backtest.scannedCount)}{' '}
              emails, and decided on <b>{formatCount(backtest.decidedCount)}</b> of them beside your other rules.
              {!backtest.isComplete && ' The time limit was reached before older emails were checked.'}
            </Small>
            {backtest.examples.length > 0 && (
              <PlainList gap="xs">
                {backtest.examples.map((example, at) => (
                  <BacktestExample key={example.email?.id ?? at} example={example} />
                ))}
              </PlainList>
            )}
          </>
        )}
      </Stack>
    </Section>
  );
}

function BacktestExample({ example: { email, matches, isDecisive } }: { example: Backtest['examples'][number] }) {
  return (
    <li>
      {email === null ? (
        <Small>Deleted email</Small>
      ) : (
        <SmallLink href={`/emails/${email.id}`} fw={600} className="postroom-wrap">
          {email.subject || '(no subject)'}
        </SmallLink>
      )}
      <Fine className="postroom-wrap">
        {email !== null && (
          <>
            {email.from.name ?? email.from.address}, <RelativeTime at={email.createdAt} />:{' '}
          </>
        )}
        {matches.map(({ criterion, value }) => `${criterion} “${value}”`).join(', ')}
        {!isDecisive && '; another rule decides first'}
      </Fine>
    </li>
  );
}
