import { parentPort } from 'node:worker_threads';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
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
];

/* The program of a thread of signing-thread.ts: signs what it is sent, with mailauth. */
parentPort?.on('message', (task: SigningTask) => {
  void answer(task).then((message) => parentPort?.postMessage(message));
});

async function answer(task: SigningTask): Promise<SigningAnswer> {
  const { number, octets, domain, selector, privateKey, signedAt } = task;
  const identity = { signingDomain: domain, selector, privateKey };
  try {
    const { signatures, errors } = await dkimSign(Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength), {
      ...identity,
      canonicalization: 'relaxed/relaxed',
      algorithm: 'rsa-sha256',
      signTime: signedAt,
      headerList: SIGNED_FIELDS,
      signatureData: [identity],
    });
    const [failure] = errors;
    return failure === undefined ? { number, field: signatures } : { number, error: String(failure.err) };
  } catch (error) {
    return { number, error: String(error) };
  }
}
