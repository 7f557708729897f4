import { Checkbox, Stack, Text } from '@mantine/core';
import { sizeText } from './attachments.ts';
import classes from './composer.module.css';
import type { Original } from './composer-documents.ts';
import type { ComposerMode } from './draft.ts';
import { quoteOriginal } from './quote-original.ts';

export interface OriginalNoteProps {
  mode: ComposerMode;
  original: Original;
  hasQuote: boolean;
  setQuote: (hasQuote: boolean) => void;
  hasFiles: boolean;
  setFiles: (hasFiles: boolean) => void;
}

/** Shows which parts of the original message are included. */
export function OriginalNote({ mode, original, hasQuote, setQuote, hasFiles, setFiles }: OriginalNoteProps) {
  if (mode === 'forward')
    return (
      <Stack gap={6}>
        <Text size="xs" c="dimmed">
          {`The message from ${original.from.name ?? original.from.address} follows your text, with its sender, date and subject.`}
        </Text>
        {original.attachments.length > 0 && (
          <Checkbox
            size="sm"
            checked={hasFiles}
            onChange={(event) => setFiles(event.currentTarget.checked)}
            label={`Include attachments: ${original.attachments.map(({ filename, size }) => `${filename} (${sizeText(size)})`).join(', ')}`}
          />
        )}
      </Stack>
    );
  const quote = quoteOriginal(original).text;
  if (quote === '') return null;
  return (
    <Stack gap={6}>
      <Checkbox
        size="sm"
        checked={hasQuote}
        onChange={(event) => setQuote(event.currentTarget.checked)}
        label="Include original message"
      />
      {hasQuote && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, and the keyboard has to get there
        <pre className={classes['quote']} tabIndex={0} role="region" aria-label="Quoted message">
          {quote}
        </pre>
      )}
    </Stack>
  );
}
