import { Anchor, Group, Popover, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconShieldCheck, IconShieldQuestion, IconShieldX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { exactTime } from '../../parts/relative-time.tsx';
import { mailboxText } from './people.ts';
import type { MessageBodyData, ThreadMessage } from './thread-documents.ts';

type Authentication = NonNullable<MessageBodyData['content']['authentication']>;

const REASONS: Record<NonNullable<ThreadMessage['threadReason']>, string> = {
  NEW: 'it opened this conversation',
  HEADER: 'it says that it answers a message of this conversation (In-Reply-To)',
  REFERENCES: 'it names a message of this conversation among those before it (References)',
  SUBJECT: 'its subject and its people are those of this conversation',
  MANUAL: 'somebody put it here by hand',
};

const RESULTS: Record<Authentication['spf']['result'], string> = {
  PASS: 'pass',
  FAIL: 'fail',
  SOFTFAIL: 'softfail: probably not',
  NEUTRAL: 'neutral: nothing can be said',
  NONE: 'none: nothing to check',
  POLICY: 'policy: it holds, but is not taken',
  PERMERROR: 'permerror: what the domain publishes cannot be read',
  TEMPERROR: 'temperror: DNS did not answer in time',
};

/** To whom, when, whether the sender is proven, and why the message stands in this conversation. */
export function MessageEnvelope({
  message,
  authentication,
}: {
  message: ThreadMessage;
  authentication: Authentication | null;
}) {
  const { to, cc, bcc, replyTo, threadReason, createdAt, envelopeRecipient, id } = message;
  return (
    <Stack gap={2}>
      <Line name="To">{to.length === 0 ? (envelopeRecipient ?? 'nobody named') : to.map(mailboxText).join(', ')}</Line>
      {cc.length > 0 && <Line name="Cc">{cc.map(mailboxText).join(', ')}</Line>}
      {bcc.length > 0 && <Line name="Bcc">{bcc.map(mailboxText).join(', ')}</Line>}
      {replyTo.length > 0 && <Line name="Reply to">{replyTo.map(mailboxText).join(', ')}</Line>}
      <Group gap="sm">
        <Text size="xs" c="dimmed">
          {exactTime(createdAt)}
        </Text>
        {authentication !== null && <SenderMark authentication={authentication} />}
        {threadReason !== null && <WhyHere reason={threadReason} />}
        <Anchor component={Link} href={`/emails/${id}`} size="xs">
          Details
        </Anchor>
      </Group>
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
          Why here
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Text size="sm">{`This message stands here because ${REASONS[reason]}.`}</Text>
        <Text size="xs" c="dimmed" mt={6}>
          If it belongs elsewhere, move it or split the conversation, by the menu of the message.
        </Text>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Whether the domain that the sender shows stands behind the mail. */
function SenderMark({ authentication }: { authentication: Authentication }) {
  const { spf, dkim, dmarc, arc, hasSeveralFromFields } = authentication;
  const isProven = dmarc.result === 'PASS' && !hasSeveralFromFields;
  const isBad = dmarc.result === 'FAIL' || hasSeveralFromFields;
  const Icon = isProven ? IconShieldCheck : isBad ? IconShieldX : IconShieldQuestion;
  const words = isProven ? 'Sender proven' : isBad ? 'Sender not proven' : 'Sender unknown';
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
          <Verdict name="SPF" about={`${RESULTS[spf.result]}${of(spf.domain)}`} />
          {dkim.length === 0 && <Verdict name="DKIM" about="no signature" />}
          {dkim.map((one, index) => (
            <Verdict
              // oxlint-disable-next-line react/no-array-index-key -- signatures have no names of their own
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
          <Text size="xs" c="dimmed">
            {hasSeveralFromFields
              ? 'The mail has more than one From field, which no honest program writes.'
              : isProven
                ? 'The domain that the sender shows stands behind this mail.'
                : 'Nothing proves that the mail is from whom it says. Be careful with what it asks for.'}
          </Text>
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
