import { Alert, Button, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconPlus, IconShieldHalf } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { notify } from '../../parts/notify.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { useAct } from '../../parts/use-act.ts';
import { RuleCard } from './rule-card.tsx';
import { RULES, UPDATE } from './rule-documents.ts';
import { prioritiesOf } from './rule-order.ts';

/** Rules in the order of evaluation, with their criteria and how often each matched. */
export function RulesPage() {
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: RULES,
    variables: {},
    kinds: ['EMAIL_BLOCKED', 'EMAIL_HELD', 'EMAIL_RECEIVED'],
    types: ['GuardRule'],
    gatherMs: 2_000,
  });
  const { act } = useAct(UPDATE);
  const [isMoving, setMoving] = useState(false);
  const rules = data?.guardRules.edges.map(({ node }) => node) ?? [];
  const limits = data?.guardLimits;

  const move = async (from: number, to: number) => {
    setMoving(true);
    const order = [...rules];
    const [moved] = order.splice(from, 1);
    if (moved !== undefined) order.splice(to, 0, moved);
    for (const { id, priority } of prioritiesOf(order, to, limits?.maxPriority ?? 1_000))
      if ((await act({ input: { id, priority } })).problem !== null) return setMoving(false);
    setMoving(false);
    notify({ message: `${moved?.name} is now rule ${to + 1}.`, color: 'green' });
  };
  return (
    <>
      <PageHeader
        title="Guard rules"
        about="Postroom checks received mail against these rules from the top. The first match decides."
      >
        <Button
          {...needs('policies')}
          component={Link}
          href="/rules/new"
          leftSection={<IconPlus size={16} aria-hidden />}
        >
          Create rule
        </Button>
      </PageHeader>
      {error !== undefined && data === undefined && <ErrorNote error={error} retry={refresh} />}
      {isLoading && <Skeleton height={240} />}
      {data !== undefined && rules.length === 0 && (
        <EmptyState
          icon={IconShieldHalf}
          title="No guard rules yet"
          about="A rule holds, allows or routes mail by sender, words, attachments, or the results of SPF, DKIM and DMARC. Before you save it, test it with the emails of the last 30 days."
        >
          <Button {...needs('policies')} component={Link} href="/rules/new">
            Create rule
          </Button>
        </EmptyState>
      )}
      <Stack gap="sm" component="ol" p={0} m={0} style={{ listStyle: 'none' }}>
        {rules.map((rule, at) => (
          <RuleCard
            key={rule.id}
            rule={rule}
            place={at + 1}
            isFirst={at === 0}
            isLast={at === rules.length - 1}
            isMoving={isMoving}
            move={(by) => void move(at, at + by)}
          />
        ))}
      </Stack>
      {data?.guardRules.pageInfo.hasNextPage === true && (
        <Alert mt="md" variant="outline" color="gray" title="The first 90 rules">
          There are more. They are all asked; the graph lists them.
        </Alert>
      )}
      {rules.length > 0 && (
        <Text size="sm" c="dimmed" mt="md">
          Mail that matches no rule is delivered to the endpoint of its address.
        </Text>
      )}
    </>
  );
}
