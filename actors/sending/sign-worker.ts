import { buffer } from 'node:stream/consumers';
import DKIM from 'nodemailer/lib/dkim';
import { serveThread } from '../work/worker-threads.ts';
import type { SigningWork } from './sign-message.ts';

/** Header fields to sign (RFC 6376 §5.4.1); RFC 8058 §4 asks for the List-Unsubscribe pair. */
const SIGNED_FIELDS = [
  'From',
  'To',
  'Cc',
  'Subject',
  'Date',
  'Message-ID',
  'Reply-To',
  'In-Reply-To',
  'References',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'List-Id',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'Feedback-ID',
].join(':');

// The worker program of sign-message.ts: signs messages with nodemailer.
serveThread(sign, (signed) => [signed.buffer as ArrayBuffer]);

async function sign({ bytes, domain, selector, privateKey }: SigningWork): Promise<Uint8Array> {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const signer = new DKIM({ domainName: domain, keySelector: selector, privateKey, headerFieldNames: SIGNED_FIELDS });
  const signed = await buffer(signer.sign(message));
  // nodemailer silently skips a key that it cannot read.
  if (signed.length <= message.length) throw new Error('the message could not be signed');
  return new Uint8Array(signed);
}
