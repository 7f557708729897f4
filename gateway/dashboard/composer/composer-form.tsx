import {
  ActionIcon,
  Alert,
  Anchor,
  Autocomplete,
  Button,
  CloseButton,
  FileButton,
  Group,
  Kbd,
  Paper,
  Stack,
  Text,
  Textarea,
  TextInput,
  Tooltip,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconAlertTriangle, IconClock, IconFile, IconPaperclip, IconSend, IconTrash } from '@tabler/icons-react';
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react';
import { Link } from 'wouter';
import { randomId } from '../parts/random-id.ts';
import type { Problem } from '../parts/use-act.ts';
import { AddressField } from './address-field.tsx';
import { looksLikeMailbox, refusalOfMailboxes } from './address-text.ts';
import { type AttachedFile, MAX_CONTENT_BYTES, refusalOfFiles, sizeText } from './attachments.ts';
import classes from './composer.module.css';
import type { Original, SentEmail, StoredDraft } from './composer-documents.ts';
import { type ComposerMode, type Draft, draftInput, titleOf, valuesOf } from './draft.ts';
import { DraftState } from './draft-state.tsx';
import { OriginalNote } from './original-note.tsx';
import { quoteOriginal } from './quote-original.ts';
import { ScheduleField } from './schedule-field.tsx';
import { type DraftContent, useSavedDraft } from './use-saved-draft.ts';
import { useSending } from './use-sending.ts';

export interface ComposerFormProps {
  mode: ComposerMode;
  original: Original | null;
  senders: readonly string[];
  domains: readonly string[];
  /** the stored draft; null: none */
  stored: StoredDraft | null;
  first: Draft;
  /** called when the draft is stored for the first time */
  created: (id: string) => void;
  /** reads the draft again, without what is in the form */
  reload: () => void;
  close: () => void;
  sent?: ((email: SentEmail) => void) | undefined;
}

/** A draft is saved when the user pauses for this long. Milliseconds. */
const SAVE_AFTER_MS = 800;
const FIELDS = ['from', 'to', 'cc', 'bcc', 'subject', 'text', 'scheduledAt'];

/** Form to write an email. */
export function ComposerForm(props: ComposerFormProps) {
  const { mode, original, senders, domains, close, sent, created, reload } = props;
  const [{ stored, first }] = useState({ stored: props.stored, first: props.first });
  const fullQuote = original === null || mode === 'new' || mode === 'forward' ? '' : quoteOriginal(original);
  const [initial] = useState(() => (stored === null ? first : valuesOf(stored, first, fullQuote)));
  const [files, setFiles] = useState<readonly AttachedFile[]>(
    () => stored?.attachments.map(({ id, filename, size }) => ({ id, name: filename, size, file: null })) ?? [],
  );
  const [hasHtml, setHtml] = useState((stored?.html ?? '') !== '');
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isDragged, setDragged] = useState(false);
  const form = useForm<Draft>({
    initialValues: initial,
    validate: {
      from: (from) => (looksLikeMailbox(from) ? null : 'Enter one of your addresses'),
      to: (to) => (to.length === 0 ? 'Enter at least one recipient' : refusalOfMailboxes(to)),
      cc: refusalOfMailboxes,
      bcc: refusalOfMailboxes,
      text: (text) => (mode !== 'forward' && !hasHtml && text.trim() === '' ? 'Enter a message' : null),
    },
  });
  const { values } = form;
  const [hasCopies, setCopies] = useState(values.cc.length + values.bcc.length > 0);
  const [isScheduling, setScheduling] = useState(values.scheduledAt !== '');
  const isOpen = useRef(true);
  const draft = useSavedDraft(mode, original, stored, (id) => (isOpen.current ? created(id) : undefined));
  const { send, isBusy } = useSending(mode, original, draft);
  const quote = values.hasQuote ? fullQuote : '';
  const refusal = refusalOfFiles(files, values.text + quote);

  const text = useRef<HTMLTextAreaElement>(null);
  const isAnswer = mode === 'reply' || mode === 'reply-all';
  useEffect(() => {
    if (isAnswer) text.current?.focus();
  }, [isAnswer]);

  const contentOf = (written: Draft): DraftContent => ({
    input: draftInput(written, mode, fullQuote),
    files,
    dropsHtml: (stored?.html ?? '') !== '' && !hasHtml,
  });
  const key = JSON.stringify([values, files.map(({ id }) => id), hasHtml]);
  const [initialKey] = useState(key);
  const saveNow = useEffectEvent(() => {
    if (key !== initialKey && refusal === null) void draft.save(contentOf(values));
  });
  useEffect(() => {
    const timer = window.setTimeout(saveNow, SAVE_AFTER_MS);
    return () => window.clearTimeout(timer);
  }, [key]);
  // What was written last is saved when the composer is closed.
  const saveLast = useRef(() => undefined as unknown);
  saveLast.current = () => (key !== initialKey && refusal === null ? draft.save(contentOf(values)) : null);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
      void saveLast.current();
    };
  }, []);

  const add = (more: File[]) => {
    const added = more.map((file) => ({ id: randomId(), name: file.name, size: file.size, file }));
    if (mode !== 'forward') setFiles((now) => [...now, ...added]);
  };
  const submit = async (written: Draft) => {
    if (refusal !== null || isBusy) return;
    setProblem(null);
    const outcome = await send(contentOf(written));
    if (outcome === null) return;
    if (outcome.problem === null) {
      sent?.(outcome.email);
      return close();
    }
    const { fields } = outcome.problem;
    const own = Object.entries(fields).filter(([field]) => FIELDS.includes(field));
    form.setErrors(Object.fromEntries(own));
    if (own.some(([field]) => field === 'cc' || field === 'bcc')) setCopies(true);
    // Problems without a field are shown above the form.
    if (own.length === 0 || own.length < Object.keys(fields).length) setProblem(outcome.problem);
  };
  const discard = () => {
    void draft.remove();
    close();
  };
  const sendByKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.onSubmit((written) => void submit(written))();
  };
  const paste = (event: ClipboardEvent) => {
    const pasted = [...event.clipboardData.files];
    if (pasted.length === 0) return;
    event.preventDefault();
    add(pasted);
  };
  const drop = (event: DragEvent) => {
    setDragged(false);
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    add([...event.dataTransfer.files]);
  };

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a quicker way to what the buttons do, too
    <form
      className={classes['composer']}
      data-dragged={isDragged || undefined}
      onSubmit={form.onSubmit((written) => void submit(written))}
      onKeyDown={sendByKey}
      onPaste={paste}
      onDragOver={(event) => {
        if (mode === 'forward' || !event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setDragged(true);
      }}
      onDragLeave={() => setDragged(false)}
      onDrop={drop}
      noValidate
      aria-label={titleOf(mode)}
    >
      <Stack gap="sm">
        {problem !== null && <ProblemNote problem={problem} />}
        {hasHtml && (
          <Alert color="yellow" variant="outline" title="This draft has HTML">
            <Stack gap={6} align="flex-start">
              <Text size="sm">
                Recipients see the HTML, which this form does not show. The text below is sent beside it.
              </Text>
              <Button size="compact-sm" variant="default" onClick={() => setHtml(false)}>
                Remove HTML
              </Button>
            </Stack>
          </Alert>
        )}
        <Autocomplete
          label="From"
          data={[...new Set([...senders, ...completed(values.from, domains)])]}
          filter={({ options, search }) =>
            senders.includes(search)
              ? options
              : options.filter((option) => 'value' in option && String(option.value).includes(search))
          }
          {...form.getInputProps('from')}
        />
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <div style={{ flex: 1, minWidth: 0 }}>
            <AddressField
              label="To"
              isRequired
              isFirst={mode === 'new' || mode === 'forward'}
              {...form.getInputProps('to')}
            />
          </div>
          {!hasCopies && (
            <Button variant="default" onClick={() => setCopies(true)}>
              Cc, Bcc
            </Button>
          )}
        </Group>
        {hasCopies && <AddressField label="Cc" {...form.getInputProps('cc')} />}
        {hasCopies && <AddressField label="Bcc" {...form.getInputProps('bcc')} />}
        <TextInput label="Subject" maxLength={998} {...form.getInputProps('subject')} />
        <Textarea
          label={mode === 'forward' ? 'Message above the forwarded email' : 'Message'}
          autosize
          minRows={mode === 'new' ? 10 : 5}
          maxRows={24}
          ref={text}
          {...form.getInputProps('text')}
        />
        {original !== null && (
          <OriginalNote
            mode={mode}
            original={original}
            hasQuote={values.hasQuote}
            setQuote={(hasQuote) => form.setFieldValue('hasQuote', hasQuote)}
            hasFiles={values.hasOriginalFiles}
            setFiles={(hasFiles) => form.setFieldValue('hasOriginalFiles', hasFiles)}
          />
        )}
        {mode !== 'forward' && (
          <AttachmentField
            files={files}
            add={add}
            remove={(id) => setFiles((now) => now.filter((one) => one.id !== id))}
            refusal={refusal}
          />
        )}
        {isScheduling && (
          <ScheduleField
            value={values.scheduledAt}
            onChange={(at) => form.setFieldValue('scheduledAt', at)}
            error={form.errors['scheduledAt'] as string | undefined}
          />
        )}
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Button
              type="submit"
              loading={isBusy}
              disabled={refusal !== null}
              leftSection={<IconSend size={16} aria-hidden />}
            >
              {values.scheduledAt.trim() === '' ? 'Send' : 'Schedule'}
            </Button>
            <Button
              variant="default"
              aria-expanded={isScheduling}
              leftSection={<IconClock size={16} aria-hidden />}
              onClick={() => {
                setScheduling(!isScheduling);
                form.setFieldValue('scheduledAt', '');
              }}
            >
              {isScheduling ? 'Send now' : 'Send later'}
            </Button>
            <Text size="xs" c="dimmed" visibleFrom="sm">
              <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd> sends
            </Text>
          </Group>
          <DraftState
            saving={draft.saving}
            keep={() => void draft.overwrite(contentOf(values))}
            load={draft.saving.state === 'gone' ? close : reload}
          />
          <Tooltip label="Discard draft">
            <ActionIcon variant="default" size="lg" aria-label="Discard draft" onClick={discard}>
              <IconTrash size={18} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </Group>
      </Stack>
    </form>
  );
}

/** Returns the typed local-part at each of the user's domains. */
function completed(typed: string, domains: readonly string[]): string[] {
  const local = typed.split('@')[0]?.trim() ?? '';
  return local === '' || /[\s<>]/.test(local) ? [] : domains.map((domain) => `${local}@${domain}`);
}

/** Explains why the email was not sent, and what to do. */
function ProblemNote({ problem }: { problem: Problem }) {
  const { message, type, fields } = problem;
  const others = Object.entries(fields).map(([field, why]) => `${field}: ${why}`);
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      icon={<IconAlertTriangle aria-hidden />}
      title={type === 'Network' ? 'Could not confirm that the email was sent' : 'The email was not sent'}
    >
      <Stack gap={6} align="flex-start">
        <Text size="sm" className="postroom-wrap">
          {type === 'Network'
            ? 'Postroom did not respond. Send the email again without changes; it will not be sent twice.'
            : message}
        </Text>
        {others.map((text) => (
          <Text key={text} size="sm">
            {text}
          </Text>
        ))}
        {type === 'SuppressedRecipient' && (
          <Text size="sm">
            These addresses are suppressed because mail to them bounced or was reported as spam. Remove them from the
            email, or{' '}
            <Anchor component={Link} underline="always" href="/suppressions" size="sm">
              remove the suppression
            </Anchor>
            .
          </Text>
        )}
        {type === 'Forbidden' && (
          <Text size="sm">
            Choose another sender, or{' '}
            <Anchor component={Link} underline="always" href="/domains" size="sm">
              check your domains
            </Anchor>
            .
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

/** Attachments of the email: selected here, dropped on the composer, or pasted. */
function AttachmentField({
  files,
  add,
  remove,
  refusal,
}: {
  files: readonly AttachedFile[];
  add: (files: File[]) => void;
  remove: (id: string) => void;
  /** why the files cannot be sent; null: no problem */
  refusal: string | null;
}) {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return (
    <div>
      <Group gap="xs">
        <FileButton multiple onChange={add} inputProps={{ 'aria-label': 'Files to attach' }}>
          {(props) => (
            <Button {...props} size="xs" variant="default" leftSection={<IconPaperclip size={16} aria-hidden />}>
              Attach files
            </Button>
          )}
        </FileButton>
        {files.length > 0 && <Text size="xs" c="dimmed">{`${sizeText(bytes)} of ${sizeText(MAX_CONTENT_BYTES)}`}</Text>}
        {files.map(({ id, name, size }) => (
          <Paper key={id} withBorder px="xs" py={2} radius="sm">
            <Group gap={6} wrap="nowrap">
              <IconFile size={14} aria-hidden />
              <Text size="xs" className="postroom-wrap">
                {name}
              </Text>
              <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                {sizeText(size)}
              </Text>
              <CloseButton size="xs" aria-label={`Remove ${name}`} onClick={() => remove(id)} />
            </Group>
          </Paper>
        ))}
      </Group>
      <Text size="xs" c="var(--mantine-color-error)" aria-live="polite" mt={refusal === null ? 0 : 4}>
        {refusal}
      </Text>
    </div>
  );
}
