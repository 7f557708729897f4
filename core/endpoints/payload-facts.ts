import type { AddressFields } from '../mime/address.ts';
import type { Attachment } from '../mime/attachment.ts';

/** A received mail as the payload needs it. */
export interface PayloadEmail {
  id: string;
  messageId: string;
  subject: string;
  /** envelope recipient as given */
  recipient: string;
  receivedAt: Date;
  /** the Date field; null when absent or invalid */
  date: Date | null;
  threadId: string | null;
  threadPosition: number | null;
}

/** What the parser made of the mail (table email_content). */
export interface PayloadContent {
  /** [lower-case name, decoded value] in the order of the message */
  headers: readonly (readonly [string, string])[];
  addresses: AddressFields;
  inReplyTo: readonly string[];
  references: readonly string[];
  textBody: string | null;
  htmlBody: string | null;
  cleanedText: string | null;
  cleanedHtml: string | null;
  attachments: readonly Attachment[];
  priority: string | null;
  isTruncated: boolean;
}

export interface PayloadFacts {
  /** when the delivery was made, not the attempt: so every attempt sends the same octets, and links end at one time */
  timestamp: Date;
  userId: string;
  email: PayloadEmail;
  content: PayloadContent;
  /** the octets of the message; null when they are gone, or not needed (needsRaw) */
  raw: Buffer | null;
  endpoint: { id: string; name: string; type: string };
  /** without a slash at its end */
  publicUrl: string;
  /** see deriveDownloadLinkKey */
  linkKey: Uint8Array;
}

/** What of its configuration decides what an endpoint is sent. */
export interface PayloadOptions {
  payload: 'nested' | 'flat';
  /** octets of the whole body */
  maxPayloadOctets: number;
  attachments: 'content' | 'link';
}
