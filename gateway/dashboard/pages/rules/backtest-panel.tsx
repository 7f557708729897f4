import { Alert, Anchor, Button, Card, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { ResultOf } from '../../graphql.ts';
import { formatCount } from '../../parts/counted.ts';
import { IconHistory } from '../../parts/icons.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { useAct } from '../../parts/use-act.ts';
import { BACKTEST, type RuleInput } from './rule-documents.ts';

type Backtest = Extract<
  ResultOf<typeof BACKTEST>['backtestGuardRule'],
  { __typename: 'BacktestGuardRulePayload' }
>['backtest'];

const DAYS = 30;

/** What the rule in the form would have done with the mail of the last 30 days. Changes nothing. */
export function BacktestPanel({
  input,
  isTested,
  tell,
}: {
  input: RuleInput;
  isTested: boolean;
  tell: (isTested: boolean) => void;
}) {
  const { act, isBusy } = useAct(BACKTEST, { quiet: true });
  const [backtest, setBacktest] = useState<Backtest | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [of, setOf] = useState('');
  const run = async () => {
    const { action, config, priority, type } = input;
    const outcome = await act({
      input: { action: action ?? { action: 'BLOCK' }, config, priority: priority ?? 0, type, days: DAYS, limit: 20 },
    });
    setProblem(outcome.problem?.message ?? null);
    setBacktest(outcome.payload?.backtest ?? null);
    setOf(JSON.stringify(input.config));
    tell(outcome.problem === null);
  };
  const isOld = isTested && of !== JSON.stringify(input.config);
  return (
    <Card withBorder padding="lg" bg="var(--postroom-raised)" component="section" aria-labelledby="backtest-title">
      <Stack gap="sm">
        <Title order={2} id="backtest-title">
          Back-test
        </Title>
        <Text size="sm" c="dimmed">
          Shows what this rule would have done with emails of the last {DAYS} days. Changes nothing.
        </Text>
        <Group>
          <Button
            variant="default"
            leftSection={<IconHistory size={16} aria-hidden />}
            loading={isBusy}
            onClick={() => void run()}
          >
            Run back-test
          </Button>
        </Group>
        <Stack gap="sm" aria-live="polite" data-backtest={backtest === null ? undefined : backtest.matchedCount}>
          {isBusy && <Loader size="sm" aria-label="Running the back-test" />}
          {problem !== null && (
            <Alert color="red" variant="outline" title="The back-test failed">
              {problem}
            </Alert>
          )}
          {backtest !== null && (
            <>
              {isOld && (
                <Text size="sm" fw={600}>
                  The rule has changed. Run the back-test again.
                </Text>
              )}
              <Text size="sm">
                It would have matched <b>{formatCount(backtest.matchedCount)}</b> of{' '}
                {formatCount(backtest.scannedCount)} emails, and decided on <b>{formatCount(backtest.decidedCount)}</b>{' '}
                of them beside your other rules.
                {!backtest.isComplete && ' The time limit was reached before older emails were checked.'}
              </Text>
              {backtest.examples.length > 0 && (
                <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
                  {backtest.examples.map(({ email, matches, isDecisive }, at) => (
                    <li key={email?.id ?? at}>
                      {email === null ? (
                        <Text size="sm">Deleted email</Text>
                      ) : (
                        <Anchor
                          component={Link}
                          href={`/emails/${email.id}`}
                          size="sm"
                          fw={600}
                          className="postroom-wrap"
                        >
                          {email.subject || '(no subject)'}
                        </Anchor>
                      )}
                      <Text size="xs" c="dimmed" className="postroom-wrap">
                        {email !== null && (
                          <>
                            {email.from.name ?? email.from.address}, <RelativeTime at={email.createdAt} />:{' '}
                          </>
                        )}
                        {matches.map(({ criterion, value }) => `${criterion} “${value}”`).join(', ')}
                        {!isDecisive && '; another rule decides first'}
                      </Text>
                    </li>
                  ))}
                </Stack>
              )}
            </>
          )}
        </Stack>
      </Stack>
    </Card>
  );
}
