import { Autocomplete, Group, Kbd, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type KeyboardEvent, type SyntheticEvent, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import type { SnippetPlaceholder } from '../../../core/sending/snippet.ts';
import { IconButton, QuietButton } from '../parts/controls.tsx';
import { Icon } from '../parts/icons.ts';
import { notify } from '../parts/notify.tsx';
import { ErrorAlert, Fine, Small, TextLink, WarningAlert } from '../parts/text.tsx';
import { type Problem, passes } from '../parts/use-act.ts';
import { saveBeforeLeaving } from '../shell/session-news.ts';
import { useViewer } from '../shell/viewer.ts';
import { refusalOfFiles, roomBeside, useFiles } from './attachments.ts';
import classes from './composer.module.css';
import type { Original, SentEmail, StoredDraft } from './composer-documents.ts';
import { AddressField, AttachmentField, OriginalNote, ScheduleField, SendButton } from './composer-fields.tsx';
import {
  addressIn,
  type ComposerMode,
  type Draft,
  draftInput,
  looksLikeMailbox,
  NO_QUOTE,
  nameMode,
  refusalOfMailboxes,
  toDraft,
} from './draft.ts';
import { isEditable, listContentIds, quoteOriginal } from './mail-html.ts';
import { MessageField } from './message-field.tsx';
import { replaceSignature, useSignature } from './signature.ts';
import { type DraftContent, type Saving, STORE_AGAIN_MS, settleWrites, useSavedDraft } from './use-saved-draft.ts';
import { useReminder, useSending } from './use-sending.ts';

interface ComposerFormProps {
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

/** A draft is saved when the user pauses for this long, and while the user types on without a pause, this long after a change. Milliseconds. */
const SAVE_AFTER_MS = 800;
const SAVE_WITHIN_MS = 5_000;
const FIELDS = ['from', 'to', 'cc', 'bcc', 'subject', 'text', 'scheduledAt'];

/** Form to write an email. */
export function ComposerForm(props: ComposerFormProps) {
  const { mode, original, senders, domains, close, sent, created, reload } = props;
  const [{ stored, first }] = useState({ stored: props.stored, first: props.first });
  const [fullQuote] = useState(() =>
    original === null || mode === 'new' || mode === 'forward' ? NO_QUOTE : quoteOriginal(original),
  );
  const isOpen = useRef(true);
  const draft = useSavedDraft(mode, original, stored, (id) => (isOpen.current ? created(id) : undefined));
  const [initial] = useState(() => {
    if (draft.unstored === null) return stored === null ? first : toDraft(stored, first, fullQuote);
    return toDraft({ html: stored?.html ?? null, withAttachments: true, ...draft.unstored }, first, fullQuote);
  });
  // That of a program can have more than the editor shows.
  const [hasForeignHtml, setForeignHtml] = useState(() => !isEditable(initial.html ?? ''));
  const { files, add: addFiles, addImage, remove: removeFile, showImage } = useFiles(stored);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isDragged, setDragged] = useState(false);
  const form = useForm<Draft>({
    initialValues: initial,
    validate: {
      from: (from) => (looksLikeMailbox(from) ? null : 'Enter one of your addresses'),
      to: (to) => (to.length === 0 ? 'Enter at least one recipient' : refusalOfMailboxes(to)),
      cc: refusalOfMailboxes,
      bcc: refusalOfMailboxes,
      text: (text) => (mode !== 'forward' && !hasForeignHtml && text.trim() === '' ? 'Enter a message' : null),
    },
  });
  const { values } = form;
  const isCopied = values.cc.length + values.bcc.length > 0;
  const [hasCopies, setCopies] = useState(isCopied);
  const [remindAt, setReminder] = useState('');
  const [isMessageNext, setMessageNext] = useState(false);
  const [isScheduling, setScheduling] = useState(values.scheduledAt !== '');
  const isDiscarded = useRef(false);
  const { send, isBusy } = useSending(mode, original, draft);
  // An inline image that was removed from the text stays here, since the removal can be undone.
  const shown = useMemo(() => listContentIds(values.html ?? ''), [values.html]);
  const sentFiles = files.filter(({ contentId }) => contentId === null || hasForeignHtml || shown.has(contentId));
  const input = draftInput(values, mode, fullQuote);
  const refusal = refusalOfFiles(sentFiles, input.text + (input.html ?? ''));
  const isReply = mode === 'reply' || mode === 'reply-all';

  /** addresses that are typed and no tags yet, so that a draft has them when the composer is closed */
  const typed = useRef({ to: '', cc: '', bcc: '' });
  const recipients = (field: 'to' | 'cc' | 'bcc') => ({
    ...form.getInputProps(field),
    onTyped: (text: string) => void (typed.current[field] = text),
  });
  const withTyped = (written: Draft): Draft => {
    const add = (field: 'to' | 'cc' | 'bcc') => [...written[field], typed.current[field]].filter(looksLikeMailbox);
    return { ...written, to: add('to'), cc: add('cc'), bcc: add('bcc') };
  };
  const makeContent = (written: Draft): DraftContent => {
    const { html, ...rest } = draftInput(written, mode, fullQuote);
    return { input: hasForeignHtml ? rest : { ...rest, html }, files: sentFiles };
  };
  const describeContent = (written: Draft) => JSON.stringify([written, sentFiles.map(({ id }) => id), hasForeignHtml]);
  const key = describeContent(values);
  const [initialKey] = useState(draft.unstored === null ? key : '');
  const changedAt = useRef<number | null>(null);
  const saveNow = useEffectEvent(() => {
    changedAt.current = null;
    if (key !== initialKey && refusal === null) void draft.save(makeContent(values));
  });
  useEffect(() => {
    changedAt.current ??= performance.now();
    const left = changedAt.current + SAVE_WITHIN_MS - performance.now();
    const timer = window.setTimeout(saveNow, Math.min(SAVE_AFTER_MS, left));
    return () => window.clearTimeout(timer);
  }, [key]);
  const isWaiting = draft.saving.state === 'failed' && passes(draft.saving.problem);
  useEffect(() => {
    if (!isWaiting) return;
    const timer = window.setInterval(saveNow, STORE_AGAIN_MS);
    const ask = (event: Event) => event.preventDefault(); // before the browser closes the tab
    window.addEventListener('beforeunload', ask);
    return () => {
      window.clearInterval(timer);
      window.removeEventListener('beforeunload', ask);
    };
  }, [isWaiting]);
  // What was written last is saved when the composer is closed.
  const saveLast = useRef((_how: 'keep' | 'saveClosing' | 'saveLeaving') => undefined as void);
  saveLast.current = (how) => {
    // Closing takes the focus from a field, which changes the values without another render.
    const written = withTyped(form.getValues());
    if (describeContent(written) !== initialKey && refusal === null) void draft[how](makeContent(written));
  };
  // A draft has complete addresses only.
  const tellUnfinished = useRef(() => undefined as void);
  tellUnfinished.current = () => {
    const { from, to, cc, bcc } = form.getValues();
    const given = [from, ...to, ...cc, ...bcc, ...Object.values(typed.current)].map((text) => text.trim());
    const lost = new Set(given.filter((text) => text !== '' && !looksLikeMailbox(text)));
    if (lost.size === 0 || isDiscarded.current) return;
    notify({ title: 'Not in the draft', message: refusalOfMailboxes([...lost]), color: 'yellow' });
  };
  useEffect(() => {
    isOpen.current = true;
    const end = saveBeforeLeaving(async () => {
      saveLast.current('saveLeaving');
      await settleWrites();
    });
    const leave = () => document.visibilityState === 'hidden' && saveLast.current('saveLeaving');
    document.addEventListener('visibilitychange', leave);
    // The next page may begin before this one is hidden.
    const keep = () => saveLast.current('keep');
    window.addEventListener('beforeunload', keep);
    return () => {
      isOpen.current = false;
      end();
      document.removeEventListener('visibilitychange', leave);
      window.removeEventListener('beforeunload', keep);
      saveLast.current('saveClosing');
      tellUnfinished.current();
    };
  }, []);

  const { person } = useViewer();
  const remind = useReminder();
  const signature = useSignature(values.from);
  const signed = useRef(signature);
  const sign = useEffectEvent((next: string | null) => {
    const before = signed.current;
    signed.current = next;
    if (before === undefined || before === next || hasForeignHtml) return;
    const written = replaceSignature(values, before, next);
    form.setValues({ text: written.text, html: written.html });
  });
  useEffect(() => {
    if (signature !== undefined) sign(signature);
  }, [signature]);

  const add = (more: File[]) => mode !== 'forward' && addFiles(more);
  const submit = async (written: Draft) => {
    if (refusal !== null || isBusy) return;
    setProblem(null);
    const outcome = await send(makeContent(written));
    if (outcome === null) return;
    if (outcome.problem === null) {
      if (remindAt !== '') remind(outcome.email.id, remindAt);
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
    isDiscarded.current = true;
    void draft.remove();
    close();
  };
  /** Tab leads from field to field, so that a space in what is typed next presses no button between them. Shift+Tab leads to those, too. */
  const goOn = (event: KeyboardEvent<HTMLFormElement>) => {
    const heads = `.${classes['heads']} input:not([type="hidden"])`;
    const field = event.target as HTMLElement;
    if (event.key !== 'Tab' || event.shiftKey || !field.matches(heads)) return;
    event.preventDefault();
    const fields = [...event.currentTarget.querySelectorAll<HTMLElement>(`${heads}, [role="textbox"], textarea`)];
    const next = fields[fields.indexOf(field) + 1];
    next?.focus();
    if (next === undefined) setMessageNext(true); // the editor is still loading
  };
  const onKeyDown = (event: KeyboardEvent<HTMLFormElement>) => {
    goOn(event);
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.onSubmit((written) => void submit(written))();
  };
  const take = (event: SyntheticEvent, { files: given }: DataTransfer) => {
    setDragged(false);
    // The editor may have taken it already.
    if (given.length === 0 || event.defaultPrevented) return;
    event.preventDefault();
    add([...given]);
  };

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a quicker way to what the buttons do, too
    <form
      className={classes['composer']}
      data-dragged={isDragged || undefined}
      onSubmit={form.onSubmit((written) => void submit(written))}
      onKeyDown={onKeyDown}
      onPaste={(event) => take(event, event.clipboardData)}
      onDragOver={(event) => {
        if (mode === 'forward' || !event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setDragged(true);
      }}
      onDragLeave={() => setDragged(false)}
      onDrop={(event) => take(event, event.dataTransfer)}
      noValidate
      aria-label={nameMode(mode)}
    >
      <Stack gap="sm">
        {problem !== null && <ProblemNote problem={problem} />}
        {hasForeignHtml && (
          <WarningAlert title="This draft has HTML that the editor cannot show">
            <Stack gap={6} align="flex-start">
              <Small>
                Recipients see the HTML as a program wrote it. The text below is sent beside it. Remove the HTML to
                write the message here.
              </Small>
              <QuietButton
                label="Remove HTML"
                size="compact-sm"
                onClick={() => {
                  setForeignHtml(false);
                  form.setFieldValue('html', null);
                }}
              />
            </Stack>
          </WarningAlert>
        )}
        <div className={classes['heads']}>
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
          <Group gap="xs" wrap="nowrap">
            <div style={{ flex: 1, minWidth: 0 }}>
              <AddressField label="To" isRequired isFirst={!isReply} {...recipients('to')} />
            </div>
            {!hasCopies && (
              <QuietButton label="Cc, Bcc" size="compact-sm" variant="subtle" onClick={() => setCopies(true)} />
            )}
          </Group>
          {hasCopies && <AddressField label="Cc" isNext={!isCopied} {...recipients('cc')} />}
          {hasCopies && <AddressField label="Bcc" {...recipients('bcc')} />}
          <TextInput label="Subject" maxLength={998} {...form.getInputProps('subject')} />
        </div>
        <MessageField
          label={mode === 'forward' ? 'Message above the forwarded email' : 'Message'}
          text={values.text}
          html={hasForeignHtml ? null : values.html}
          onChange={({ text, html }) => {
            form.setFieldValue('text', text);
            form.setFieldValue('html', hasForeignHtml ? values.html : html);
          }}
          addImage={mode === 'forward' ? null : addImage}
          room={roomBeside(sentFiles)}
          showImage={showImage}
          error={form.errors['text']}
          isFocused={isReply || isMessageNext}
          canSwitch={!hasForeignHtml}
          snippetValues={{ ...chooseNames('recipient', values.to[0]), ...chooseNames('my', values.from, person?.name) }}
          isTall={mode === 'new'}
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
        {mode !== 'forward' && <AttachmentField files={sentFiles} add={add} remove={removeFile} refusal={refusal} />}
        {isScheduling && (
          <ScheduleField
            value={values.scheduledAt}
            onChange={(at) => form.setFieldValue('scheduledAt', at)}
            remove={() => {
              setScheduling(false);
              form.setFieldValue('scheduledAt', '');
            }}
            error={form.errors['scheduledAt'] as string | undefined}
          />
        )}
        <Group justify="space-between" gap="xs" className={classes['footer'] ?? ''}>
          <Group gap="xs">
            <SendButton
              isBusy={isBusy}
              isDisabled={refusal !== null}
              isScheduled={values.scheduledAt.trim() !== ''}
              send={(scheduledAt) => form.onSubmit((written) => void submit({ ...written, scheduledAt }))()}
              pickDate={() => setScheduling(true)}
              remindAt={remindAt}
              setReminder={setReminder}
            />
            {remindAt !== '' && (
              <QuietButton
                label={`If no reply ${remindAt}`}
                size="compact-sm"
                leftSection={<Icon name="bell" size={14} />}
                rightSection={<Icon name="x" size={12} />}
                aria-label="Remove reminder"
                title="Remove reminder"
                onClick={() => setReminder('')}
              />
            )}
            <Fine visibleFrom="sm">
              <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd> sends
            </Fine>
          </Group>
          <DraftState
            saving={draft.saving}
            keep={() => void draft.overwrite(makeContent(values))}
            load={() => {
              draft.end();
              (draft.saving.state === 'gone' ? close : reload)();
            }}
          />
          <Tooltip label="Discard draft">
            <IconButton label="Discard draft" icon="trash" variant="default" size="lg" onClick={discard} />
          </Tooltip>
        </Group>
      </Stack>
    </form>
  );
}

/** Returns what placeholders of snippets say of a mailbox. `known`: the name, if the mailbox has none. */
function chooseNames<Who extends 'recipient' | 'my'>(who: Who, mailbox: string | undefined, known?: string | null) {
  const address = mailbox === undefined || mailbox === '' ? null : addressIn(mailbox);
  const written = (mailbox ?? '').replace(/<[^<>]*>\s*$|"/g, '').trim();
  const own = known == null || known === '' ? null : known;
  const name =
    address === null ? null : written === '' || written === address ? (own ?? address.split('@')[0] ?? null) : written;
  return {
    [`${who}.name`]: name,
    [`${who}.first_name`]: name?.split(/\s+/)[0] ?? null,
    [`${who}.address`]: address,
  } as Record<Extract<SnippetPlaceholder, `${Who}.${string}`>, string | null>;
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
    <ErrorAlert
      role="alert"
      icon={<Icon name="alert-triangle" />}
      title={type === 'Network' ? 'Could not confirm that the email was sent' : 'The email was not sent'}
    >
      <Stack gap={6} align="flex-start">
        <Small className="postroom-wrap">
          {type === 'Network'
            ? 'Postroom did not respond. Send the email again without changes; it will not be sent twice.'
            : message}
        </Small>
        {others.map((text) => (
          <Small key={text}>{text}</Small>
        ))}
        {type === 'SuppressedRecipient' && (
          <Small>
            These addresses are suppressed because mail to them bounced or was reported as spam. Remove them from the
            email, or <TextLink href="/suppressions">remove the suppression</TextLink>.
          </Small>
        )}
        {type === 'Forbidden' && (
          <Small>
            Choose another sender, or <TextLink href="/domains">check your domains</TextLink>.
          </Small>
        )}
      </Stack>
    </ErrorAlert>
  );
}

/** Shows whether the draft is saved, and asks what to do when it was changed elsewhere. */
function DraftState({ saving, keep, load }: { saving: Saving; keep: () => void; load: () => void }) {
  const { state } = saving;
  const wasSaved = useRef(state === 'saved');
  useEffect(() => {
    wasSaved.current = state === 'saved' || (wasSaved.current && state !== 'failed');
  }, [state]);
  if (state === 'conflict' || state === 'gone') {
    const isGone = state === 'gone';
    return (
      <WarningAlert role="alert" title={isGone ? 'This draft was sent or deleted' : 'This draft was changed elsewhere'}>
        <Stack gap={6} align="flex-start">
          <Small>
            {isGone
              ? 'Another tab, person or API key sent or deleted it. What you wrote here is not saved.'
              : 'Another tab, person or API key changed it. What you wrote since then is not saved.'}
          </Small>
          <Group gap="xs">
            <QuietButton label={isGone ? 'Save as new draft' : 'Keep my version'} size="compact-sm" onClick={keep} />
            <QuietButton label={isGone ? 'Close' : 'Load other version'} size="compact-sm" onClick={load} />
          </Group>
        </Stack>
      </WarningAlert>
    );
  }
  return (
    <Text
      size="xs"
      c={state === 'failed' ? 'var(--mantine-color-error)' : 'dimmed'}
      role="status"
      // Not each of the many times that it is saved.
      aria-live={state === 'failed' || (state === 'saved' && !wasSaved.current) ? 'polite' : 'off'}
      className="postroom-wrap"
    >
      {state === 'failed' ? `Draft not saved: ${saving.problem.message}` : WORDS[state]}
    </Text>
  );
}

const WORDS = { none: '', saving: 'Saving draft…', saved: 'Draft saved' };
