import { Group, Input, Skeleton, Textarea } from '@mantine/core';
import { type ReactNode, useEffect, useId, useImperativeHandle, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { fillSnippet, type SnippetValues } from '../../../core/sending/snippet.ts';
import { QuietButton } from '../parts/controls.tsx';
import { Small } from '../parts/text.tsx';
import { FieldComing } from '../shell/keys.ts';
import { later } from '../shell/loading.tsx';
import { rememberMode } from './browser-settings.ts';
import { SNIPPETS } from './composer-documents.ts';
import { htmlOfText, isFormatted } from './mail-html.ts';
import type { InsertText, RichTextProps } from './rich-text.tsx';
import { SIGNATURE_START } from './signature.ts';

const SnippetMenu = later(async () => (await import('./snippet-menu.tsx')).SnippetMenu);
const RichText = later(
  async () => (await import('./rich-text.tsx')).RichText,
  ({ isFocused, isTall }) => (
    <>
      {isFocused && <FieldComing cancel={() => undefined} />}
      <Skeleton h={isTall ? 300 : 170} />
    </>
  ),
);

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
  /** the values of the placeholders of snippets */
  snippetValues: SnippetValues;
}

/** The message, as rich or plain text. The browser remembers which. */
export function MessageField(props: MessageFieldProps) {
  const { label, text, html, onChange, error, isFocused, canSwitch, snippetValues, ...rich } = props;
  const [{ data }] = useQuery({ query: SNIPPETS, requestPolicy: 'cache-and-network' });
  const snippets = data?.snippets ?? [];
  // How the list of snippets was opened: by a slash, which the snippet replaces, or by the button.
  const [snippetsBy, setSnippetsBy] = useState<'slash' | 'button' | null>(null);
  // Until the list is there, what is typed is kept for it.
  const [isOpening, setOpening] = useState(false);
  const insert = useRef<InsertText>(null);
  const onSlash = () => {
    if (snippets.length === 0) return;
    setOpening(true);
    setSnippetsBy('slash');
  };

  const [isAsking, setAsking] = useState(false);
  const [isSwitched, setSwitched] = useState(false);
  const wantsFocus = isFocused || isSwitched;
  const id = useId();
  const isPlain = html === null;
  const toPlain = () => {
    setAsking(false);
    setSwitched(true);
    rememberMode('plain');
    onChange({ text, html: null });
  };
  const toRich = () => {
    setSwitched(true);
    rememberMode('rich');
    onChange({ text, html: text === '' ? '' : htmlOfText(text) });
  };
  return (
    <div>
      <Group justify="space-between" mb={2}>
        <Input.Label labelElement={isPlain ? 'label' : 'div'} {...(isPlain ? { htmlFor: id } : {})}>
          {label}
        </Input.Label>
        <Group gap={6} ml="auto">
          {isOpening && <FieldComing cancel={() => setSnippetsBy(null)} />}
          <SnippetMenu
            snippets={snippets}
            shown={() => setOpening(false)}
            isOpen={snippetsBy !== null}
            setOpen={(isOpen) => setSnippetsBy(isOpen ? 'button' : null)}
            choose={(snippet) => insert.current?.(fillSnippet(snippet.text, snippetValues), snippetsBy === 'slash')}
            leave={(typed) => insert.current?.(snippetsBy === 'slash' ? typed : '', false)}
          />
          {canSwitch && (
            <QuietButton
              label={isPlain ? 'Use rich text' : 'Use plain text'}
              size="compact-xs"
              onClick={() => (isPlain ? toRich() : isFormatted(html) ? setAsking(true) : toPlain())}
            />
          )}
        </Group>
      </Group>
      {isAsking && (
        <Group gap="xs" mb={6} role="alert">
          <Small>Plain text has no formatting and no inline images. The text is kept.</Small>
          <QuietButton label="Remove formatting" size="compact-xs" onClick={toPlain} />
          <QuietButton label="Keep rich text" size="compact-xs" onClick={() => setAsking(false)} />
        </Group>
      )}
      {isPlain ? (
        <PlainText
          id={id}
          text={text}
          onChange={onChange}
          error={error}
          isFocused={wantsFocus}
          isTall={rich.isTall}
          insert={insert}
          onSlash={onSlash}
        />
      ) : (
        <RichText
          {...rich}
          label={label}
          value={html}
          onChange={(written, read) => onChange({ text: read, html: written })}
          error={error}
          isFocused={wantsFocus}
          insert={insert}
          onSlash={onSlash}
        />
      )}
    </div>
  );
}

type PlainTextProps = Pick<MessageFieldProps, 'text' | 'onChange' | 'error' | 'isFocused' | 'isTall'> &
  Pick<RichTextProps, 'insert' | 'onSlash'> & { id: string };

function PlainText({ id, text, onChange, error, isFocused, isTall, insert, onSlash }: PlainTextProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useImperativeHandle(insert, () => (inserted, replacesSlash) => {
    const area = field.current;
    if (area === null) return;
    area.focus();
    const start = area.selectionStart - (replacesSlash ? 1 : 0);
    area.setRangeText(inserted, Math.max(0, start), area.selectionEnd, 'end');
    onChange({ text: area.value, html: null });
  });
  useEffect(() => {
    if (!isFocused) return;
    const area = field.current;
    area?.focus();
    const end = area?.value.indexOf(SIGNATURE_START) ?? -1; // what was written goes on above it
    if (end !== -1) area?.setSelectionRange(end, end);
  }, [isFocused]);
  return (
    <Textarea
      id={id}
      autosize
      minRows={isTall ? 10 : 5}
      maxRows={24}
      ref={field}
      value={text}
      onChange={(event) => {
        const { value, selectionStart, selectionEnd } = event.currentTarget;
        onChange({ text: value, html: null });
        const isTyped = (event.nativeEvent as InputEvent).data === '/' && selectionStart === selectionEnd;
        if (isTyped && /(?:^|\n)\/$/.test(value.slice(0, selectionStart))) onSlash();
      }}
      error={error}
    />
  );
}
