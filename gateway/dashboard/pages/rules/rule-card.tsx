import { ActionIcon, Anchor, Badge, Card, Group, Stack, Switch, Text, Tooltip } from '@mantine/core';
import { Link } from 'wouter';
import { formatCount } from '../../parts/counted.ts';
import { IconArrowDown, IconArrowUp } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useRight } from '../../shell/viewer.ts';
import { type Rule, UPDATE } from './rule-documents.ts';

/** A rule in the list; `move` moves it one place up (-1) or down (1). */
export function RuleCard({
  rule,
  place,
  isFirst,
  isLast,
  isMoving,
  move,
}: {
  rule: Rule;
  place: number;
  isFirst: boolean;
  isLast: boolean;
  isMoving: boolean;
  move: (by: -1 | 1) => void;
}) {
  const { act, isBusy } = useAct(UPDATE);
  const mayChange = useRight('policies');
  return (
    <Card withBorder padding="md" bg="var(--postroom-raised)" component="li">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Group gap="sm" wrap="nowrap" align="flex-start" flex={1} miw={220}>
          <Badge variant="default" circle size="lg" aria-label={`Number ${place}`}>
            {place}
          </Badge>
          <Stack gap={2}>
            <Anchor component={Link} href={`/rules/${rule.id}`} fw={600} className="postroom-wrap">
              {rule.name}
            </Anchor>
            <Text size="sm" className="postroom-wrap">
              <b>{actionInWords(rule)}</b> when {criteriaInWords(rule.config).join(', and ')}.
            </Text>
            <Text size="xs" c="dimmed">
              {rule.triggerCount === 0
                ? 'no matches yet'
                : `matched ${rule.triggerCount === 1 ? 'once' : `${formatCount(rule.triggerCount)} times`}`}
              {rule.lastTriggeredAt !== null && <RelativeTime at={rule.lastTriggeredAt} prefix="; last match " />}
            </Text>
          </Stack>
        </Group>
        <Group gap="xs" wrap="nowrap">
          <Switch
            aria-label={`${rule.name} is on`}
            checked={rule.isActive}
            disabled={isBusy || !mayChange}
            onChange={({ currentTarget }) => void act({ input: { id: rule.id, isActive: currentTarget.checked } })}
          />
          <Tooltip label="Move up">
            <ActionIcon
              {...needs('policies')}
              variant="default"
              aria-label={`Move ${rule.name} up`}
              disabled={isFirst || isMoving}
              onClick={() => move(-1)}
            >
              <IconArrowUp size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
          <Tooltip label="Move down">
            <ActionIcon
              {...needs('policies')}
              variant="default"
              aria-label={`Move ${rule.name} down`}
              disabled={isLast || isMoving}
              onClick={() => move(1)}
            >
              <IconArrowDown size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </Group>
      </Group>
    </Card>
  );
}

type Explicit = Extract<Rule['config'], { __typename: 'ExplicitGuardConfig' }>;
type Criterion = { operator: 'AND' | 'OR'; values: readonly string[] } | null;

/** Returns the criteria of a rule, one line each. */
function criteriaInWords(config: Rule['config']): string[] {
  if (config.__typename === 'PromptGuardConfig') return [`the model answers yes to “${cut(config.prompt)}”`];
  return [
    ...phrase('the sender is', config.from, config.from?.isAligned === true ? ', verified by DMARC' : ''),
    ...phrase('it is for', config.to),
    ...phrase('the subject has', config.subject),
    ...phrase('subject or body have', config.hasWords),
    ...phrase('an attachment is', config.attachments),
    ...(config.hasAttachment === null ? [] : [config.hasAttachment ? 'it has an attachment' : 'it has no attachment']),
    ...results(config),
    ...(config.injection === null
      ? []
      : [config.injection === 'REVIEW' ? 'it has text aimed at agents' : 'it has no text aimed at agents']),
    ...(config.spam === null
      ? []
      : [`the spam filter says ${config.spam.map((verdict) => verdict.toLowerCase().replace('_', ' ')).join(' or ')}`]),
    ...(config.minSpamScore === null ? [] : [`its spam score is at least ${config.minSpamScore}`]),
  ];
}

function phrase(begin: string, criterion: Criterion, end = ''): string[] {
  if (criterion === null) return [];
  const values = criterion.values.map((value) => `“${value}”`);
  const shown = values.slice(0, 4).join(criterion.operator === 'AND' ? ' and ' : ' or ');
  return [`${begin} ${shown}${values.length > 4 ? ` and ${values.length - 4} more` : ''}${end}`];
}

function results(config: Explicit): string[] {
  return (['spf', 'dkim', 'dmarc'] as const).flatMap((check) => {
    const wanted = config[check];
    return wanted === null
      ? []
      : [`${check.toUpperCase()} is ${wanted.map((result) => result.toLowerCase()).join(' or ')}`];
  });
}

/** Returns the action of a rule as text. */
function actionInWords({ action, endpoint }: Pick<Rule, 'action' | 'endpoint'>): string {
  switch (action) {
    case 'ALLOW':
      return 'Allow';
    case 'BLOCK':
      return 'Hold';
    case 'ROUTE':
      return endpoint === null ? 'Route to a deleted endpoint' : `Route to ${endpoint.name}`;
  }
}

function cut(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
