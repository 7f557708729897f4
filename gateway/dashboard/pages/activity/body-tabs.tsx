import { Alert, Button, Group, Paper, SegmentedControl, Stack, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { graphql } from '../../graphql.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { IconDownload } from '../../parts/icons.ts';
import { MailFrame } from '../../parts/mail-frame.tsx';
import { Block } from './block.tsx';
import { TEXT } from './email-documents.ts';
import { EmailPart } from './email-part.tsx';
import { sizeOf } from './email-words.ts';

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
        <Text size="xs" c="dimmed" role="status">
          {width === null ? '' : `${width} pixels wide`}
        </Text>
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
              <Alert color="orange" variant="outline" title="This email could not be parsed">
                {parseError} The raw source is whole.
              </Alert>
            )}
            {isTruncated && (
              <Alert color="orange" variant="outline" title="The text is truncated">
                The text is too long to show. The Raw tab has the whole email.
              </Alert>
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
              <Text size="sm" c="dimmed">
                {size === null ? '' : sizeOf(size)}
                {rawSource.isCut
                  ? `, the first ${sizeOf(MAX_SHOWN_BYTES)} are shown. Download the source to see all of it.`
                  : ''}
              </Text>
              <Group gap="xs">
                <CopyButton text={rawSource.text} label={rawSource.isCut ? 'Copy shown part' : 'Copy source'} />
                <Button
                  component="a"
                  href={new URL(rawUrl).pathname}
                  download={`${id}.eml`}
                  variant="default"
                  size="xs"
                  leftSection={<IconDownload size={16} aria-hidden />}
                >
                  Download
                </Button>
              </Group>
            </Group>
            <Block text={rawSource.text} label="Raw source" />
          </Stack>
        )
      }
    </EmailPart>
  );
}
