import { buffer } from 'node:stream/consumers';
import { parentPort } from 'node:worker_threads';
import DKIM from 'nodemailer/lib/dkim';
import type { SigningAnswer, SigningTask } from './signing-thread.ts';

/** Fields that are signed where they stand (RFC 6376 §5.4.1); RFC 8058 §4 asks for the List-Unsubscribe pair. */
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

/* The program of a thread of signing-thread.ts: signs what it is sent, with nodemailer. */
parentPort?.on('message', (task: SigningTask) => {
  void sign(task).then(
    (signed) => post({ number: task.number, signed }, [signed.buffer as ArrayBuffer]),
    (error: unknown) => post({ number: task.number, error: String(error) }),
  );
});

function post(answer: SigningAnswer, moved: ArrayBuffer[] = []): void {
  parentPort?.postMessage(answer, moved);
}

async function sign({ octets, domain, selector, privateKey }: SigningTask): Promise<Uint8Array> {
  const message = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
  const signer = new DKIM({ domainName: domain, keySelector: selector, privateKey, headerFieldNames: SIGNED_FIELDS });
  const signed = await buffer(signer.sign(message));
  // A key that is none is passed over in silence.
  if (signed.length <= message.length) throw new Error('the message could not be signed');
  return new Uint8Array(signed);
}
