import { Alert, Anchor, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Link } from 'wouter';
import { ErrorNote } from '../parts/error-note.tsx';
import { type ComposerMode, firstDraft } from './answer.ts';
import { DRAFTS_OF, ORIGINAL, READ_DRAFT, SENDERS, type SentEmail, type StoredDraft } from './composer-documents.ts';
import { ComposerForm } from './composer-form.tsx';
import { kindOf } from './draft.ts';

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
  const [opened, setOpened] = useState({ id: draftId ?? null, round: 0 });
  const [latest, setLatest] = useState(opened.id);
  return (
    <OpenedComposer
      {...props}
      key={opened.round}
      draftId={opened.id}
      created={(id) => {
        setLatest(id);
        created?.(id);
      }}
      reload={() => setOpened({ id: latest, round: opened.round + 1 })}
    />
  );
}

type OpenedProps = Omit<ComposerProps, 'draftId' | 'created'> & {
  draftId: string | null;
  created: (id: string) => void;
  reload: () => void;
};

function OpenedComposer({ mode, emailId, to = [], close, sent, draftId, created, reload }: OpenedProps) {
  const { stored, error: draftError, retry: readDraft } = useStoredDraft(mode, emailId, draftId);
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
  const error = sendersError ?? originalError ?? draftError;
  const original = emailId === undefined ? null : originalData?.email;
  // A failed refresh must not discard the draft and its files.
  if (error !== undefined && (sendersData === undefined || original === undefined || stored === undefined))
    return (
      <ErrorNote
        error={error}
        retry={() => {
          readSenders({ requestPolicy: 'network-only' });
          readDraft();
          if (emailId !== undefined) readOriginal({ requestPolicy: 'network-only' });
        }}
      />
    );
  if (sendersData === undefined || original === undefined || stored === undefined)
    return (
      <Stack aria-busy>
        <Skeleton h={34} />
        <Skeleton h={34} />
        <Skeleton h={120} />
      </Stack>
    );
  if (original === null && emailId !== undefined)
    return (
      <Alert color="yellow" variant="outline" title="Email not found">
        <Text size="sm">The email is not in this account, so you cannot reply to it.</Text>
      </Alert>
    );
  const domains = sendersData.domains.edges.map(({ node }) => node).filter(({ canSend }) => canSend);
  if (domains.length === 0)
    return (
      <Alert color="yellow" variant="outline" title="No verified domain">
        <Text size="sm">
          You can only send from a verified domain.{' '}
          <Anchor component={Link} underline="always" href="/domains" size="sm">
            Add or verify a domain
          </Anchor>
        </Text>
      </Alert>
    );
  const addresses = sendersData.senders.map(({ address }) => address);
  const senders = addresses.length > 0 ? addresses : domains.map(({ name }) => `hello@${name}`);
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
      first={firstDraft(mode, original, senders, to)}
      close={close}
      sent={sent}
    />
  );
}

/** Reads the draft to open: that with the ID, or that of an answer to the message. Null: none; undefined: not read yet. */
function useStoredDraft(mode: ComposerMode, emailId: string | undefined, draftId: string | null) {
  const [one, readOne] = useQuery({
    query: READ_DRAFT,
    variables: { id: draftId ?? '' },
    pause: draftId === null,
    requestPolicy: 'network-only',
  });
  const [ofEmail, readOfEmail] = useQuery({
    query: DRAFTS_OF,
    variables: { originalEmailId: emailId ?? '' },
    pause: draftId !== null || emailId === undefined,
    requestPolicy: 'network-only',
  });
  const isOfMode = ({ kind }: StoredDraft) => (kind === 'REPLY_ALL' ? 'REPLY' : kind) === kindOf(mode);
  const answers = ofEmail.data?.drafts.edges.map(({ node }) => node);
  const isNone = draftId === null && emailId === undefined;
  const stored =
    draftId === null
      ? isNone
        ? null
        : answers && (answers.find(isOfMode) ?? null)
      : one.data === undefined
        ? undefined
        : one.data.draft;
  return {
    stored,
    error: one.error ?? ofEmail.error,
    retry: () => (draftId === null ? !isNone && readOfEmail({ requestPolicy: 'network-only' }) : readOne()),
  };
}
