// A support inbox: each new conversation is a ticket with an address of its own, and agents claim tickets before they answer.
// It needs Node 20 or later and no packages. README.md beside it says how to run it.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { existsSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';

const {
  BASE = 'http://localhost:3000',
  KEY,
  DOMAIN = 'inbox.test',
  PORT = '4000',
  JOURNAL = 'tickets.jsonl',
} = process.env;
const SUPPORT = `support@${DOMAIN}`;
const CLAIM_SECONDS = 600;
const MAX_AGE_SECONDS = 300;
const MAX_BODY_BYTES = 10_000_000;

// --- Postroom ---

async function call(method, path, body, headers = {}) {
  const response = await fetch(`${BASE}/api/e2${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const result = await response.json();
  if (!response.ok) throw Object.assign(new Error(result.message), { status: response.status, result });
  return result;
}

/** Creates the address and its endpoint, or finds those of an earlier start. Returns the signing secret of the endpoint. */
async function setUp() {
  const url = `http://localhost:${PORT}/hook`;
  const { data: endpoints } = await call('GET', '/endpoints?limit=100');
  const endpoint =
    endpoints.find(({ name }) => name === SUPPORT) ??
    (await call('POST', '/endpoints', { name: SUPPORT, type: 'webhook', config: { url } }));
  if (endpoint.config.url !== url)
    await call('PATCH', `/endpoints/${endpoint.id}`, { config: { ...endpoint.config, url } });
  const { data: domains } = await call('GET', '/domains?limit=100');
  const domainId = domains.find(({ domain }) => domain === DOMAIN).id;
  const { data: addresses } = await call('GET', '/email-addresses?limit=100');
  const address = addresses.find((one) => one.address === SUPPORT);
  if (address === undefined)
    await call('POST', '/email-addresses', { address: SUPPORT, domainId, endpointId: endpoint.id });
  else if (address.endpointId !== endpoint.id)
    await call('PATCH', `/email-addresses/${address.id}`, { endpointId: endpoint.id });
  return (await call('GET', `/endpoints/${endpoint.id}`)).signingSecret;
}

/** Returns whether Postroom sent this request within the last five minutes (Standard Webhooks). */
function isSigned(secret, headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures = '' } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(at)) <= MAX_AGE_SECONDS)) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest();
  return signatures.split(' ').some((one) => {
    const given = Buffer.from(one.split(',')[1] ?? '', 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

// --- Tickets: a journal on disk, which the next start reads ---

const tickets = new Map();
/** IDs of events that are in the journal: a webhook can arrive twice. */
const seen = new Set();

function apply({ kind, number, ...entry }) {
  if (kind === 'opened')
    tickets.set(number, { number, status: 'open', agent: null, address: null, threadId: entry.threadId, messages: [] });
  const ticket = tickets.get(number);
  if (kind === 'received') {
    seen.add(entry.eventId);
    ticket.messages.push({ from: entry.from, subject: entry.subject, text: entry.text });
    ticket.emailId = entry.emailId;
    ticket.customer = entry.customer;
    ticket.status = 'open';
  }
  if (kind === 'addressed') ticket.address = entry.address;
  if (kind === 'acknowledged') ticket.isAcknowledged = true;
  if (kind === 'taken') Object.assign(ticket, { agent: entry.agent, token: entry.token, answerKey: entry.answerKey });
  if (kind === 'answered') Object.assign(ticket, { status: 'answered', agent: null, token: null });
}

if (existsSync(JOURNAL)) {
  // A crash can leave half a line at the end. What it was about arrives again.
  const whole = readFileSync(JOURNAL, 'utf8').replace(/[^\n]*$/, '');
  truncateSync(JOURNAL, Buffer.byteLength(whole));
  for (const line of whole.split('\n').filter((each) => each !== '')) apply(JSON.parse(line));
}
const journal = openSync(JOURNAL, 'a');

function record(...entries) {
  writeSync(journal, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  fsyncSync(journal);
  entries.forEach(apply);
}

/** Stores a received email, and sees that a new ticket has its address and its sender an acknowledgement. Safe to repeat. */
async function receive({ id: eventId, email }) {
  const known =
    email.metadata?.ticket ?? [...tickets.values()].find(({ threadId }) => threadId === email.threadId)?.number;
  const number = tickets.has(known) ? known : tickets.size + 1;
  if (!seen.has(eventId)) {
    const { text } = email.cleanedContent;
    const [{ address: customer }] = (email.parsedData.replyTo ?? email.from).addresses;
    const message = { eventId, emailId: email.id, customer, from: email.from.text, subject: email.subject, text };
    const opened = tickets.has(number) ? [] : [{ kind: 'opened', number, threadId: email.threadId }];
    record(...opened, { kind: 'received', number, ...message });
  }
  const ticket = tickets.get(number);
  if (ticket.address === null) {
    const condition = { domain: DOMAIN, deliver_to: SUPPORT, thread_id: ticket.threadId, metadata: { ticket: number } };
    record({ kind: 'addressed', number, address: (await call('POST', '/reply-addresses', condition)).address });
  }
  if (ticket.isAcknowledged) return;
  const text = `Thank you for your message. It is ticket ${number}. Reply to this email to add something.`;
  await call(
    'POST',
    `/emails/${email.id}/reply`,
    { from: SUPPORT, to: ticket.customer, reply_to: ticket.address, text },
    idempotent(`ticket-${number}`),
  );
  record({ kind: 'acknowledged', number });
}

const idempotent = (key) => ({ 'idempotency-key': `${DOMAIN} ${key}` });

/** Claims a ticket for an agent. Of several agents at once, one gets it; the others get 409 with its name. */
async function take(ticket, { agent }) {
  const claim = await call('POST', `/mail/threads/${ticket.threadId}/claim`, { holder: agent, ttl: CLAIM_SECONDS });
  record({ kind: 'taken', number: ticket.number, agent, token: claim.token, answerKey: randomUUID() });
}

/** Sends the answer of the agent who holds the ticket, once however often it is repeated, and ends the claim. */
async function answer(ticket, { agent, text }) {
  if (ticket.agent !== agent) throw Object.assign(new Error(`Take ticket ${ticket.number} first`), { status: 409 });
  const reply = { from: SUPPORT, to: ticket.customer, reply_to: ticket.address, text, claim_token: ticket.token };
  await call('POST', `/emails/${ticket.emailId}/reply`, reply, idempotent(`answer-${ticket.answerKey}`));
  const { token } = ticket;
  record({ kind: 'answered', number: ticket.number });
  await call('POST', `/mail/threads/${ticket.threadId}/claim/release`, { token });
}

// --- HTTP ---

const secret = await setUp();
let queue = Promise.resolve();

/** Runs webhooks and answers one after the other, so that two never open the same ticket, or answer it twice. */
function inTurn(work) {
  const done = queue.then(work);
  queue = done.catch(() => {});
  return done;
}

async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw Object.assign(new Error('The body is too large'), { status: 413 });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const shown = ({ token: _, answerKey: __, ...ticket }) => ticket;

async function respond(request) {
  const { method, url, headers } = request;
  const body = await readBody(request);
  if (method === 'POST' && url === '/hook') {
    if (!isSigned(secret, headers, body)) return [401, { message: 'The signature is wrong' }];
    const payload = JSON.parse(body.toString());
    if (payload.type === 'email.received' && headers['x-test-request'] !== 'true') await inTurn(() => receive(payload));
    return [200, {}];
  }
  if (method === 'GET' && url === '/tickets') return [200, [...tickets.values()].map(shown)];
  const [, number, action] = /^\/tickets\/(\d+)\/(take|answer)$/.exec(url) ?? [];
  const ticket = tickets.get(Number(number));
  if (method !== 'POST' || ticket === undefined) return [404, { message: 'There is no such ticket' }];
  const asked = JSON.parse(body.toString());
  await (action === 'take' ? take(ticket, asked) : inTurn(() => answer(ticket, asked)));
  return [200, shown(ticket)];
}

createServer((request, response) => {
  respond(request)
    .catch((error) => {
      if (request.url === '/hook') console.error(error);
      return [
        error.status ?? (error instanceof SyntaxError ? 400 : 500),
        { message: error.message, holder: error.result?.holder },
      ];
    })
    .then(([status, body]) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
}).listen(Number(PORT), 'localhost', () =>
  console.log(`Support inbox of ${SUPPORT} on http://localhost:${PORT}/tickets`),
);
