import { createHash, createHmac } from 'node:crypto';
import { deriveAgentSecret } from '../../core/accounts/auth-secret.ts';
import { keyHint } from '../../core/accounts/key-hint.ts';
import { agentCodeMail } from '../../core/accounts/system-account.ts';
import type { SendPolicy } from '../../core/sending/send-policy.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as rows from '../../db/queries/accounts/agent-sign-up.ts';
import { findKeyDomain } from '../../db/queries/accounts/api-key.ts';
import { newIdentifier, type OperationContext } from '../context.ts';
import { createDomain } from '../domains/domains.ts';
import { createEmailAddress } from '../domains/email-address-changes.ts';
import { requireOutsideAddress } from '../sending/system-mail.ts';

/** What an agent signs up with. */
export interface AgentSignUpInput {
  /** of its person, in lower case */
  email: string;
  name: string;
  /** by which a repeated request gets the same key; null: a repeated request gets none */
  idempotencyKey: string | null;
}

/** A workspace that an agent started. */
export interface AgentSignUp {
  address: string;
  /** null: it was shown in the response to the first request */
  apiKey: string | null;
  isConfirmed: boolean;
}

/** How long a code is valid. Milliseconds. */
const CODE_LIFE_MS = 3_600_000;
const CODE_DIGITS = 6;
/** The name of the only address of an inbox. */
const LOCAL_PART = 'agent';

/** What a key sends before its person has confirmed it: a little mail to that person. */
const policyFor = (email: string): SendPolicy => ({
  recipients: 'list',
  allow: [email],
  per_hour: 5,
  per_day: 20,
  attachments: false,
  links: false,
});

/**
 * Creates a workspace with an inbox and a key, and sends its person a code. The key writes to that person only until the code is confirmed.
 * Repeating the request continues it, wherever it ended. Throws validation, rate_limited, unavailable.
 */
export async function signUpAgent(
  context: OperationContext,
  { email, name, idempotencyKey }: AgentSignUpInput,
  domain: string,
): Promise<AgentSignUp> {
  const { database, settings, now, random } = context;
  // Otherwise an agent confirms itself by a code that it reads in another inbox.
  await requireOutsideAddress(context, email);
  const secret = deriveAgentSecret(settings.secretKey);
  const request = JSON.stringify([email, name, idempotencyKey]);
  const derive = (purpose: string) => createHmac('sha256', secret).update(`${purpose}\0${request}`).digest();
  // Without a key of the client, only the first response can show the API key.
  const apiKey = (idempotencyKey === null ? Buffer.from(random(32)) : derive('key')).toString('base64url');
  const code = makeCode(random(4));
  const newCode = (workspaceId: string) => ({
    hmac: hashCode(secret, workspaceId, code),
    expiresAt: new Date(now().getTime() + CODE_LIFE_MS),
  });
  const newId = newIdentifier(context, 'user');
  const started = await rows.startAgentSignUp(database, {
    workspaceId: newId,
    email,
    name,
    key: {
      id: newIdentifier(context, 'apiKey'),
      sha256: createHash('sha256').update(apiKey).digest(),
      hint: keyHint(apiKey),
      policy: policyFor(email),
    },
    requestSha256: createHash('sha256').update(derive('request')).digest(),
    code: newCode(newId),
  });
  const { outcome, workspaceId, isConfirmed } = started;
  if (workspaceId === null)
    throw new UserError(
      'rate_limited',
      `Several agents of this address wait to be confirmed. Confirm one, or wait ${rows.UNCONFIRMED_DAYS} days.`,
      { reason: 'TOO_MANY_UNCONFIRMED' },
    );
  const label = `${makeSlug(name)}-${derive('label').toString('hex').slice(0, 8)}`;
  const address = await openInbox(context, workspaceId, `${label}.${domain}`);
  const isRenewed =
    outcome === 'known' && !isConfirmed && (await rows.renewAgentCode(database, workspaceId, newCode(workspaceId)));
  if (outcome === 'made' || isRenewed)
    await context.sendServiceMail(agentCodeMail(email, { name, address, code, publicUrl: settings.publicUrl }));
  const showsKey = outcome === 'made' || (idempotencyKey !== null && !isConfirmed);
  return { address, apiKey: showsKey ? apiKey : null, isConfirmed };
}

/** Returns the address of a workspace on a domain, which are created if they do not exist. */
async function openInbox(context: OperationContext, workspaceId: string, domain: string): Promise<string> {
  const own: OperationContext = {
    ...context,
    workspaceId,
    settings: { ...context.settings, trustedDomains: [domain] },
  };
  const address = `${LOCAL_PART}@${domain}`;
  const find = async () =>
    (
      await asWorkspace(own.database, workspaceId, (transaction) =>
        findKeyDomain(transaction, workspaceId, domain, domain),
      )
    )?.id;
  const domainId = (await find()) ?? (await openDomain(own, domain)) ?? (await find());
  if (domainId === undefined) throw new UserError('unavailable', 'The inbox could not be created. Try again.');
  try {
    await createEmailAddress(own, { address, domainId });
  } catch (error) {
    if (!(error instanceof UserError) || error.reason !== 'ADDRESS_EXISTS') throw error;
  }
  return address;
}

/** Returns the ID of the domain that it creates; undefined when a request at the same time does. */
async function openDomain(own: OperationContext, domain: string): Promise<string | undefined> {
  try {
    return (await createDomain(own, { domain })).id;
  } catch (error) {
    if (error instanceof UserError && error.code === 'conflict') return undefined;
    throw error;
  }
}

/** Confirms the sign-up of the workspace of the request by the code that its person got. Throws validation, not_found, conflict, rate_limited. */
export async function confirmAgent(context: OperationContext, code: string): Promise<void> {
  const { database, workspaceId, settings, bus } = context;
  const hmac = hashCode(deriveAgentSecret(settings.secretKey), workspaceId, code);
  const { outcome, personId } = await asWorkspace(database, workspaceId, (transaction) =>
    rows.confirmAgentSignUp(transaction, workspaceId, hmac),
  );
  const refusal = findRefusal(outcome);
  if (refusal !== null) throw refusal;
  for (const id of personId === null ? [] : new Set([workspaceId, personId])) {
    context.forgetCredentials(id);
    bus.publish('credential.changed', { ownerId: id });
  }
}

function findRefusal(outcome: rows.AgentConfirmation): UserError | null {
  const again = 'Repeat the sign-up with the same Idempotency-Key to get another one.';
  switch (outcome) {
    case 'confirmed':
      return null;
    case 'no sign-up':
      return new UserError('not_found', 'No agent signed up with this API key');
    case 'wrong':
      return new UserError('validation', 'The code is wrong. Use the 6 digits from the newest mail.', {
        details: [{ field: 'code', message: 'is wrong' }],
        reason: 'WRONG_CODE',
      });
    case 'expired':
      return new UserError('conflict', `The code has expired. ${again}`, { reason: 'CODE_EXPIRED', isFinal: true });
    case 'too many':
      return new UserError('conflict', `The code was wrong too often. ${again}`, {
        reason: 'TOO_MANY_TRIES',
        isFinal: true,
      });
    case 'closed':
      return new UserError('conflict', 'The account of this address is being erased', { isFinal: true });
  }
}

function makeCode(random: Uint8Array): string {
  const number = Buffer.from(random).readUInt32BE();
  return String(number % 10 ** CODE_DIGITS).padStart(CODE_DIGITS, '0');
}

/** A code is of one workspace, and its hash cannot be guessed without SECRET_KEY. */
function hashCode(secret: Uint8Array, workspaceId: string, code: string): Buffer {
  return createHmac('sha256', secret).update(`code\0${workspaceId}\0${code}`).digest();
}

/** Returns a label for a domain name. */
function makeSlug(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 20)
    .replace(/-+$/, '');
  return slug === '' ? 'agent' : slug;
}
