import {
  Button,
  Checkbox,
  CloseButton,
  FileButton,
  Group,
  Menu,
  Paper,
  Pill,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type ReactNode, useEffect, useState } from 'react';
import { useQuery } from 'urql';
import type { Schedule } from '../../../core/sending/schedule.ts';
import { fileField } from '../parts/buttons.tsx';
import { QuietButton } from '../parts/controls.tsx';
import { Icon } from '../parts/icons.ts';
import { MenuAction } from '../parts/menu-action.tsx';
import { Fine } from '../parts/text.tsx';
import { exactTime } from '../parts/words.ts';
import { type AttachedFile, MAX_CONTENT_BYTES, sizeText } from './attachments.ts';
import classes from './composer.module.css';
import { CONTACTS, type Original } from './composer-documents.ts';
import { addressIn, type ComposerMode, looksLikeMailbox, mailboxLine, refusalOfMailboxes, timeZone } from './draft.ts';
import { quoteOriginal } from './mail-html.ts';

/** Minimum number of characters for suggestions. */
const SEARCH_FROM = 2;
const TYPING_MS = 150;
const SHOWN = 8;

interface AddressFieldProps {
  label: string;
  /** value of the form field */
  value?: string[];
  onChange: (value: string[]) => void;
  /** told what is typed and no tag yet */
  onTyped: (text: string) => void;
  error?: ReactNode;
  isFirst?: boolean;
  /** whether it takes the focus when it appears: what is typed next is for it */
  isNext?: boolean;
  isRequired?: boolean;
}

/** Field for addresses, shown as tags. Suggests people with whom mail was exchanged. */
export function AddressField(props: AddressFieldProps) {
  const { label, value = [], onChange, onTyped, error, isFirst = false, isNext = false, isRequired = false } = props;
  const [typed, setTypedText] = useState('');
  const setTyped = (text: string) => {
    setTypedText(text);
    onTyped(text);
  };
  const [isOpen, setOpen] = useState(false);
  const [search] = useDebouncedValue(typed.trim(), TYPING_MS);
  const [{ data }] = useQuery({ query: CONTACTS, variables: { prefix: search }, pause: search.length < SEARCH_FROM });
  const taken = new Set(value.map((text) => addressIn(text).toLowerCase()));
  const people =
    search.length < SEARCH_FROM
      ? []
      : (data?.contacts ?? []).filter(({ address }) => !taken.has(address)).map(mailboxLine);
  const suggestions = [...new Set(people)].slice(0, SHOWN);
  return (
    <TagsInput
      label={label}
      value={value}
      onChange={(next) => onChange([...new Set(next.flatMap(splitPasted))])}
      searchValue={typed}
      onSearchChange={setTyped}
      data={suggestions}
      // An empty list would take the Esc that closes the composer.
      dropdownOpened={isOpen && suggestions.length > 0}
      onDropdownOpen={() => setOpen(true)}
      onDropdownClose={() => setOpen(false)}
      filter={({ options }) => options}
      renderPill={({ value: text = '', onRemove, disabled }) => (
        <Pill
          withRemoveButton
          disabled={disabled ?? false}
          {...(onRemove === undefined ? {} : { onRemove })}
          {...(looksLikeMailbox(text) ? {} : { bg: 'red.1', c: 'red.9', title: `"${text}" is not a valid address` })}
        >
          {text}
        </Pill>
      )}
      splitChars={[';']}
      // At once, and not only when the email is sent.
      error={error ?? refusalOfMailboxes(value)}
      required={isRequired}
      withAsterisk={false}
      data-autofocus={isFirst || undefined}
      // oxlint-disable-next-line jsx-a11y/no-autofocus -- the user has opened the field to type in it
      autoFocus={isNext}
      onKeyDown={(event) => {
        // A comma ends an address, but not a name in quotes.
        if (event.key === ',' && addressIn(typed).includes('@')) {
          event.preventDefault();
          onChange([...value, typed.trim()]);
          setTyped('');
        }
      }}
    />
  );
}

/** Splits a pasted list into addresses. Commas within quotes or names do not separate. */
function splitPasted(text: string): string[] {
  const parts = text.match(/(?:"(?:[^"\\]|\\.)*"|[^,;\n"])+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

interface AttachmentFieldProps {
  files: readonly AttachedFile[];
  add: (files: File[]) => void;
  remove: (id: string) => void;
  /** why the files cannot be sent; null: no problem */
  refusal: string | null;
}

/** Attachments of the email: selected here, dropped on the composer, or pasted. */
export function AttachmentField({ files, add, remove, refusal }: AttachmentFieldProps) {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return (
    <div>
      <Group gap="xs">
        <FileButton multiple onChange={add} inputProps={fileField('Files to attach')}>
          {(props) => (
            <Button {...props} size="xs" variant="default" leftSection={<Icon name="paperclip" size={16} />}>
              Attach files
            </Button>
          )}
        </FileButton>
        {files.length > 0 && <Fine>{`${sizeText(bytes)} of ${sizeText(MAX_CONTENT_BYTES)}`}</Fine>}
        {files.map(
          ({ id, name, size, contentId }) =>
            contentId === null && (
              <Paper key={id} withBorder px="xs" py={2} radius="sm">
                <Group gap={6} wrap="nowrap">
                  <Icon name="file" size={14} />
                  <Text size="xs" className="postroom-wrap">
                    {name}
                  </Text>
                  <Fine style={{ whiteSpace: 'nowrap' }}>{sizeText(size)}</Fine>
                  <CloseButton size="xs" aria-label={`Remove ${name}`} onClick={() => remove(id)} />
                </Group>
              </Paper>
            ),
        )}
      </Group>
      <Text size="xs" c="var(--mantine-color-error)" aria-live="polite" mt={refusal === null ? 0 : 4}>
        {refusal}
      </Text>
    </div>
  );
}

interface OriginalNoteProps {
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
        <Fine>
          {`The message from ${original.from.name ?? original.from.address} follows your text, with its sender, date and subject.`}
        </Fine>
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

/** Times of the menu, in words that the service reads in the time zone of the browser. */
const LATER = [
  ['In one hour', 'in 1 hour'],
  ['Tomorrow morning', 'tomorrow at 9am'],
  ['Monday morning', 'next Monday at 9am'],
] as const;

interface SendButtonProps {
  isBusy: boolean;
  isDisabled: boolean;
  /** whether the email has a send time */
  isScheduled: boolean;
  /** Sends now, or at a time in words. */
  send: (scheduledAt: string) => void;
  pickDate: () => void;
  /** when the conversation comes back unless someone replies, in words; empty: no reminder */
  remindAt: string;
  setReminder: (remindAt: string) => void;
}

/** Times of a reminder, in words that the service reads. */
const REMINDERS = [
  ['In 2 days', 'in 2 days'],
  ['In a week', 'in 7 days'],
  ['In a month', 'in 30 days'],
] as const;

/** Sends the email, or opens the menu of times to send it. */
export function SendButton(props: SendButtonProps) {
  const { isBusy, isDisabled, isScheduled, send, pickDate, remindAt, setReminder } = props;
  return (
    <Button.Group>
      <Button type="submit" loading={isBusy} disabled={isDisabled} leftSection={<Icon name="send" size={16} />}>
        {isScheduled ? 'Schedule' : 'Send'}
      </Button>
      <Menu position="top-start" withinPortal={false} withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button px={8} ml={1} disabled={isBusy || isDisabled} aria-label="Send later">
            <Icon name="chevron-down" size={16} />
          </Button>
        </Menu.Target>
        {/* Esc closes the menu, not the composer. */}
        <Menu.Dropdown onKeyDown={(event) => event.key === 'Escape' && event.stopPropagation()}>
          <MenuAction label={isScheduled ? 'Send now' : 'Send'} icon="send" onClick={() => send('')} />
          <Menu.Divider />
          <Menu.Label>Send later</Menu.Label>
          {LATER.map(([label, words]) => (
            <MenuAction key={words} label={label} icon="clock" onClick={() => send(words)} />
          ))}
          <MenuAction label="Pick a date" icon="calendar" onClick={pickDate} />
          <Menu.Divider />
          <Menu.Label>Remind me if no one replies</Menu.Label>
          {REMINDERS.map(([label, words]) => (
            <Menu.Item
              key={words}
              leftSection={words === remindAt ? <Icon name="check" size={16} /> : <Icon name="bell" size={16} />}
              onClick={() => setReminder(words === remindAt ? '' : words)}
            >
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Button.Group>
  );
}

/** A local date and time, as a field of the browser writes it. */
const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;
const REFUSALS = {
  'unknown time zone': 'Postroom does not know the time zone of this browser.',
  unreadable: 'This is not a valid time. Try "tomorrow at 9am", "in 2 hours" or "2026-02-01 09:00".',
  'too soon': 'Choose a time at least one minute from now.',
  'too late': 'Choose a time at most one year from now.',
};

/** Returns the scheduled instant, or why the text is not valid. */
function readMeaning(schedule: Schedule): ScheduleMeaning {
  if (schedule.refusal === null) return { at: schedule.at, refusal: null };
  if (schedule.refusal !== 'ambiguous') return { at: null, refusal: REFUSALS[schedule.refusal] };
  return { at: null, refusal: `This can mean ${schedule.readings.join(' or ')}. Enter one of these.` };
}

/** Parses a time like the service does. Null while it is empty or being parsed. */
type ScheduleMeaning = { at: Date | null; refusal: string | null };

interface ScheduleFieldProps {
  value: string;
  onChange: (value: string) => void;
  /** removes the send time and the fields */
  remove: () => void;
  error?: string | undefined;
}

/** Fields for the send time, by the calendar or in words; shows the resulting instant. */
export function ScheduleField({ value, onChange, remove, error }: ScheduleFieldProps) {
  const meaning = useMeaning(value);
  return (
    <div>
      <Group gap="xs" align="flex-end">
        <TextInput
          type="datetime-local"
          label="Date and time"
          value={LOCAL.test(value) ? value : ''}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
        <TextInput
          label="Send at"
          description={`A date or words, in the time zone ${timeZone}`}
          placeholder="tomorrow at 9am"
          value={value}
          maxLength={200}
          onChange={(event) => onChange(event.currentTarget.value)}
          error={error ?? meaning?.refusal}
          data-autofocus
          flex={1}
        />
        <QuietButton label="Remove time" onClick={remove} />
      </Group>
      <Fine mt={4} aria-live="polite">
        {meaning?.at != null && `Will be sent ${exactTime(meaning.at.toISOString())}`}
      </Fine>
    </div>
  );
}

/** Parses the time with the code of the service, which is loaded on first use. */
function useMeaning(text: string): ScheduleMeaning | null {
  const [meaning, setMeaning] = useState<ScheduleMeaning | null>(null);
  useEffect(() => {
    let isCurrent = true;
    setMeaning(null);
    if (text.trim() === '') return;
    void import('../../../core/sending/schedule.ts').then(({ readSchedule }) => {
      if (isCurrent) setMeaning(readMeaning(readSchedule(text, timeZone, new Date())));
    });
    return () => {
      isCurrent = false;
    };
  }, [text]);
  return meaning;
}
