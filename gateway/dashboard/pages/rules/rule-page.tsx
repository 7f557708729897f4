import { Button, Skeleton } from '@mantine/core';
import { useQuery } from 'urql';
import { Link, useParams } from 'wouter';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconShieldOff } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { RULES } from './rule-documents.ts';
import { RuleForm } from './rule-form.tsx';

/** One rule: its criteria, its action, and its back-test. `new`: a rule to create. */
export function RulePage() {
  const { id } = useParams<{ id: string }>();
  const [{ data, error }, again] = useQuery({ query: RULES, variables: {}, requestPolicy: 'cache-and-network' });
  const isNew = id === 'new';
  const rule = data?.guardRules.edges.find(({ node }) => node.id === id)?.node;
  const title = isNew ? 'New guard rule' : (rule?.name ?? 'Guard rule');
  return (
    <>
      <PageHeader title={title} about="Test the rule with past emails before you save it." />
      {error !== undefined && data === undefined && (
        <ErrorNote error={error} retry={() => again({ requestPolicy: 'network-only' })} />
      )}
      {data === undefined && error === undefined && <Skeleton height={320} />}
      {data !== undefined && (isNew || rule !== undefined) && (
        <RuleForm
          key={id}
          rule={rule ?? null}
          hasModel={data.guardLimits.hasModel}
          maxPriority={data.guardLimits.maxPriority}
        />
      )}
      {data !== undefined && !isNew && rule === undefined && (
        <EmptyState icon={IconShieldOff} title="Rule not found" about="It was deleted, or the link is incorrect.">
          <Button component={Link} href="/rules" variant="default">
            All rules
          </Button>
        </EmptyState>
      )}
    </>
  );
}
