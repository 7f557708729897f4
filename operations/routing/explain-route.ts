import { composeHypotheticalMail } from '../../core/mime/simulated-mail.ts';
import { enforceDmarc, explainDmarcRefusal, noDmarcRules } from '../../core/screening/door/dmarc-enforcement.ts';
import { parseSender } from '../../core/sending/outgoing-addresses.ts';
import { checkOutgoingHeaders, checkSubject } from '../../core/sending/outgoing-headers.ts';
import { UserError } from '../../core/shared/errors.ts';
import { isReturnAddress } from '../../core/smtp/return-address.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { guardFactsOfRow } from '../../db/queries/routing/guard-facts.ts';
import { readHypotheticalRoute } from '../../db/queries/routing/hypothetical-route.ts';
import { readReferences } from '../../db/queries/routing/route-read.ts';
import type { Reply } from '../../schema/messages.ts';
import { invalid, type OperationContext } from '../context.ts';
import { readAuthentication } from '../emails/stored-authentication.ts';
import { type CurrentRoute, decideCurrentRoute } from './current-route.ts';
import {
  type ExplainedRoute,
  explainEmailRoute,
  findRouteAddress,
  findRouteDomain,
  noteUnseenRules,
  type RouteStep,
  summarizeRoute,
} from './routes.ts';
import {
  askReceiving,
  checkOwnRecipient,
  findReversePath,
  type OwnRecipient,
  SIMULATED_CLIENT,
  toSmtpBytes,
} from './simulated-transaction.ts';

/** A message that has not been received, given as bytes or as fields. */
export interface HypotheticalMail {
  /** the envelope's recipient */
  to: string;
  /** a mailbox; null: the From field of the bytes, or a sample sender */
  from: string | null;
  /** RFC 5322; replaces the fields below. Null: none */
  raw: string | Uint8Array | null;
  subject: string | null;
  text: string | null;
  html: string | null;
  /** additional header fields, by name */
  headers: Readonly<Record<string, string>> | null;
}

/** Time limit of a route preview: parsing alone is stopped after 15 s. Milliseconds. */
export const EXPLAIN_RESPONSE_MS = 32_000;

/** Where a message goes and why. The email id is null for a message that has not been received. */
export type RouteExplanation = Omit<ExplainedRoute, 'emailId'> & { emailId: string | null };

/**
 * Returns where a message would go by the current guard rules and routes, with the result of each rule; for a stored email also where it
 * went. Stores nothing and asks no model. Throws not_found, validation, rate_limited, unavailable.
 */
export async function explainRoute(
  context: OperationContext,
  input: { emailId: string } | HypotheticalMail,
): Promise<RouteExplanation> {
  if ('emailId' in input) return explainEmailRoute(context, input.emailId, 'stored and now');
  const bytes = await composeMailBytes(context, input);
  const recipient = await checkOwnRecipient(context, input.to);
  if (isReturnAddress(recipient.recipient))
    throw invalid('Mail to a return address is a bounce report and has no route', 'to');
  const sender = input.from === null ? findReversePath(bytes) : readSender(input.from).address;
  const request = { reversePath: sender, ...SIMULATED_CLIENT };
  const mail = await askReceiving(context, 'receiving.message.examine', request, bytes);
  if (mail.verdict === 'busy')
    throw new UserError('unavailable', 'Too many route previews are running. Try again in a moment.', {
      retryAfterSeconds: 2,
    });
  return explain(input.raw === null ? withoutDmarc(context) : context, recipient, mail);
}

/** Fields have neither a signature nor a server that sent them, so that DMARC says nothing about such mail. */
function withoutDmarc(context: OperationContext): OperationContext {
  return { ...context, settings: { ...context.settings, dmarc: noDmarcRules } };
}

type Examined = Extract<Reply<'receiving.message.examine'>, { verdict: 'examined' }>;

async function explain(context: OperationContext, recipient: OwnRecipient, mail: Examined): Promise<RouteExplanation> {
  const { database, workspaceId } = context;
  const { addressId, domainId, ownAddress } = recipient;
  return asWorkspace(database, workspaceId, async (transaction) => {
    const place = { ownAddress, addressId, domainId, dmarcDomain: mail.dmarcDomain };
    const now = await decideCurrentRoute(context, transaction, {
      facts: await readHypotheticalRoute(transaction, workspaceId, place),
      isReleased: false,
      verdicts: null,
      read: () => Promise.resolve({ facts: toFacts(mail, recipient), isParsed: mail.parseError === null }),
    });
    const { ruleId, endpointId } = now.decision;
    const names = await readReferences(transaction, workspaceId, {
      addressIds: addressId === null ? [] : [addressId],
      domainIds: [domainId],
      ruleIds: ruleId === null ? [] : [ruleId],
      endpointIds: endpointId === null ? [] : [endpointId],
    });
    const would = noteUnseenRules(context, summarizeRoute(now.decision, { ownAddress, route: null }, names));
    return {
      emailId: null,
      recipient: recipient.recipient,
      ...would,
      address: findRouteAddress({ addressId, ownAddress }, names),
      domain: findRouteDomain({ domainId, ownAddress }, names),
      releasedAt: null,
      answers: [],
      deliveries: [],
      steps: listSteps(mail, recipient, now, would.reason, findRefusal(context, mail)),
      would,
      tried: now.tried,
    };
  });
}

function toFacts(mail: Examined, { recipient, ownAddress }: OwnRecipient) {
  return guardFactsOfRow({
    subject: mail.subject,
    recipient,
    own_address: ownAddress,
    addresses: mail.addresses,
    attachments: mail.attachments,
    authentication: mail.authentication,
    injection: mail.injection,
    // A simulated message goes through no scanner.
    screening: null,
    text_body: mail.textBody,
    html_body: mail.htmlBody,
    parse_error: mail.parseError,
  });
}

/** Returns the reply to a message that DMARC_ENFORCE refuses before it is accepted; null: it is accepted. */
function findRefusal({ settings: { dmarc } }: OperationContext, { authentication: stored }: Examined): string | null {
  const authentication = readAuthentication(stored);
  if (authentication === null || enforceDmarc(authentication, dmarc) !== 'reject') return null;
  return explainDmarcRefusal(authentication);
}

/** The steps have not happened, so they have no time. */
function listSteps(
  { parseError }: Examined,
  { recipient, ownAddress }: OwnRecipient,
  { tried, target }: CurrentRoute,
  reason: string,
  refusal: string | null,
): RouteStep[] {
  if (refusal !== null) return [step('received', `It would be refused: 550 5.7.1 ${refusal}.`)];
  const taken = recipient.toLowerCase() === ownAddress ? '' : ` (address ${ownAddress})`;
  const asked = tried.filter(({ outcome }) => outcome !== 'not-reached').length;
  const rules = asked === 0 ? '' : ` after ${asked} guard ${asked === 1 ? 'rule' : 'rules'}`;
  return [
    step('received', `It would be accepted for ${recipient}${taken}.`),
    step(
      'parsed',
      parseError === null ? 'Parsed.' : `It cannot be parsed, and would be stored unparsed: ${parseError}`,
    ),
    step('routed', `${reason}${rules === '' ? '' : ` (Decided${rules}.)`}`),
    ...(target === null ? [] : [step('delivered', 'A delivery to that endpoint would be created.')]),
  ];
}

function step(name: RouteStep['step'], detail: string): RouteStep {
  return { step: name, at: null, durationMs: null, detail, deliveryId: null };
}

async function composeMailBytes(context: OperationContext, mail: HypotheticalMail): Promise<Buffer> {
  if (mail.raw !== null) return toSmtpBytes(mail.raw);
  const flaw = checkSubject(mail.subject ?? '');
  if (flaw !== null) throw invalid(flaw, 'subject');
  const header = checkOutgoingHeaders(mail.headers ?? {});
  if (header.error !== undefined) throw invalid(header.error, 'headers');
  const { fields, inReplyTo, references } = header;
  const bytes = await composeHypotheticalMail(
    { from: mail.from === null ? null : readSender(mail.from), to: mail.to, date: context.now() },
    { subject: mail.subject ?? '', text: mail.text, html: mail.html, fields, inReplyTo, references },
  );
  return toSmtpBytes(bytes);
}

function readSender(text: string) {
  const read = parseSender(text);
  if (read.error !== undefined) throw invalid(read.error, 'from');
  return read.sender;
}
