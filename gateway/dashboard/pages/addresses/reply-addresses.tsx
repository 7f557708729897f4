import { Anchor, Button, Code, Modal, Text } from '@mantine/core';
import { Link, useSearchParams } from 'wouter';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { IconMessageReply } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Row, RowList } from '../../parts/row-list.tsx';
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
      <RowList
        label="Reply addresses"
        read={(after) => ({
          query: REPLY_ADDRESSES,
          variables: { first: PAGE, after },
          kinds: ['EMAIL_RECEIVED'],
          types: ['ReplyAddress'],
        })}
        pageOf={({ replyAddresses }) => replyAddresses}
        pages={pages}
        more={() => set('pages', String(pages + 1))}
        empty={
          <EmptyState
            icon={IconMessageReply}
            title="No reply addresses yet"
            about="Create one and use it as Reply-To of an email that you send. Mail to it carries your metadata and joins your thread. Its status and the number of messages appear here."
          >
            <Button {...needs('send')} onClick={() => set('new', '')}>
              Create reply address
            </Button>
          </EmptyState>
        }
      >
        {(reply) => <ReplyAddressRow key={reply.id} reply={reply} />}
      </RowList>
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

function ReplyAddressRow({ reply }: { reply: ShownReplyAddress }) {
  const { act } = useAct(REVOKE_REPLY_ADDRESS, { done: 'The reply address was revoked.' });
  const { address, status, deliverTo, metadata, senders, maxMessages, messageCount, expiresAt, thread } = reply;
  return (
    <Row
      name={
        <>
          <Text fw={600} size="sm" className="postroom-wrap" miw={0}>
            {address}
          </Text>
          <CopyButton text={address} label={`Copy ${address}`} />
          <StatusBadge status={status} tone={TONES[status]} />
        </>
      }
      about={
        <>
          {maxMessages === null
            ? `${messageCount} ${messageCount === 1 ? 'message' : 'messages'}, no limit`
            : `${messageCount} of ${maxMessages} messages used`}
          {expiresAt === null ? (
            ', never expires'
          ) : (
            <RelativeTime at={expiresAt} prefix={status === 'EXPIRED' ? ', expired ' : ', expires '} />
          )}
        </>
      }
      actions={
        status !== 'REVOKED' && (
          <ConfirmButton
            {...needs('send')}
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
        )
      }
    >
      <Text size="sm">
        {senders.length === 0 ? 'Everyone may write' : `Only ${senders.join(', ')} may write`}
        {deliverTo !== null && `; delivered to ${deliverTo}`}
        <RelativeTime at={reply.createdAt} prefix=" · created " />
      </Text>
      {thread !== null && (
        <Anchor component={Link} href={`/inbox/${thread.id}`} size="sm">
          Joins the thread "{thread.normalizedSubject || 'No subject'}"
        </Anchor>
      )}
      {metadata !== null && (
        <Text size="sm" component="div">
          Metadata <Code>{JSON.stringify(metadata)}</Code>
        </Text>
      )}
    </Row>
  );
}
