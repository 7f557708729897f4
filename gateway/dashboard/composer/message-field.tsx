import { Button, Group, Input, Skeleton, Text, Textarea } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react';
import { FieldComing } from '../shell/keys.ts';
import { rememberMode } from './browser-settings.ts';
import { htmlOfText, isFormatted } from './mail-html.ts';
import type { RichTextProps } from './rich-text.tsx';

const RichText = lazy(async () => ({ default: (await import('./rich-text.tsx')).RichText }));

export interface MessageFieldProps
  extends Pick<RichTextProps, 'addImage' | 'room' | 'showImage' | 'isFocused' | 'isTall'> {
  label: string;
  text: string;
  /** null: plain text */
  html: string | null;
  onChange: (message: { text: string; html: string | null }) => void;
  error?: ReactNode;
  /** whether the user can choose between rich and plain text */
  canSwitch: boolean;
}

/** The message, as rich or plain text. The browser remembers which. */
export function MessageField({ label, text, html, onChange, error, isFocused, canSwitch, ...rich }: MessageFieldProps) {
  const [isAsking, setAsking] = useState(false);
  const [wantsFocus, setWantsFocus] = useState(isFocused);
  const id = useId();
  const isPlain = html === null;
  const toPlain = () => {
    setAsking(false);
    setWantsFocus(true);
    rememberMode('plain');
    onChange({ text, html: null });
  };
  const toRich = () => {
    setWantsFocus(true);
    rememberMode('rich');
    onChange({ text, html: text === '' ? '' : htmlOfText(text) });
  };
  return (
    <div>
      <Group justify="space-between" mb={2}>
        <Input.Label labelElement={isPlain ? 'label' : 'div'} {...(isPlain ? { htmlFor: id } : {})}>
          {label}
        </Input.Label>
        {canSwitch && (
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => (isPlain ? toRich() : isFormatted(html) ? setAsking(true) : toPlain())}
          >
            {isPlain ? 'Use rich text' : 'Use plain text'}
          </Button>
        )}
      </Group>
      {isAsking && (
        <Group gap="xs" mb={6} role="alert">
          <Text size="sm">Plain text has no formatting and no inline images. The text is kept.</Text>
          <Button size="compact-xs" variant="default" onClick={toPlain}>
            Remove formatting
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => setAsking(false)}>
            Keep rich text
          </Button>
        </Group>
      )}
      {isPlain ? (
        <PlainText id={id} text={text} onChange={onChange} error={error} isFocused={wantsFocus} isTall={rich.isTall} />
      ) : (
        <Suspense fallback={<Waiting isFocused={wantsFocus} height={rich.isTall ? 300 : 170} />}>
          <RichText
            {...rich}
            label={label}
            value={html}
            onChange={(written, read) => onChange({ text: read, html: written })}
            error={error}
            isFocused={wantsFocus}
          />
        </Suspense>
      )}
    </div>
  );
}

/** In place of the editor while its code loads. */
function Waiting({ isFocused, height }: { isFocused: boolean; height: number }) {
  return (
    <>
      {isFocused && <FieldComing cancel={() => undefined} />}
      <Skeleton h={height} />
    </>
  );
}

function PlainText({
  id,
  text,
  onChange,
  error,
  isFocused,
  isTall,
}: Pick<MessageFieldProps, 'text' | 'onChange' | 'error' | 'isFocused' | 'isTall'> & { id: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (!isFocused) return;
    field.current?.focus();
    // Above the signature of a new message.
    if (field.current?.value.startsWith('\n') === true) field.current.setSelectionRange(0, 0);
  }, [isFocused]);
  return (
    <Textarea
      id={id}
      autosize
      minRows={isTall ? 10 : 5}
      maxRows={24}
      ref={field}
      value={text}
      onChange={(event) => onChange({ text: event.currentTarget.value, html: null })}
      error={error}
    />
  );
}
