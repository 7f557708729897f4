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
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { randomId } from '../parts/random-id.ts';
import type { Problem } from '../parts/use-act.ts';
import { useViewer } from '../shell/viewer.ts';
import { AddressField } from './address-field.tsx';
import { looksLikeMailbox, refusalOfMailboxes } from './address-text.ts';
import type { ComposerMode } from './answer.ts';
import { type AttachedFile, MAX_CONTENT_BYTES, refusalOfFiles, sizeText } from './attachments.ts';
import classes from './composer.module.css';
import type { Original, SentEmail } from './composer-documents.ts';
import { type Draft, draftName, dropDraft, keepDraft, type readDraft } from './draft.ts';
import { OriginalNote } from './original-note.tsx';
import { quoteOriginal } from './quote-original.ts';
import { ScheduleField } from './schedule-field.tsx';
import { useSending } from './use-sending.ts';

export interface ComposerFormProps {
  mode: ComposerMode;
  original: Original | null;
  senders: readonly string[];
  domains: readonly string[];
  /** the saved draft; null: none */
  kept: ReturnType<typeof readDraft>;
  first: Draft;
  close: () => void;
  sent?: ((email: SentEmail) => void) | undefined;
}

const FIELDS = ['from', 'to', 'cc', 'bcc', 'subject', 'text', 'scheduledAt'];

/** Form to write an email. */
export function ComposerForm(props: ComposerFormProps) {
  const { mode, original, senders, domains, close, sent } = props;
  const [{ kept, first }] = useState({ kept: props.kept, first: props.first });
  const { id: userId } = useViewer();
  const name = draftName(userId, mode, original?.id ?? null);
  const [files, setFiles] = useState<readonly AttachedFile[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isDragged, setDragged] = useState(false);
  const form = useForm<Draft>({
    initialValues: { ...first, ...kept?.draft },
    validate: {
      from: (from) => (looksLikeMailbox(from) ? null : 'Enter one of your addresses'),
      to: (to) => (to.length === 0 ? 'Enter at least one recipient' : refusalOfMailboxes(to)),
      cc: refusalOfMailboxes,
      bcc: refusalOfMailboxes,
      text: (text) => (mode !== 'forward' && text.trim() === '' ? 'Enter a message' : null),
    },
  });
  const { values } = form;
  const [hasCopies, setCopies] = useState(values.cc.length + values.bcc.length > 0);
  const [isScheduling, setScheduling] = useState(values.scheduledAt !== '');
  const { send, isBusy } = useSending(mode, original, kept?.mark ?? null);
  const quote = original === null || mode === 'new' || !values.hasQuote ? '' : quoteOriginal(original);
  const refusal = refusalOfFiles(files, values.text + quote);
  const lostFiles = (kept?.fileNames ?? []).filter((lost) => !files.some(({ file }) => file.name === lost));

  const text = useRef<HTMLTextAreaElement>(null);
  const isAnswer = mode === 'reply' || mode === 'reply-all';
  useEffect(() => {
    if (isAnswer) text.current?.focus();
  }, [isAnswer]);

  useEffect(() => {
    const isTouched = JSON.stringify(values) !== JSON.stringify(first) || files.length > 0;
    if (isTouched)
      keepDraft(name, { draft: values, fileNames: files.map(({ file }) => file.name), mark: kept?.mark ?? null });
  }, [values, files, name, first, kept]);

  const add = (more: File[]) => {
    if (mode !== 'forward') setFiles((now) => [...now, ...more.map((file) => ({ id: randomId(), file }))]);
  };
  const submit = async (draft: Draft) => {
    if (refusal !== null || isBusy) return;
    setProblem(null);
    const outcome = await send(draft, files);
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
    dropDraft(name);
    close();
  };
  const sendByKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.onSubmit((draft) => void submit(draft))();
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
      onSubmit={form.onSubmit((draft) => void submit(draft))}
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
        {lostFiles.length > 0 && (
          <Alert color="yellow" variant="outline">
            <Text size="sm">{`Drafts do not include attachments. Attach these files again: ${lostFiles.join(', ')}`}</Text>
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

/** Returns the title of the composer. */
export function titleOf(mode: ComposerMode): string {
  return { new: 'New email', reply: 'Reply', 'reply-all': 'Reply to all', forward: 'Forward' }[mode];
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
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
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
        {files.map(({ id, file }) => (
          <Paper key={id} withBorder px="xs" py={2} radius="sm">
            <Group gap={6} wrap="nowrap">
              <IconFile size={14} aria-hidden />
              <Text size="xs" className="postroom-wrap">
                {file.name}
              </Text>
              <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                {sizeText(file.size)}
              </Text>
              <CloseButton size="xs" aria-label={`Remove ${file.name}`} onClick={() => remove(id)} />
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
