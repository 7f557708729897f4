import { stripTags } from '../html/text-of-html.ts';
import type { AddressFields } from '../mime/address.ts';
import type { Authentication } from '../mime/authentication.ts';
import type { GuardFacts } from './guard-rule.ts';

/** The stored fields of a received message that rules look at. */
export interface GuardedMail {
  subject: string;
  addresses: AddressFields;
  /** envelope recipient and own address, without plus-tag */
  recipients: (string | null)[];
  /** null when the message has none, or no rule looks at bodies */
  textBody: string | null;
  htmlBody: string | null;
  attachments: { filename: string; contentType: string }[];
  authentication: Authentication | null;
  injection: GuardFacts['injection'];
  spam: GuardFacts['spam'];
}

/** Maximum characters of the text body that rules look at, and of the text of the HTML body. */
export const MAX_GUARDED_TEXT_LENGTH = 100_000;
/** Maximum characters of the HTML body, most of which is markup. */
export const MAX_GUARDED_HTML_LENGTH = 200_000;

/** Returns the facts of a stored message. The text of HTML is expensive, so it is computed on first use. */
export function toGuardFacts(mail: GuardedMail): GuardFacts {
  const { subject, addresses, attachments, authentication, injection, spam } = mail;
  const addressees = [addresses.to, addresses.cc].flatMap((list) => list?.addresses ?? []);
  let text: string | undefined;
  return {
    subject,
    from: addresses.from?.addresses ?? [],
    to: [...new Set([...addressees.map(({ address }) => address), ...mail.recipients].flatMap(lowerCased))],
    get text() {
      text ??= readText(mail);
      return text;
    },
    attachments,
    authentication,
    injection,
    spam,
  };
}

function lowerCased(address: string | null): string[] {
  return address === null ? [] : [address.toLowerCase()];
}

function readText({ subject, textBody, htmlBody }: GuardedMail): string {
  const html = htmlBody === null ? '' : stripTags(htmlBody.slice(0, MAX_GUARDED_HTML_LENGTH));
  return [subject, textBody ?? '', html].map((part) => part.slice(0, MAX_GUARDED_TEXT_LENGTH)).join('\n');
}
