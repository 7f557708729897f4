import { Anchor, Button, Code, Group, Modal, Paper, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconMessageReply } from '../../parts/icons.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge, type Tone } from '../../parts/status-badge.tsx';
import { useAct } from '../../parts/use-act.ts';
import { REPLY_ADDRESSES, REVOKE_REPLY_ADDRESS, type ShownReplyAddress } from './reply-documents.ts';
import { ReplyForm } from './reply-form.tsx';

const PAGE = 30;
const TONES: Record<ShownReplyAddress['status'], Tone> = {
  ACTIVE: 'good',
  EXPIRED: 'quiet',
  USED_UP: 'quiet',
  REVOKED: 'quiet',
};

/** All reply addresses, and the form that creates one while the URL contains `?new=`. */
export function ReplyAddresses() {
  const [search, setSearch] = useSearchParams();
  const set = (name: string, value: string | null) =>
    setSearch((params) => {
      if (value === null) params.delete(name);
      else params.set(name, value);
      return params;
    });
  const pages = Math.max(1, Number(search.get('pages')) || 1);
  return (
    <>
      <ReplyAddressList
        after={null}
        pages={pages}
        more={() => set('pages', String(pages + 1))}
        empty={
          <EmptyState
            icon={IconMessageReply}
            title="No reply addresses yet"
            about="Create one and use it as Reply-To of an email that you send. Mail to it carries your metadata and joins your thread. Its status and the number of messages appear here."
          >
            <Button onClick={() => set('new', '')}>Create reply address</Button>
          </EmptyState>
        }
      />
      <Modal
        opened={search.get('new') !== null}
        onClose={() => set('new', null)}
        title="Create reply address"
        closeButtonProps={{ 'aria-label': 'Close' }}
        centered
      >
        <ReplyForm done={() => set('new', null)} />
      </Modal>
    </>
  );
}

/** The first `pages` pages of reply addresses, like AddressList. */
function ReplyAddressList({
  after,
  pages,
  more,
  empty,
}: {
  after: string | null;
  pages: number;
  more: () => void;
  empty: ReactNode;
}) {
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: REPLY_ADDRESSES,
    variables: { first: PAGE, after },
    kinds: ['EMAIL_RECEIVED'],
    types: ['ReplyAddress'],
  });
  const list = data?.replyAddresses;
  const next = list?.pageInfo.hasNextPage === true ? (list.pageInfo.endCursor ?? null) : null;
  if (list?.edges.length === 0 && after === null) return empty;
  return (
    <>
      {isLoading && <Skeleton h={200} aria-label="Loading" />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {list !== undefined && list.edges.length > 0 && (
        <Stack component="ul" gap="xs" p={0} m={0} mb="xs" style={{ listStyle: 'none' }} aria-label="Reply addresses">
          {list.edges.map(({ node }) => (
            <ReplyAddressRow key={node.id} reply={node} />
          ))}
        </Stack>
      )}
      {next !== null &&
        (pages > 1 ? (
          <ReplyAddressList after={next} pages={pages - 1} more={more} empty={null} />
        ) : (
          <Group justify="center" mt="md">
            <Button variant="default" onClick={more}>
              Load more
            </Button>
          </Group>
        ))}
    </>
  );
}

function ReplyAddressRow({ reply }: { reply: ShownReplyAddress }) {
  const { act } = useAct(REVOKE_REPLY_ADDRESS, { done: 'The reply address was revoked.' });
  const { address, status, deliverTo, metadata, senders, maxMessages, messageCount, expiresAt, thread } = reply;
  return (
    <Paper component="li" withBorder p="sm" bg="var(--postroom-raised)">
      <Group justify="space-between" gap="xs" align="flex-start">
        <Stack gap={2} flex={1} miw={200}>
          <Group gap={6}>
            <Text fw={600} className="postroom-wrap" miw={0}>
              {address}
            </Text>
            <CopyButton text={address} label={`Copy ${address}`} />
            <StatusBadge status={status} tone={TONES[status]} />
          </Group>
          <Text size="sm" component="div">
            {maxMessages === null
              ? `${messageCount} ${messageCount === 1 ? 'message' : 'messages'}, no limit`
              : `${messageCount} of ${maxMessages} messages used`}
            {expiresAt === null ? (
              ', never expires'
            ) : (
              <RelativeTime at={expiresAt} prefix={status === 'EXPIRED' ? ', expired ' : ', expires '} />
            )}
          </Text>
          <Text size="sm" className="postroom-wrap">
            {senders.length === 0 ? 'Everyone may write' : `Only ${senders.join(', ')} may write`}
            {deliverTo !== null && `; delivered to ${deliverTo}`}
          </Text>
          {thread !== null && (
            <Anchor component={Link} href={`/inbox/${thread.id}`} size="sm" className="postroom-wrap">
              Joins the thread "{thread.normalizedSubject || 'No subject'}"
            </Anchor>
          )}
          {metadata !== null && (
            <Text size="sm" component="div" className="postroom-wrap">
              Metadata <Code>{JSON.stringify(metadata)}</Code>
            </Text>
          )}
          <Text size="sm" c="dimmed" component="div">
            <RelativeTime at={reply.createdAt} prefix="created " />
          </Text>
        </Stack>
        {status !== 'REVOKED' && (
          <ConfirmButton
            label="Revoke"
            aria-label={`Revoke ${address}`}
            question="Revoke this reply address?"
            about={
              <>
                <Text size="sm" component="span" fw={600} className="postroom-wrap">
                  {address}
                </Text>{' '}
                will accept no more mail. You cannot undo this. Mail that it received stays.
              </>
            }
            confirm="Revoke reply address"
            act={() => act({ input: { id: reply.id } })}
          />
        )}
      </Group>
    </Paper>
  );
}
