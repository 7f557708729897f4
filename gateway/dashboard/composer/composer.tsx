import { Alert, Anchor, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from 'urql';
import { Link } from 'wouter';
import { ErrorNote } from '../parts/error-note.tsx';
import { useViewer } from '../shell/viewer.ts';
import { type ComposerMode, firstDraft } from './answer.ts';
import { ORIGINAL, SENDERS, type SentEmail } from './composer-documents.ts';
import { ComposerForm } from './composer-form.tsx';
import { draftName, readDraft } from './draft.ts';

export interface ComposerProps {
  mode: ComposerMode;
  /** the message to reply to or to forward */
  emailId?: string | undefined;
  /** initial recipients */
  to?: string[];
  close: () => void;
  sent?: (email: SentEmail) => void;
}

/** Writes a new email, a reply or a forwarded email. The draft stays in the tab until it is sent. */
export function Composer({ mode, emailId, to = [], close, sent }: ComposerProps) {
  const { id: userId } = useViewer();
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
  const error = sendersError ?? originalError;
  const original = emailId === undefined ? null : originalData?.email;
  // A failed refresh must not discard the draft and its files.
  if (error !== undefined && (sendersData === undefined || original === undefined))
    return (
      <ErrorNote
        error={error}
        retry={() => {
          readSenders({ requestPolicy: 'network-only' });
          if (emailId !== undefined) readOriginal({ requestPolicy: 'network-only' });
        }}
      />
    );
  if (sendersData === undefined || original === undefined)
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
  const kept = readDraft(draftName(userId, mode, emailId ?? null));
  return (
    <ComposerForm
      key={`${mode} ${emailId ?? ''}`}
      mode={mode}
      original={original}
      senders={senders}
      domains={domains.map(({ name }) => name)}
      kept={kept}
      first={firstDraft(mode, original, senders, to)}
      close={close}
      sent={sent}
    />
  );
}
