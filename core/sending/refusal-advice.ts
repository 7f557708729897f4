import { z } from 'zod';
import { oneOf } from '../shared/vocabulary.ts';

interface ReasonFacts {
  /** whether the address or its domain can receive no mail at all, so that it is suppressed */
  isHard: boolean;
  /** what happened, as a phrase */
  title: string;
  /** what the sender can do, one sentence */
  advice: string;
}

/** Why a server refused or did not deliver a message, in plain words. */
const REFUSAL_REASONS = {
  user_unknown: {
    isHard: true,
    title: 'The address does not exist',
    advice: 'Check the address for typos and remove it from your lists.',
  },
  address_moved: {
    isHard: true,
    title: 'The recipient moved to another address',
    advice: 'Ask the recipient for the new address.',
  },
  host_unknown: {
    isHard: true,
    title: 'The domain does not exist',
    advice: 'Check the part after the @ for typos and remove the address from your lists.',
  },
  mail_not_accepted: {
    isHard: true,
    title: 'The domain accepts no mail',
    advice: 'Remove the address from your lists, or ask the recipient for another one.',
  },
  mailbox_full: {
    isHard: false,
    title: 'The mailbox is full',
    advice: 'Send the message again in a few days, or reach the recipient another way.',
  },
  mailbox_disabled: {
    isHard: false,
    title: 'The mailbox is disabled or inactive',
    advice: 'Reach the recipient another way, and stop sending if the mailbox stays disabled.',
  },
  recipient_rejected: {
    isHard: false,
    title: 'The recipient’s filter rejected the message',
    advice: 'Ask the recipient to allow your address.',
  },
  sender_rejected: {
    isHard: false,
    title: 'The server does not accept mail from this sender',
    advice: 'Check that your From address exists and may write to this recipient or list.',
  },
  blocked: {
    isHard: false,
    title: 'The server blocks your IP address or host',
    advice: 'Look up your IP address in the block list that the server names and request its removal.',
  },
  reputation: {
    isHard: false,
    title: 'Your domain or IP address has a poor reputation',
    advice: 'Send less mail to this provider for a while, and only to recipients who expect it.',
  },
  missing_reverse_dns: {
    isHard: false,
    title: 'Your IP address has no valid reverse DNS record',
    advice: 'Ask your hosting provider to set a PTR record that matches your mail host name.',
  },
  authentication_failed: {
    isHard: false,
    title: 'The message failed SPF, DKIM or DMARC',
    advice: 'Check the DNS records of your domain on its page.',
  },
  policy: {
    isHard: false,
    title: 'A policy of the receiver rejected the message',
    advice: 'Read the server’s reply for the rule, or contact the postmaster of the receiver.',
  },
  spam: {
    isHard: false,
    title: 'The message looks like spam to the receiver',
    advice: 'Change the content and its links, and check them against block lists.',
  },
  virus: {
    isHard: false,
    title: 'The receiver found a virus in the message',
    advice: 'Scan the attachments and send the message without them.',
  },
  content_rejected: {
    isHard: false,
    title: 'The receiver rejected the content or format of the message',
    advice: 'Read the server’s reply for the header field or part that it rejects.',
  },
  message_too_large: {
    isHard: false,
    title: 'The message is too large',
    advice: 'Send a link instead of the attachment.',
  },
  rate_limited: {
    isHard: false,
    title: 'The server received too much mail in a short time',
    advice: 'Send more slowly to this provider.',
  },
  relay_denied: {
    isHard: false,
    title: 'The server does not accept mail for this domain',
    advice: 'Check the MX records of the recipient’s domain, or tell the recipient about it.',
  },
  security: {
    isHard: false,
    title: 'The server requires authentication or encryption',
    advice: 'Ask the recipient’s administrator whether outside senders may write to this address.',
  },
  protocol_error: {
    isHard: false,
    title: 'The server did not accept an SMTP command',
    advice: 'Send the message again, and report the server’s reply if it repeats.',
  },
  expired: {
    isHard: false,
    title: 'The message could not be delivered in time',
    advice: 'Send the message again later.',
  },
  network_error: {
    isHard: false,
    title: 'The server could not be reached',
    advice: 'Send the message again later; the recipient’s server or its DNS has a problem.',
  },
  system_error: {
    isHard: false,
    title: 'The receiving system failed',
    advice: 'Send the message again later; the problem is at the receiver.',
  },
  unknown: {
    isHard: false,
    title: 'The server gave no known reason',
    advice: 'Read the server’s reply.',
  },
} as const satisfies Record<string, ReasonFacts>;

export type RefusalReason = keyof typeof REFUSAL_REASONS;

export const REFUSAL_REASON_NAMES = Object.keys(REFUSAL_REASONS) as [RefusalReason, ...RefusalReason[]];

const REASON_TITLES = Object.fromEntries(
  Object.entries(REFUSAL_REASONS).map(([reason, { title }]) => [reason, `${title}.`]),
) as Record<RefusalReason, string>;

/** Why a server refused or deferred a message, in plain words. */
export const refusalShape = z
  .object({
    reason: oneOf(REFUSAL_REASON_NAMES, {
      name: 'RefusalReason',
      description: 'Why a server refused or deferred an email.',
      values: REASON_TITLES,
    }).meta({ description: 'The reason.' }),
    type: oneOf(['hard', 'soft'], {
      name: 'RefusalType',
      description: 'Whether the address can receive mail at all.',
      values: { hard: 'The address can receive no mail.', soft: 'Refused or deferred for another reason.' },
    }).meta({
      description: '`hard`: the address can receive no mail. `soft`: refused or deferred for another reason.',
    }),
    title: z.string().meta({ description: 'What happened.', examples: ['The mailbox is full'] }),
    advice: z.string().meta({ description: 'What you can do.' }),
  })
  .meta({ id: 'Refusal', description: 'Why a server refused or deferred an email, in plain words.' });
export type RefusalAdvice = z.infer<typeof refusalShape>;

/** Returns a reason as users read it; null when there is none. */
export function adviceOn(reason: RefusalReason | null): RefusalAdvice | null {
  if (reason === null) return null;
  const { isHard, title, advice } = REFUSAL_REASONS[reason];
  return { reason, type: isHard ? 'hard' : 'soft', title, advice };
}

/** Returns whether an address that is refused for this reason can receive no mail at all. */
export function isHardReason(reason: RefusalReason): boolean {
  return REFUSAL_REASONS[reason].isHard;
}
