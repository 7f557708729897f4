import { Alert, Badge, Card, Group, Stack, Switch, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { CreateButton } from '../../parts/buttons.tsx';
import { IconButton } from '../../parts/controls.tsx';
import { RowName } from '../../parts/list.tsx';
import { notify } from '../../parts/notify.tsx';
import { EmptyState, Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Loaded } from '../../parts/section.tsx';
import { Fine, Hint, Small } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { formatCount } from '../../parts/words.ts';
import { useRight } from '../../shell/viewer.ts';
import { RULES, type Rule, setPriorities, UPDATE_RULE } from './rule-values.ts';

/** Rules in the order of evaluation, with their criteria and how often each matched. */
export function RulesPage() {
  const query = useLiveQuery({
    query: RULES,
    kinds: ['EMAIL_BLOCKED', 'EMAIL_HELD', 'EMAIL_RECEIVED'],
    types: ['GuardRule'],
    gatherMs: 2_000,
  });
  const { act } = useAct(UPDATE_RULE);
  const [isMoving, setMoving] = useState(false);
  const add = <CreateButton label="Create rule" needed="policies" href="/rules/new" />;
  const move = async (rules: readonly Rule[], maxPriority: number, from: number, to: number) => {
    setMoving(true);
    const order = [...rules];
    const [moved] = order.splice(from, 1);
    if (moved !== undefined) order.splice(to, 0, moved);
    for (const { id, priority } of setPriorities(order, to, maxPriority))
      if ((await act({ id, priority })).problem !== null) return setMoving(false);
    setMoving(false);
    notify({ message: `${moved?.name} is now rule ${to + 1}.`, color: 'green' });
  };
  return (
    <Page
      title="Guard rules"
      about="Postroom checks received mail against these rules from the top. The first match decides."
      actions={add}
    >
      <Loaded query={query} height={240}>
        {({ guardRules: { edges, pageInfo }, guardLimits: { maxPriority } }) => {
          const rules = edges.map(({ node }) => node);
          if (rules.length === 0)
            return (
              <EmptyState
                icon="shield-half"
                title="No guard rules yet"
                about="A rule holds, allows or routes mail by sender, words, attachments, or the results of SPF, DKIM and DMARC. Before you save it, test it with the emails of the last 30 days."
              >
                {add}
              </EmptyState>
            );
          return (
            <>
              <Stack gap="sm" component="ol" p={0} m={0} style={{ listStyle: 'none' }}>
                {rules.map((rule, at) => (
                  <RuleCard
                    key={rule.id}
                    rule={rule}
                    place={at + 1}
                    count={rules.length}
                    isMoving={isMoving}
                    move={(by) => void move(rules, maxPriority, at, at + by)}
                  />
                ))}
              </Stack>
              {pageInfo.hasNextPage && (
                <Alert mt="md" variant="outline" color="gray" title="The first 90 rules">
                  There are more. They are all asked; the graph lists them.
                </Alert>
              )}
              <Hint mt="md">Mail that matches no rule is delivered to the endpoint of its address.</Hint>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

interface RuleCardProps {
  rule: Rule;
  /** from 1 */
  place: number;
  /** number of rules */
  count: number;
  isMoving: boolean;
  /** moves it one place up (-1) or down (1) */
  move: (by: -1 | 1) => void;
}

/** A rule in the list. */
function RuleCard({ rule, place, count, isMoving, move }: RuleCardProps) {
  const { act, isBusy } = useAct(UPDATE_RULE);
  const mayChange = useRight('policies');
  const { id, name, config, triggerCount, lastTriggeredAt, isActive } = rule;
  const moves = [
    { by: -1, word: 'up', icon: 'arrow-up', isLast: place === 1 },
    { by: 1, word: 'down', icon: 'arrow-down', isLast: place === count },
  ] as const;
  return (
    <Card withBorder padding="md" bg="var(--postroom-raised)" component="li">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Group gap="sm" wrap="nowrap" align="flex-start" flex={1} miw={220}>
          <Badge variant="default" circle size="lg" aria-label={`Number ${place}`}>
            {place}
          </Badge>
          <Stack gap={2}>
            <RowName href={`/rules/${id}`}>{name}</RowName>
            <Small className="postroom-wrap">
              <b>{describeAction(rule)}</b> when {describeCriteria(config).join(', and ')}.
            </Small>
            <Fine>
              {triggerCount === 0
                ? 'no matches yet'
                : `matched ${triggerCount === 1 ? 'once' : `${formatCount(triggerCount)} times`}`}
              {lastTriggeredAt !== null && <RelativeTime at={lastTriggeredAt} prefix="; last match " />}
            </Fine>
          </Stack>
        </Group>
        <Group gap="xs" wrap="nowrap">
          <Switch
            aria-label={`${name} is on`}
            checked={isActive}
            disabled={isBusy || !mayChange}
            onChange={({ currentTarget }) => void act({ id, isActive: currentTarget.checked })}
          />
          {moves.map(({ by, word, icon, isLast }) => (
            <Tooltip key={word} label={`Move ${word}`}>
              <IconButton
                label={`Move ${name} ${word}`}
                icon={icon}
                iconSize={16}
                needed="policies"
                variant="default"
                disabled={isLast || isMoving}
                onClick={() => move(by)}
              />
            </Tooltip>
          ))}
        </Group>
      </Group>
    </Card>
  );
}

type Criterion = { operator: 'AND' | 'OR'; values: readonly string[] } | null;

/** Returns the criteria of a rule, one line each. */
function describeCriteria(config: Rule['config']): string[] {
  if (config.__typename === 'PromptGuardConfig') return [`the model answers yes to “${truncate(config.prompt)}”`];
  const { from, to, subject, hasWords, attachments, hasAttachment, injection, spam, minSpamScore } = config;
  const checks = (['spf', 'dkim', 'dmarc'] as const).map((check) => {
    const results = config[check]?.map((result) => result.toLowerCase()).join(' or ');
    return results === undefined ? null : `${check.toUpperCase()} is ${results}`;
  });
  const verdicts = spam?.map((verdict) => verdict.toLowerCase().replace('_', ' ')).join(' or ');
  return [
    describeCriterion('the sender is', from, from?.isAligned === true ? ', verified by DMARC' : ''),
    describeCriterion('it is for', to),
    describeCriterion('the subject has', subject),
    describeCriterion('subject or body have', hasWords),
    describeCriterion('an attachment is', attachments),
    hasAttachment === null ? null : hasAttachment ? 'it has an attachment' : 'it has no attachment',
    ...checks,
    injection === null
      ? null
      : injection === 'REVIEW'
        ? 'it has text aimed at agents'
        : 'it has no text aimed at agents',
    verdicts === undefined ? null : `the spam filter says ${verdicts}`,
    minSpamScore === null ? null : `its spam score is at least ${minSpamScore}`,
  ].filter((line) => line !== null);
}

/** Values of a criterion that are named. */
const SHOWN_VALUES = 4;

function describeCriterion(begin: string, criterion: Criterion, end = ''): string | null {
  if (criterion === null) return null;
  const values = criterion.values.map((value) => `“${value}”`);
  const shown = values.slice(0, SHOWN_VALUES).join(criterion.operator === 'AND' ? ' and ' : ' or ');
  const more = values.length > SHOWN_VALUES ? ` and ${values.length - SHOWN_VALUES} more` : '';
  return `${begin} ${shown}${more}${end}`;
}

/** Returns the action of a rule as text. */
function describeAction({ action, endpoint }: Rule): string {
  if (action === 'ROUTE') return endpoint === null ? 'Route to a deleted endpoint' : `Route to ${endpoint.name}`;
  return action === 'ALLOW' ? 'Allow' : 'Hold';
}

function truncate(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
