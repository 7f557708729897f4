import { hash } from 'node:crypto';
import type { EnvelopeAddress } from 'haraka/connection.js';
import { outgoingMailbox } from '../../../core/sending/outgoing-addresses.ts';
import { MAX_SUBMITTED_RECIPIENTS } from '../../../core/sending/submitted-message.ts';
import type { Reply } from '../../../schema/messages.ts';
import { mailbox } from './mailbox.ts';
import { decideMail, type EsmtpParameters, type Reception } from './reception.ts';
import type { Session } from './session.ts';
import { close, type Decision, reply } from './smtp-reply.ts';

/*
 * Submission of mail by clients (RFC 6409): a session on one of the submission ports. It authenticates under TLS (RFC 4954, RFC 8314), and
 * a gateway sends its messages. Without TLS: 530 to everything but EHLO and STARTTLS; without AUTH: 530 to MAIL.
 */

/** Wrong keys before the session ends. */
const MAX_FAILURES = 3;
/** Characters of a response to a challenge, and of a user name or password. */
const MAX_RESPONSE_LENGTH = 1_000;

const badSequence = reply(503, '5.5.1 Already authenticated');
const badMechanism = reply(504, '5.5.4 Use AUTH PLAIN or AUTH LOGIN');
const badResponse = reply(501, '5.5.2 Cannot decode the response');
const aborted = reply(501, '5.7.0 Authentication aborted');
const needsTls = reply(538, '5.7.11 Encryption required: use STARTTLS first');
const tooMany = close(421, '4.7.0 Too many failed attempts');

type Accepted = Extract<Reply<'gateway.message.submit'>, { verdict: 'accepted' }>;

/** What a step of AUTH leads to: a challenge, whose response `next` takes, or a decision. */
export type AuthStep = { challenge: string; next: (line: string) => AuthStep | Promise<Decision> } | Promise<Decision>;

/** AUTH (RFC 4954 §4): PLAIN (RFC 4616), and LOGIN, which many clients speak. The user name does not matter: the password is an API key. */
export function authenticate(reception: Reception, session: Session, parameters: string): AuthStep {
  const { connection } = session;
  if (!connection.tls.enabled) return decided(needsTls);
  if (session.keySha256 !== null || connection.transaction !== null) return decided(badSequence);
  const [mechanism = '', initial, ...rest] = parameters.trim().split(/ +/);
  if (rest.length > 0) return decided(reply(501, '5.5.4 Bad parameters of AUTH'));
  switch (mechanism.toUpperCase()) {
    case 'PLAIN': {
      const take = (line: string) => plain(reception, session, line);
      return initial === undefined ? { challenge: '', next: take } : take(initial === '=' ? '' : initial);
    }
    case 'LOGIN': {
      const password = { challenge: base64('Password:'), next: (line: string) => login(reception, session, line) };
      if (initial !== undefined) return password;
      return {
        challenge: base64('Username:'),
        next: (line) => (decoded(line) === null ? decided(line === '*' ? aborted : badResponse) : password),
      };
    }
    default:
      return decided(badMechanism);
  }
}

function plain(reception: Reception, session: Session, line: string): Promise<Decision> {
  const text = decoded(line);
  if (text === null) return decided(line === '*' ? aborted : badResponse);
  const [, , key, ...rest] = text.split('\0');
  return key === undefined || rest.length > 0 ? decided(badResponse) : checkKey(reception, session, key);
}

function login(reception: Reception, session: Session, line: string): Promise<Decision> {
  const key = decoded(line);
  return key === null ? decided(line === '*' ? aborted : badResponse) : checkKey(reception, session, key);
}

async function checkKey({ bus, log }: Reception, session: Session, key: string): Promise<Decision> {
  const { connection } = session;
  const keySha256 = hash('sha256', key, 'hex');
  const verdict = await bus.ask('gateway.key.check', { keySha256, remoteAddress: connection.remote.ip });
  if (verdict.verdict === 'accept') {
    session.keySha256 = keySha256;
    session.idleCommands = 0;
    return reply(235, '2.7.0 Authentication successful');
  }
  session.authFailures += 1;
  log.info({ event: 'submission.auth-failed', session: connection.uuid, remoteAddress: connection.remote.ip });
  if (session.authFailures >= MAX_FAILURES) return tooMany;
  return reply(verdict.code, `${verdict.enhancedCode} ${verdict.text}`);
}

/** MAIL: as in reception, once the client has authenticated. */
export function decideSubmittedMail(
  reception: Reception,
  session: Session,
  parameters: EsmtpParameters,
): Decision | Promise<Decision> {
  if (!session.connection.tls.enabled) return reply(530, '5.7.0 Must issue a STARTTLS command first');
  if (session.keySha256 === null) return reply(530, '5.7.0 Authentication required');
  if (mailbox(session.connection.transaction?.mail_from ?? null) === '')
    return reply(550, '5.1.7 The sender must be an address on one of your domains');
  return decideMail(reception, session, parameters);
}

/** RCPT: any address that mail can be sent to. The gateway checks suppressions when it has the message. */
export function decideSubmittedRecipient(session: Session, forwardPath: EnvelopeAddress): Decision {
  const address = mailbox(forwardPath);
  if (outgoingMailbox({ name: null, address }) === null) return reply(550, '5.1.3 Mail cannot be sent to this address');
  if (session.submittedTo.length >= MAX_SUBMITTED_RECIPIENTS) return reply(452, '4.5.3 Too many recipients');
  session.submittedTo.push(address);
  return reply(250, '2.1.5 Recipient ok');
}

/** End of data: a gateway sends the message. Rejects when it is unknown whether it did. */
export async function submit({ bus, settings }: Reception, session: Session, bytes: Buffer): Promise<Decision> {
  const { connection, keySha256, submittedTo: recipients } = session;
  if (keySha256 === null) throw new Error('a message without authentication');
  const reversePath = mailbox(connection.transaction?.mail_from ?? null);
  settings.fault('submission.before-ask');
  const outcome = await bus.ask('gateway.message.submit', { keySha256, reversePath, recipients }, { bytes });
  settings.fault('submission.after-reply');
  switch (outcome.verdict) {
    case 'accepted':
      session.acceptedMessages += 1;
      session.idleCommands = 0;
      return reply(250, `2.0.0 Ok: ${acceptedText(outcome)}`);
    case 'refused':
      return reply(outcome.code, `${outcome.enhancedCode} ${outcome.text}`);
    default:
      return outcome satisfies never;
  }
}

/** What happened to a message, with its email id. The time of a repeat is the one of the first submission. */
function acceptedText({ emailId, isRepeated, awaitsApprovalUntil }: Accepted): string {
  const before = isRepeated ? 'accepted before, ' : '';
  if (awaitsApprovalUntil !== null) return `${before}waits for approval until ${awaitsApprovalUntil} as ${emailId}`;
  return isRepeated ? `accepted before as ${emailId}` : `queued as ${emailId}`;
}

function decided(decision: Decision): Promise<Decision> {
  return Promise.resolve(decision);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Null when the text is not base64, or too long. */
function decoded(text: string): string | null {
  if (text.length > MAX_RESPONSE_LENGTH || !/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  return Buffer.from(text, 'base64').toString();
}
