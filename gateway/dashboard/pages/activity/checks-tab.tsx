import { Anchor, Badge, Code, Group, Paper, Stack, Text } from '@mantine/core';
import type { ResultOf } from '../../graphql.ts';
import { counted } from '../../parts/counted.ts';
import { CHECKS } from './email-documents.ts';
import { EmailPart } from './email-part.tsx';
import { sizeOf } from './email-words.ts';

type Checks = NonNullable<ResultOf<typeof CHECKS>['email']>['checks'];
type Issue = Checks['issues'][number];

/** What recipients of an email may not see as its author meant it. */
export function ChecksTab({ id }: { id: string }) {
  return (
    <EmailPart id={id} query={CHECKS}>
      {({ checks }) =>
        checks.htmlSizeBytes === null ? (
          <Text c="dimmed">This email has no HTML to check.</Text>
        ) : (
          <Stack gap="sm">
            <Text size="sm" role="status">
              {`${summaryOf(checks.issues)} The HTML has ${sizeOf(checks.htmlSizeBytes)}.`}
              {checks.isPartial ? ' Parts of it are too long or too complex to check.' : ''}
            </Text>
            {checks.issues.length > 0 && (
              <Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Issues">
                {checks.issues.map((issue) => (
                  <IssueRow key={`${issue.kind} ${issue.title}`} issue={issue} />
                ))}
              </Stack>
            )}
            <Text size="xs" c="dimmed">
              {'Support of mail clients: data of '}
              <Anchor href="https://www.caniemail.com" target="_blank" rel="noreferrer" underline="always">
                caniemail.com
              </Anchor>
              {`, ${checks.dataVersion}.`}
            </Text>
          </Stack>
        )
      }
    </EmailPart>
  );
}

function summaryOf(issues: readonly Issue[]): string {
  if (issues.length === 0) return 'No issues found.';
  const errors = issues.filter(({ severity }) => severity === 'ERROR').length;
  return `${counted(errors, 'error')} and ${counted(issues.length - errors, 'warning')}.`;
}

function IssueRow({ issue }: { issue: Issue }) {
  const { severity, title, detail, count, examples, unsupportedBy, partlySupportedBy, url } = issue;
  const isError = severity === 'ERROR';
  return (
    <Paper component="li" withBorder p="sm">
      <Stack gap={4}>
        <Group gap="xs">
          <Badge variant="outline" color={isError ? 'red' : 'yellow'} size="sm" tt="none" c="var(--mantine-color-text)">
            {isError ? 'Error' : 'Warning'}
          </Badge>
          <Text size="sm" fw={600} className="postroom-wrap">
            {url === null ? (
              title
            ) : (
              <Anchor href={url} target="_blank" rel="noreferrer" inherit underline="always">
                {title}
              </Anchor>
            )}
          </Text>
          {count > 1 && (
            <Text size="xs" c="dimmed">
              {`${count} times`}
            </Text>
          )}
        </Group>
        <Text size="sm">{detail.replaceAll('`', '')}</Text>
        {unsupportedBy.length > 0 && (
          <Text size="xs" c="dimmed">
            {`Not supported: ${unsupportedBy.join(', ')}.`}
            {partlySupportedBy.length > 0 ? ` Supported in part: ${partlySupportedBy.join(', ')}.` : ''}
          </Text>
        )}
        {examples.length > 0 && (
          <Group gap={6}>
            {examples.map((example) => (
              <Code key={example} className="postroom-wrap">
                {example}
              </Code>
            ))}
          </Group>
        )}
      </Stack>
    </Paper>
  );
}
