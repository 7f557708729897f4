import { Skeleton, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type CombinedError, useQuery } from 'urql';
import { freshClient } from '../client.ts';
import { ErrorNote } from '../parts/page.tsx';
import { Small, TextLink, WarningAlert } from '../parts/text.tsx';
import { FieldComing, useNoField } from '../shell/keys.ts';
import { useViewer } from '../shell/viewer.ts';
import { prefersPlain } from './browser-settings.ts';
import { DRAFTS_OF, ORIGINAL, READ_DRAFT, SENDERS, type SentEmail, type StoredDraft } from './composer-documents.ts';
import { ComposerForm } from './composer-form.tsx';
import { type ComposerMode, type Draft, firstDraft, looksLikeMailbox, toStoredKind } from './draft.ts';
import { useSignature, withSignature } from './signature.ts';
import { settleWrites } from './use-saved-draft.ts';

export interface ComposerProps {
  mode: ComposerMode;
  /** the message to reply to or to forward */
  emailId?: string | undefined;
  /** initial recipients */
  to?: string[];
  /** the draft of a new email to open */
  draftId?: string | undefined;
  /** called with the ID of a new draft */
  created?: (id: string) => void;
  close: () => void;
  sent?: (email: SentEmail) => void;
}

/** Writes a new email, a reply or a forwarded email. The service keeps the draft until it is sent. */
export function Composer({ draftId, created, ...props }: ComposerProps) {
  // The ID that a new draft gets must not open it again.
  const [wanted, setWanted] = useState({ id: draftId ?? null, round: 0 });
  const latest = useRef(wanted.id);
  const [{ round, ...draft }, setRead] = useState<ReadDraft>({ round: -1 });
  const { mode, emailId } = props;
  useEffect(() => {
    let isCurrent = true;
    void readDraft(mode, emailId, wanted.id).then((read) => {
      if (isCurrent) setRead({ ...read, round: wanted.round });
    });
    return () => void (isCurrent = false);
  }, [mode, emailId, wanted]);
  const reload = () => setWanted({ id: latest.current, round: wanted.round + 1 });
  return (
    <OpenedComposer
      {...props}
      key={round}
      draft={draft}
      created={(id) => {
        latest.current = id;
        created?.(id);
      }}
      reload={reload}
    />
  );
}

interface ReadDraft {
  /** null: none; `gone`: none has the ID; undefined: not read yet */
  stored?: StoredDraft | 'gone' | null;
  error?: CombinedError | undefined;
  round: number;
}

/**
 * Reads the draft with the ID, or that of a reply to the message. Not from the cache, which may have an earlier version, and not before a
 * composer that was closed has stored its last words.
 */
async function readDraft(
  mode: ComposerMode,
  emailId: string | undefined,
  draftId: string | null,
): Promise<Omit<ReadDraft, 'round'>> {
  if (draftId === null && emailId === undefined) return { stored: null };
  await settleWrites();
  if (draftId !== null) {
    const { data, error } = await freshClient.query(READ_DRAFT, { id: draftId }).toPromise();
    return data === undefined ? { error } : { stored: data.draft ?? 'gone' };
  }
  const { data, error } = await freshClient.query(DRAFTS_OF, { originalEmailId: emailId ?? '' }).toPromise();
  if (data === undefined) return { error };
  const drafts = data.drafts.edges.map(({ node }) => node);
  const isOfMode = ({ kind }: StoredDraft) => (kind === 'REPLY_ALL' ? 'REPLY' : kind) === toStoredKind(mode);
  return { stored: drafts.find(isOfMode) ?? null };
}

type OpenedProps = Omit<ComposerProps, 'draftId' | 'created'> & {
  draft: Omit<ReadDraft, 'round'>;
  created: (id: string) => void;
  reload: () => void;
};

function OpenedComposer(props: OpenedProps) {
  const { mode, emailId, to = [], close, sent, created, reload } = props;
  const { stored } = props.draft;
  const [{ data: sendersData, error: sendersError }, readSenders] = useQuery({
    query: SENDERS,
    variables: {},
    // Domains can be verified in the background.
    requestPolicy: 'cache-and-network',
  });
  const [{ data: originalData, error: originalError }, readOriginal] = useQuery({
    query: ORIGINAL,
    variables: { id: emailId ?? '' },
    pause: emailId === undefined,
  });
  const error = sendersError ?? originalError ?? props.draft.error;
  const original = emailId === undefined ? null : originalData?.email;
  const domains = sendersData?.domains.edges.map(({ node }) => node).filter(({ canSend }) => canSend) ?? [];
  const addresses = sendersData?.senders.map(({ address }) => address) ?? [];
  // A member who is limited to addresses sees no domains, and sends from the addresses.
  const isLimited = useViewer().person?.isLimited === true;
  const maySend = domains.length > 0 || (isLimited && addresses.length > 0);
  const senders = addresses.length > 0 ? addresses : domains.map(({ name }) => `hello@${name}`);
  const isRead = sendersData !== undefined && original !== undefined && stored !== undefined;
  // What it opened with: senders that are read again later do not take the form from the person who types in it.
  const opened = useRef<Draft | null>(null);
  const first = opened.current ?? (isRead ? firstDraft(mode, original, senders, to, prefersPlain()) : null);
  const signature = useSignature(first?.from ?? '');
  // A failed refresh must not discard the draft and its files.
  if (error !== undefined && (sendersData === undefined || original === undefined || stored === undefined))
    return (
      <ErrorNote
        error={error}
        retry={() => {
          readSenders({ requestPolicy: 'network-only' });
          reload();
          if (emailId !== undefined) readOriginal({ requestPolicy: 'network-only' });
        }}
      />
    );
  if (!isRead || first === null || (signature === undefined && looksLikeMailbox(first.from)))
    return (
      <Stack aria-busy>
        <FieldComing cancel={close} />
        <Skeleton h={34} />
        <Skeleton h={34} />
        <Skeleton h={120} />
      </Stack>
    );
  if (original === null && emailId !== undefined)
    return (
      <NoForm title="Email not found">
        <Small>The email is not in this account, so you cannot reply to it.</Small>
      </NoForm>
    );
  if (stored === 'gone')
    return (
      <NoForm title="Draft not found">
        <Small>
          It was sent or deleted. <TextLink href="/drafts">Show drafts</TextLink>
        </Small>
      </NoForm>
    );
  if (!maySend && isLimited && opened.current === null)
    return (
      <NoForm title="No address to send from">
        <Small>None of the addresses that you are limited to can send mail. Ask an admin of the workspace.</Small>
      </NoForm>
    );
  if (!maySend && opened.current === null)
    return (
      <NoForm title="No verified domain">
        <Small>
          You can only send from a verified domain. <TextLink href="/domains">Add or verify a domain</TextLink>
        </Small>
      </NoForm>
    );
  opened.current = first;
  return (
    <ComposerForm
      key={`${mode} ${emailId ?? ''}`}
      mode={mode}
      original={original}
      senders={senders}
      domains={domains.map(({ name }) => name)}
      stored={stored}
      created={created}
      reload={reload}
      first={withSignature(first, signature ?? null)}
      close={close}
      sent={sent}
    />
  );
}

/** Why there is nothing to write in. */
function NoForm({ title, children }: { title: string; children: ReactNode }) {
  useNoField();
  return <WarningAlert title={title}>{children}</WarningAlert>;
}
