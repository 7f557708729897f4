import { stripTags } from '../html/text-of-html.ts';
import type { AddressFields } from '../mime/address.ts';
import type { Authentication } from '../mime/authentication.ts';
import type { GuardFacts } from './guard-rule.ts';

/** What is stored of a received mail, as far as rules look at it. */
export interface GuardedMail {
  subject: string;
  addresses: AddressFields;
  /** of the envelope, and the address of ours that took it: without plus-tag */
  recipients: (string | null)[];
  /** null when there is none, or when no rule looks at bodies */
  textBody: string | null;
  htmlBody: string | null;
  attachments: { filename: string; contentType: string }[];
  authentication: Authentication | null;
}

/** Characters of the text body that rules look at, and of the text of the HTML body. */
export const MAX_GUARDED_TEXT_LENGTH = 100_000;
/** Characters of the HTML body, of which markup is the larger part. */
export const MAX_GUARDED_HTML_LENGTH = 200_000;

/** The facts of a stored mail. Reading HTML is dear: its text is made when it is asked for. */
export function guardFactsOf(mail: GuardedMail): GuardFacts {
  const { subject, addresses, attachments, authentication } = mail;
  const addressees = [addresses.to, addresses.cc].flatMap((list) => list?.addresses ?? []);
  let text: string | undefined;
  return {
    subject,
    from: addresses.from?.addresses ?? [],
    to: [...new Set([...addressees.map(({ address }) => address), ...mail.recipients].flatMap(lowerCased))],
    get text() {
      text ??= textOf(mail);
      return text;
    },
    attachments,
    authentication,
  };
}

function lowerCased(address: string | null): string[] {
  return address === null ? [] : [address.toLowerCase()];
}

function textOf({ subject, textBody, htmlBody }: GuardedMail): string {
  const html = htmlBody === null ? '' : stripTags(htmlBody.slice(0, MAX_GUARDED_HTML_LENGTH));
  return [subject, textBody ?? '', html].map((part) => part.slice(0, MAX_GUARDED_TEXT_LENGTH)).join('\n');
}
