import {
  ActionIcon,
  Alert,
  Autocomplete,
  Button,
  Group,
  Kbd,
  Stack,
  Text,
  Textarea,
  TextInput,
  Tooltip,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconClock, IconSend, IconTrash } from '@tabler/icons-react';
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { randomId } from '../parts/random-id.ts';
import type { Problem } from '../parts/use-act.ts';
import { useViewer } from '../shell/viewer.ts';
import { AddressField } from './address-field.tsx';
import { looksLikeMailbox, refusalOfMailboxes } from './address-text.ts';
import type { ComposerMode } from './answer.ts';
import { AttachmentField } from './attachment-field.tsx';
import { type AttachedFile, refusalOfFiles } from './attachments.ts';
import classes from './composer.module.css';
import type { Original, SentEmail } from './composer-documents.ts';
import { type Draft, draftName, dropDraft, keepDraft, type readDraft } from './draft.ts';
import { OriginalNote } from './original-note.tsx';
import { ProblemNote } from './problem-note.tsx';
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
