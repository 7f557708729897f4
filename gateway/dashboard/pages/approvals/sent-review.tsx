import { Alert, Badge, Code, Group, List, Stack, Text, Title } from '@mantine/core';
import { Fragment } from 'react';
import type { ResultOf } from '../../graphql.ts';
import { counted } from '../../parts/counted.ts';
import { IconAlertTriangle } from '../../parts/icons.ts';
import type { WAITING_CONTENT } from './approval-documents.ts';
import style from './sent-review.module.css';

type Review = NonNullable<NonNullable<ResultOf<typeof WAITING_CONTENT>['email']>['review']>;
type Part = Review['parts'][number];
type Piece = Part['pieces'][number];
type UnseenKind = NonNullable<Piece['unseen']>['kind'];

const KINDS: Record<UnseenKind, string> = {
  HIDDEN: 'hidden',
  TINY: 'too small',
  SAME_COLOR: 'same color',
  OFF_SCREEN: 'off screen',
  SOME_READERS: 'some readers',
  COLLAPSED: 'folded',
  COMMENT: 'comment',
  ATTRIBUTE: 'attribute',
  CODE: 'not shown',
  INVISIBLE_CHARACTERS: 'invisible',
  GAP: 'gap',
};

/** What to look at before an email is approved. */
export function ReviewNotes({ review: { notes, parts, isTruncated } }: { review: Review }) {
  const pieces = parts.flatMap((part) => part.pieces);
  const unseen = pieces.filter((piece) => piece.unseen !== null && piece.unseen.kind !== 'COLLAPSED').length;
  if (notes.length === 0 && unseen === 0 && !isTruncated) return null;
  return (
    <Alert
      color="yellow"
      variant="outline"
      icon={<IconAlertTriangle aria-hidden />}
      title="Look at this before you approve"
    >
      <List size="sm" className="postroom-wrap">
        {unseen > 0 && (
          <List.Item>
            {unseen === 1
              ? '1 piece of text that readers do not see'
              : `${unseen} pieces of text that readers do not see`}
            , marked below
          </List.Item>
        )}
        {notes.map(({ kind, where, detail }) => (
          <List.Item key={`${kind} ${where} ${detail}`}>
            {where}: {detail}
          </List.Item>
        ))}
        {isTruncated && (
          <List.Item>The message is longer than shown here. Download it from its page to see all of it.</List.Item>
        )}
      </List>
    </Alert>
  );
}

/** All fields and parts of an email as it is sent. */
export function ReviewParts({ review: { fields, parts } }: { review: Review }) {
  return (
    <Stack gap="sm" component="section" aria-label="As it is sent">
      <Title order={2} size="h6">
        As it is sent
      </Title>
      {parts.map((part) => (
        <PartWords key={part.path ?? 'stray'} part={part} />
      ))}
      {/* Below what is said: those that an approver has to see are in the notes. */}
      <details>
        <Text component="summary" size="xs">
          {counted(fields.length, 'header field')}
        </Text>
        <dl className={style['fields']}>
          {fields.map(({ name, value }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes, and names repeat
            <Fragment key={index}>
              <Text component="dt" size="xs" c="dimmed">
                {name}
              </Text>
              <Text component="dd" size="xs">
                {value}
              </Text>
            </Fragment>
          ))}
        </dl>
      </details>
    </Stack>
  );
}

function PartWords({ part }: { part: Part }) {
  const { path, contentType, disposition, filename, sizeBytes, source, pieces } = part;
  const label = path === null ? 'Text outside the parts' : `Part ${path}`;
  const about = [contentType, disposition, filename, `${sizeBytes} bytes`].filter((each) => each !== null).join(', ');
  return (
    <Stack gap={4} component="section" aria-label={label}>
      <Text size="sm" fw={600} className="postroom-wrap">
        {label}{' '}
        <Text span size="xs" c="dimmed">
          {about}
        </Text>
      </Text>
      {pieces.length > 0 && (
        <div className={style['text']}>
          {pieces.map((piece, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes, and pieces repeat
            <PieceWords key={index} piece={piece} />
          ))}
        </div>
      )}
      {source !== null && contentType !== 'text/plain' && (
        <details>
          <Text component="summary" size="xs">
            Source
          </Text>
          <Code block className={style['source'] ?? ''}>
            {source}
          </Code>
        </details>
      )}
    </Stack>
  );
}

function PieceWords({ piece: { text, unseen, target } }: { piece: Piece }) {
  const address = target === null ? '' : ` (${target})`;
  if (unseen === null)
    return (
      <Text span size="sm">
        {target === null ? text : `${text}${address}`}
      </Text>
    );
  return (
    <Group
      gap={6}
      component="mark"
      bg="transparent"
      c="inherit"
      className={style['unseen'] ?? ''}
      data-unseen={unseen.kind}
    >
      <Badge size="xs" color="yellow" variant="outline" c="inherit" tt="none" title={unseen.detail}>
        {KINDS[unseen.kind]}
      </Badge>
      <Text span size="xs" c="dimmed">
        {unseen.detail}
      </Text>
      <Text span size="sm" className={style['text'] ?? ''}>
        {`${text.trim()}${address}`}
      </Text>
    </Group>
  );
}
