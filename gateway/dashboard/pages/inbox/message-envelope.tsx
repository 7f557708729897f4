import { Anchor, Button, Group, Popover, Stack, UnstyledButton } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { mutation } from '../../graphql.ts';
import { needs } from '../../parts/controls.tsx';
import { Icon, type IconName } from '../../parts/icons.ts';
import { notify } from '../../parts/notify.tsx';
import { Fine, PageLink, Small } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { exactTime } from '../../parts/words.ts';
import { mailboxText, showName } from './people.ts';
import type { MessageBodyData, ThreadMessage } from './thread-documents.ts';

type Authentication = NonNullable<MessageBodyData['content']['authentication']>;

const REASONS: Record<NonNullable<ThreadMessage['threadReason']>, string> = {
  NEW: 'First message of this conversation.',
  HEADER: 'It replies to a message of this conversation (In-Reply-To).',
  REFERENCES: 'It refers to a message of this conversation (References).',
  SUBJECT: 'It has the same subject and people as this conversation.',
  REPLY_ADDRESS: 'It was sent to a reply address of this conversation.',
  MANUAL: 'It was moved here manually.',
};

const RESULTS: Record<Authentication['spf']['result'], string> = {
  PASS: 'pass',
  FAIL: 'fail',
  SOFTFAIL: 'softfail: probably not authorized',
  NEUTRAL: 'neutral: no statement',
  NONE: 'none: nothing to check',
  POLICY: 'policy: passed but not accepted',
  PERMERROR: 'permerror: invalid DNS record',
  TEMPERROR: 'temperror: DNS did not respond in time',
};

/** Recipients, date, sender verification, and the reason why the message belongs to this conversation. */
export function MessageEnvelope({
  message,
  body,
}: {
  message: ThreadMessage;
  /** null: not loaded yet */
  body: MessageBodyData | null;
}) {
  const { to, cc, bcc, replyTo, threadReason, createdAt, envelopeRecipient, ownAddress, id } = message;
  const authentication = body?.content.authentication ?? null;
  const offer = body?.listUnsubscribe ?? null;
  const [isOpen, setOpen] = useState(false);
  const everyone = [...to, ...cc, ...bcc];
  const first = to[0] === undefined ? (envelopeRecipient ?? 'undisclosed recipients') : showName(to[0]);
  return (
    <Stack gap={2}>
      <Group gap="sm">
        <Fine className="postroom-wrap">
          {`To ${first}${everyone.length > 1 ? ` and ${everyone.length - 1} more` : ''}`}
        </Fine>
        {authentication !== null && <SenderMark authentication={authentication} />}
        <Pressed aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide details' : 'Show details'}
        </Pressed>
        {offer !== null && <LeaveList emailId={id} offer={offer} from={ownAddress?.address ?? envelopeRecipient} />}
      </Group>
      {isOpen && (
        <>
          <Line name="To">
            {to.length === 0 ? (envelopeRecipient ?? 'undisclosed recipients') : to.map(mailboxText).join(', ')}
          </Line>
          {cc.length > 0 && <Line name="Cc">{cc.map(mailboxText).join(', ')}</Line>}
          {bcc.length > 0 && <Line name="Bcc">{bcc.map(mailboxText).join(', ')}</Line>}
          {replyTo.length > 0 && <Line name="Reply to">{replyTo.map(mailboxText).join(', ')}</Line>}
          <Line name={message.type === 'RECEIVED' ? 'Received' : 'Sent'}>{exactTime(createdAt)}</Line>
          {message.date !== null && message.type === 'RECEIVED' && (
            <Line name="Dated by the sender">{exactTime(message.date)}</Line>
          )}
          <Group gap="sm">
            {threadReason !== null && <WhyHere reason={threadReason} />}
            <PageLink href={`/emails/${id}`} size="xs">
              Open message page
            </PageLink>
          </Group>
        </>
      )}
    </Stack>
  );
}

/** A small text that is pressed. */
const Pressed = UnstyledButton.withProps({
  fz: 'xs',
  c: 'var(--mantine-color-anchor)',
  mih: 24,
  style: { display: 'inline-flex', alignItems: 'center', gap: 4 },
});

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Fine className="postroom-wrap">
      {`${name}: `}
      {children}
    </Fine>
  );
}

function WhyHere({ reason }: { reason: NonNullable<ThreadMessage['threadReason']> }) {
  return (
    <Popover width={280} position="bottom-start" withRoles trapFocus returnFocus>
      <Popover.Target>
        <Pressed>Reason</Pressed>
      </Popover.Target>
      <Popover.Dropdown>
        <Small>{REASONS[reason]}</Small>
        <Fine mt={6}>To move it or to split the conversation, use the menu of the message.</Fine>
      </Popover.Dropdown>
    </Popover>
  );
}

const MARKS: Record<Authentication['sender']['verdict'], { icon: IconName; words: string }> = {
  VERIFIED: { icon: 'shield-check', words: 'Sender verified' },
  FORWARDED: { icon: 'shield-question', words: 'Forwarded' },
  OTHER_DOMAIN: { icon: 'shield-question', words: 'Sent through another domain' },
  UNVERIFIED: { icon: 'shield-question', words: 'Sender unknown' },
  FAILED: { icon: 'shield-x', words: 'Sender not verified' },
  UNCHECKED: { icon: 'shield-question', words: 'Sender not checked' },
};

/** Who vouches for the sender. */
function SenderMark({ authentication }: { authentication: Authentication }) {
  const { sender, spf, dkim, dmarc, arc } = authentication;
  const { icon, words } = MARKS[sender.verdict];
  return (
    <Popover width={340} position="bottom-start" withRoles trapFocus returnFocus>
      <Popover.Target>
        <Pressed>
          <Icon name={icon} size={15} />
          {words}
        </Pressed>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={6}>
          <Small className="postroom-wrap">{sender.text}</Small>
          <Verdict name="SPF" about={`${RESULTS[spf.result]}${of(spf.domain)}`} />
          {dkim.length === 0 && <Verdict name="DKIM" about="no signature" />}
          {dkim.map((one, index) => (
            <Verdict
              // oxlint-disable-next-line react/no-array-index-key -- signatures have no id
              key={index}
              name="DKIM"
              about={`${RESULTS[one.result]}${of(one.domain)}${one.selector === null ? '' : `, key ${one.selector}`}`}
            />
          ))}
          <Verdict
            name="DMARC"
            about={`${RESULTS[dmarc.result]}${of(dmarc.domain)}${dmarc.policy === null ? '' : `, policy ${dmarc.policy.toLowerCase()}`}`}
          />
          <Verdict name="ARC" about={RESULTS[arc.result]} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function Verdict({ name, about }: { name: string; about: string }) {
  return (
    <Small className="postroom-wrap">
      <b>{name}</b> {about}
    </Small>
  );
}

function of(domain: string | null): string {
  return domain === null ? '' : `, ${domain}`;
}

const UNSUBSCRIBE = mutation('unsubscribeFromList', 'isDone message');
const SEND = mutation('sendEmail', 'email { id }');

/** Leaves the list that sent a message: with one click or a mail after a question, or on the page of the list. */
function LeaveList({
  emailId,
  offer,
  from,
}: {
  emailId: string;
  /** the address that received the message, which a mail to the list comes from; null: unknown */
  from: string | null;
  offer: NonNullable<MessageBodyData['listUnsubscribe']>;
}) {
  const [isOpen, setOpen] = useState(false);
  const { act, isBusy } = useAct(UNSUBSCRIBE);
  const { act: send, isBusy: isSending } = useAct(SEND);
  const { url, isOneClick } = offer;
  const mail = offer.mailto === null || from === null ? null : readMailto(offer.mailto);
  const byMail = !isOneClick && url === null ? mail : null;
  if (url === null && byMail === null) return null;
  if (url !== null && !isOneClick)
    return (
      <Anchor size="xs" href={url} target="_blank" rel="noopener noreferrer">
        Unsubscribe
      </Anchor>
    );
  const leave = async () => {
    if (byMail !== null && from !== null) {
      const { payload } = await send({
        from,
        to: [byMail.to],
        subject: byMail.subject,
        text: byMail.body,
        idempotencyKey: `unsubscribe ${emailId}`,
      });
      setOpen(false);
      if (payload !== null)
        notify({ message: `A mail to ${byMail.to} asks to be removed from the list.`, color: 'green' });
      return;
    }
    const { payload } = await act({ emailId });
    setOpen(false);
    if (payload !== null) notify({ message: payload.message, color: payload.isDone ? 'green' : 'red' });
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} width={280} position="bottom-start" withRoles trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton fz="xs" c="var(--mantine-color-anchor)" onClick={() => setOpen(!isOpen)}>
          Unsubscribe
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <Small className="postroom-wrap">
            {byMail === null
              ? `Ask ${new URL(url ?? '').host} to send no more mail of this list?`
              : `Send a mail from ${from} to ${byMail.to}, which asks to be removed from this list? Its subject: ${byMail.subject}`}
          </Small>
          <Button {...needs('send')} size="xs" loading={isBusy || isSending} onClick={() => void leave()}>
            {byMail === null ? 'Unsubscribe' : 'Send mail'}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Returns the mail that a `mailto:` address asks for (RFC 6068); null if it names no or several addresses. */
function readMailto(mailto: string): { to: string; subject: string; body: string } | null {
  try {
    const { pathname, search } = new URL(mailto);
    // A plus is itself here, not a space: lists have it in their tokens (RFC 6068 section 5).
    const searchParams = new URLSearchParams(search.replaceAll('+', '%2B'));
    const to = decodeURIComponent(pathname).trim();
    if (!/^[^\s@,<>"]+@[^\s@,<>"]+$/.test(to)) return null;
    const subject = (searchParams.get('subject') ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, 500);
    const body = (searchParams.get('body') ?? '').trim().slice(0, 5_000);
    return { to, subject: subject === '' ? 'unsubscribe' : subject, body: body === '' ? 'unsubscribe' : body };
  } catch {
    return null;
  }
}
