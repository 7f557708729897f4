import {
  Anchor,
  Badge,
  Code,
  Group,
  Paper,
  SegmentedControl,
  Skeleton,
  Stack,
  Switch,
  Table,
  Text,
  TextInput,
  VisuallyHidden,
} from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { TypedDocumentNode } from 'urql';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { Block, CopyButton } from '../../parts/command.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { MailFrame } from '../../parts/mail-frame.tsx';
import { ErrorNote } from '../../parts/page.tsx';
import { CautionAlert, Fine, Hint, Small, Strong } from '../../parts/text.tsx';
import { counted } from '../../parts/words.ts';
import { CHECKS, HEADERS, TEXT } from './email-documents.ts';
import { formatSize } from './email-words.ts';

/** Loads one part of an email when it is shown, and again after each event of that email. */
export function EmailPart<Email, More extends Record<string, unknown> = Record<string, never>>(props: {
  id: string;
  query: TypedDocumentNode<{ email: Email | null }, { id: string } & More>;
  /** variables of the query besides the id */
  more?: More;
  children: (email: Email) => ReactNode;
}) {
  const { id, query, more, children } = props;
  const { data, error, isLoading, refresh } = useLiveQuery({
    query,
    variables: { id, ...more } as { id: string } & More,
    kinds: 'all',
    concerns: ({ emailId }) => emailId === id,
  });
  return (
    <Stack gap="sm">
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {isLoading && <Skeleton height={180} aria-label="Loading" role="status" />}
      {data?.email != null && children(data.email)}
    </Stack>
  );
}

/** Bytes. A longer source can be downloaded but is not shown. */
const MAX_SHOWN_BYTES = 1_000_000;

const SOURCE = graphql(`
  query DashboardEmailSource($id: ID!, $bytes: Int!) {
    email(id: $id) { id size rawUrl rawSource(maxBytes: $bytes) { text isCut } }
  }
`);

/** Widths of common screens in pixels. */
const WIDTHS = [
  { value: 'page', label: 'Page width', width: null },
  { value: 'phone', label: 'Phone', width: 375 },
  { value: 'tablet', label: 'Tablet', width: 768 },
  { value: 'desktop', label: 'Desktop', width: 1280 },
] as const;

/** The HTML body in a sandbox that runs no scripts, at the width of a chosen screen. */
export function HtmlTab({ id, subject }: { id: string; subject: string }) {
  const [screen, setScreen] = useState<string>('page');
  const width = WIDTHS.find(({ value }) => value === screen)?.width ?? null;
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <SegmentedControl
          size="xs"
          aria-label="Preview width"
          data={WIDTHS.map(({ value, label }) => ({ value, label }))}
          value={screen}
          onChange={setScreen}
        />
        <Fine role="status">{width === null ? '' : `${width} pixels wide`}</Fine>
      </Group>
      <Paper withBorder p="xs">
        <MailFrame emailId={id} title={`HTML of “${subject}”`} width={width} />
      </Paper>
    </Stack>
  );
}

/** The plain text body, complete or without quoted text. */
export function TextTab({ id }: { id: string }) {
  const [isClean, setClean] = useState(false);
  return (
    <EmailPart id={id} query={TEXT}>
      {({ content: { text, cleanedText, parseError, isTruncated } }) => {
        const shown = isClean ? cleanedText : text;
        return (
          <>
            {parseError !== null && (
              <CautionAlert title="This email could not be parsed">{parseError} The raw source is whole.</CautionAlert>
            )}
            {isTruncated && (
              <CautionAlert title="The text is truncated">
                The text is too long to show. The Raw tab has the whole email.
              </CautionAlert>
            )}
            <Group justify="space-between">
              <Switch
                label="Hide quoted text and signature"
                checked={isClean}
                onChange={({ currentTarget }) => setClean(currentTarget.checked)}
                disabled={cleanedText === null}
              />
              {shown !== null && <CopyButton text={shown} label="Copy text" />}
            </Group>
            {shown === null ? (
              <Text c="dimmed">This email has no plain text. See the HTML tab.</Text>
            ) : (
              <Block text={shown} label="Plain text" />
            )}
          </>
        );
      }}
    </EmailPart>
  );
}

/** The raw source, if it is still stored and not too long. */
export function RawTab({ id }: { id: string }) {
  return (
    <EmailPart id={id} query={SOURCE} more={{ bytes: MAX_SHOWN_BYTES }}>
      {({ rawSource, rawUrl, size }) =>
        rawSource === null || rawUrl === null ? (
          <Text c="dimmed">The source of this email is not stored.</Text>
        ) : (
          <Stack gap="sm">
            <Group justify="space-between">
              <Hint>
                {size === null ? '' : formatSize(size)}
                {rawSource.isCut
                  ? `, the first ${formatSize(MAX_SHOWN_BYTES)} are shown. Download the source to see all of it.`
                  : ''}
              </Hint>
              <Group gap="xs">
                <CopyButton text={rawSource.text} label={rawSource.isCut ? 'Copy shown part' : 'Copy source'} />
                <QuietButton
                  label="Download"
                  icon="download"
                  href={new URL(rawUrl).pathname}
                  download={`${id}.eml`}
                  size="xs"
                />
              </Group>
            </Group>
            <Block text={rawSource.text} label="Raw source" />
          </Stack>
        )
      }
    </EmailPart>
  );
}

/** The headers in their original order, with a filter. */
export function HeadersTab({ id }: { id: string }) {
  const [word, setWord] = useState('');
  return (
    <EmailPart id={id} query={HEADERS}>
      {({ content: { headers } }) => {
        const wanted = word.trim().toLowerCase();
        const shown = headers.filter(({ name, value }) => `${name}: ${value}`.toLowerCase().includes(wanted));
        return (
          <>
            <TextInput
              label="Filter header fields"
              placeholder="received, dkim, example.com"
              value={word}
              onChange={({ currentTarget }) => setWord(currentTarget.value)}
              maw={420}
            />
            <Hint role="status">
              {shown.length} of {headers.length} fields
            </Hint>
            <Table.ScrollContainer minWidth={320} tabIndex={0} role="region" aria-label="Header fields">
              <Table verticalSpacing={4} layout="fixed" withRowBorders>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th w="30%">Name</Table.Th>
                    <Table.Th>Value</Table.Th>
                    <Table.Th w={48}>
                      <VisuallyHidden>Copy</VisuallyHidden>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {shown.map(({ name, value }, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a name may occur several times
                    <Table.Tr key={`${at} ${name}`}>
                      <Table.Td style={{ verticalAlign: 'top' }} className="postroom-wrap">
                        <Strong ff="monospace">{name}</Strong>
                      </Table.Td>
                      <Table.Td className="postroom-wrap">
                        <Small ff="monospace">{value}</Small>
                      </Table.Td>
                      <Table.Td style={{ verticalAlign: 'top' }}>
                        <CopyButton text={value} label={`Copy ${name}`} />
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          </>
        );
      }}
    </EmailPart>
  );
}

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
            <Small role="status">
              {`${summarizeIssues(checks.issues)} The HTML has ${formatSize(checks.htmlSizeBytes)}.`}
              {checks.isPartial ? ' Parts of it are too long or too complex to check.' : ''}
            </Small>
            {checks.issues.length > 0 && (
              <Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Issues">
                {checks.issues.map((issue) => (
                  <IssueRow key={`${issue.kind} ${issue.title}`} issue={issue} />
                ))}
              </Stack>
            )}
            <Fine>
              {'Support of mail clients: data of '}
              <Anchor href="https://www.caniemail.com" target="_blank" rel="noreferrer" underline="always">
                caniemail.com
              </Anchor>
              {`, ${checks.dataVersion}.`}
            </Fine>
          </Stack>
        )
      }
    </EmailPart>
  );
}

function summarizeIssues(issues: readonly Issue[]): string {
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
          <Badge variant="outline" color={isError ? 'red' : 'yellow'} size="sm" c="var(--mantine-color-text)">
            {isError ? 'Error' : 'Warning'}
          </Badge>
          <Strong className="postroom-wrap">
            {url === null ? (
              title
            ) : (
              <Anchor href={url} target="_blank" rel="noreferrer" inherit underline="always">
                {title}
              </Anchor>
            )}
          </Strong>
          {count > 1 && <Fine>{`${count} times`}</Fine>}
        </Group>
        <Small>{detail.replaceAll('`', '')}</Small>
        {unsupportedBy.length > 0 && (
          <Fine>
            {`Not supported: ${unsupportedBy.join(', ')}.`}
            {partlySupportedBy.length > 0 ? ` Supported in part: ${partlySupportedBy.join(', ')}.` : ''}
          </Fine>
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
