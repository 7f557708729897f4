import { Anchor, Group, Popover, Stack, Text, UnstyledButton } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { IconShieldCheck, IconShieldQuestion, IconShieldX, type IconType } from '../../parts/icons.ts';
import { exactTime } from '../../parts/time-words.ts';
import { LeaveList } from './leave-list.tsx';
import { mailboxText, nameOf } from './people.ts';
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
  const first = to[0] === undefined ? (envelopeRecipient ?? 'undisclosed recipients') : nameOf(to[0]);
  return (
    <Stack gap={2}>
      <Group gap="sm">
        <Text size="xs" c="dimmed" className="postroom-wrap">
          {`To ${first}${everyone.length > 1 ? ` and ${everyone.length - 1} more` : ''}`}
        </Text>
        {authentication !== null && <SenderMark authentication={authentication} />}
        <UnstyledButton fz="xs" c="var(--mantine-color-anchor)" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide details' : 'Show details'}
        </UnstyledButton>
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
            <Anchor component={Link} href={`/emails/${id}`} size="xs">
              Open message page
            </Anchor>
          </Group>
        </>
      )}
    </Stack>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Text size="xs" c="dimmed" className="postroom-wrap">
      {`${name}: `}
      {children}
    </Text>
  );
}

function WhyHere({ reason }: { reason: NonNullable<ThreadMessage['threadReason']> }) {
  return (
    <Popover width={280} position="bottom-start" withRoles trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton fz="xs" c="var(--mantine-color-anchor)">
          Reason
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Text size="sm">{REASONS[reason]}</Text>
        <Text size="xs" c="dimmed" mt={6}>
          To move it or to split the conversation, use the menu of the message.
        </Text>
      </Popover.Dropdown>
    </Popover>
  );
}

const MARKS: Record<Authentication['sender']['verdict'], { Icon: IconType; words: string }> = {
  VERIFIED: { Icon: IconShieldCheck, words: 'Sender verified' },
  FORWARDED: { Icon: IconShieldQuestion, words: 'Forwarded' },
  OTHER_DOMAIN: { Icon: IconShieldQuestion, words: 'Sent through another domain' },
  UNVERIFIED: { Icon: IconShieldQuestion, words: 'Sender unknown' },
  FAILED: { Icon: IconShieldX, words: 'Sender not verified' },
  UNCHECKED: { Icon: IconShieldQuestion, words: 'Sender not checked' },
};

/** Who vouches for the sender. */
function SenderMark({ authentication }: { authentication: Authentication }) {
  const { sender, spf, dkim, dmarc, arc } = authentication;
  const { Icon, words } = MARKS[sender.verdict];
  return (
    <Popover width={340} position="bottom-start" withRoles trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton fz="xs" c="var(--mantine-color-anchor)" style={{ display: 'inline-flex', gap: 4 }}>
          <Icon size={15} aria-hidden />
          {words}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={6}>
          <Text size="sm" className="postroom-wrap">
            {sender.text}
          </Text>
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
    <Text size="sm" className="postroom-wrap">
      <b>{name}</b> {about}
    </Text>
  );
}

function of(domain: string | null): string {
  return domain === null ? '' : `, ${domain}`;
}
