import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../../core/shared/errors.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import {
  explainRoute,
  type HypotheticalMail,
  type RouteExplanation,
} from '../../../operations/routing/explain-route.ts';
import { explainEmailRoute } from '../../../operations/routing/routes.ts';
import { simulateInbound } from '../../../operations/routing/simulate-inbound.ts';
import { isQuick } from '../../support/chaos-figures.ts';
import { hasCorpora, readEmlMessages, readThreadSet } from '../../support/mail/corpora.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { type MailStage, openMailStage } from '../../support/stages/mail-stage.ts';

let stage: MailStage;
let receiver: WebhookReceiver;
/** Accounts that are alike: guard rules may take so much of a process' time for each user. */
const accounts: Account[] = [];

interface Account {
  box: TestMailbox;
  domain: string;
  /** of one domain, each with a route of its own */
  addresses: string[];
}

const MESSAGES = isQuick ? 50 : 130;
const ACCOUNTS = 6;
const poisoned = new URL('../../support/mail/poisoned-parse-worker.ts', import.meta.url);

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  stage = await openMailStage({ parserProgram: poisoned });
  for (let count = 0; count < ACCOUNTS; count++) accounts.push(await createAccount(count % 3 === 0));
});

async function createAccount(asksModel: boolean): Promise<Account> {
  const box = await stage.mailbox({ endpointUrl: `${receiver.url}/own`, isCatchAllEnabled: true });
  const domain = box.address.split('@')[1] ?? '';
  const more = (address: string, endpointUrl?: string) =>
    createMailbox(stage.database, {
      workspaceId: box.workspaceId,
      domain,
      address,
      ...(endpointUrl === undefined ? {} : { endpointUrl }),
    });
  await more(`bare@${domain}`);
  const off = await more(`off@${domain}`, `${receiver.url}/off`);
  await stage.database.pool.query('update endpoint set is_active = false where id = $1', [off.endpointId]);
  const gone = await more(`gone@${domain}`, `${receiver.url}/gone`);
  await stage.database.pool.query('delete from endpoint where id = $1', [gone.endpointId]);
  const elsewhere = await more(`elsewhere@${domain}`, `${receiver.url}/elsewhere`);
  const addresses = [
    box.address,
    box.address.replace('@', '+tag@'),
    `bare@${domain}`,
    `off@${domain}`,
    `gone@${domain}`,
    `anybody@${domain}`,
    `dmarc@${domain}`,
  ];
  const values = (...given: string[]) => ({ operator: 'OR', values: given });
  const rules = [
    { name: 'pictures elsewhere', config: { attachments: values('image/*') }, to: elsewhere.endpointId },
    { name: 'pictures of many', config: { attachments: values('.jpg') }, action: 'allow' },
    { name: 'words', config: { hasWords: values('free', 'ÜBER', 'click here', '日本') }, action: 'block' },
    { name: 'lists', config: { to: values('*@spamassassin.taint.org', '*@lists.example.org') }, action: 'allow' },
    { name: 'led nowhere', config: { subject: values('perl') }, to: 'ep_gone' },
    { name: 'led to what is off', config: { subject: values('java') }, to: off.endpointId },
    { name: 'senders', config: { from: values('*@gmail.com', '*@yahoo.com', '*@example.com') }, action: 'block' },
    { name: 'a model', config: { prompt: 'Is it about money?' }, type: 'ai_prompt', action: 'block' },
  ];
  for (const [n, rule] of rules.slice(0, asksModel ? undefined : -1).entries())
    await stage.database.pool.query(
      `insert into guard_rule (workspace_id, id, name, type, config, action, endpoint_id, priority) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        box.workspaceId,
        makeIdentifier('guardRule', new Date(), randomBytes(10)),
        rule.name,
        rule.type ?? 'explicit',
        JSON.stringify(rule.config),
        rule.action ?? 'route',
        rule.to ?? null,
        100 - n,
      ],
    );
  return { box, domain, addresses };
}
afterAll(async () => {
  await stage?.close();
  await receiver?.stop();
});

const hypothetical = { from: null, raw: null, subject: null, text: null, html: null, headers: null };
const explain = (input: Partial<HypotheticalMail>, { box }: Account = account()) =>
  explainRoute(stage.makeContext(box.workspaceId), { to: box.address, ...hypothetical, ...input });

function account(n = 0): Account {
  const found = accounts[n % ACCOUNTS];
  if (found === undefined) throw new Error('no account');
  return found;
}

/** What an explanation decides. */
const makeDecision = (of: Pick<RouteExplanation, 'outcome' | 'via' | 'rule' | 'endpoint' | 'reason' | 'matches'>) => ({
  outcome: of.outcome,
  via: of.via,
  rule: of.rule?.id ?? null,
  endpoint: of.endpoint?.id ?? null,
  reason: of.reason,
  matches: of.matches,
});

describe.skipIf(!hasCorpora)('over real mail', () => {
  test('an explanation predicts what happens, and the explanation of the stored mail agrees', async () => {
    const real = [...(await readEmlMessages()), ...(await readThreadSet('sa-easy-ham-2')).messages];
    const messages = real.filter((_, n) => n % (isQuick ? 20 : 8) === 0).slice(0, MESSAGES);
    const foretold: { file: string; workspaceId: string; explanation: RouteExplanation; emailId: string }[] = [];
    let refusals = 0;
    const tryOne = async ({ file, bytes }: (typeof messages)[number], n: number) => {
      const of = account(n);
      const to = of.addresses[Math.floor(n / ACCOUNTS) % of.addresses.length] ?? of.box.address;
      const outcome = await explain({ to, raw: bytes }, of).catch((error: unknown) => error);
      const context = stage.makeContext(of.box.workspaceId);
      const input = { message: { raw: bytes }, to, from: null };
      if (outcome instanceof UserError) {
        if (outcome.code !== 'validation') throw outcome;
        // What SMTP would refuse is refused in both.
        await expect(simulateInbound(context, input, null)).rejects.toThrow(outcome.message);
        refusals++;
        return;
      }
      if (outcome instanceof Error) throw outcome;
      const { emailId } = await simulateInbound(context, input, null);
      foretold.push({
        file,
        workspaceId: of.box.workspaceId,
        explanation: outcome as RouteExplanation,
        emailId: emailId ?? '',
      });
    };
    for (let at = 0; at < messages.length; at += 8)
      await Promise.all(messages.slice(at, at + 8).map((message, place) => tryOne(message, at + place)));
    await stage.settled();

    const counts = new Map<string, number>();
    for (const { file, workspaceId, explanation, emailId } of foretold) {
      const became = await explainEmailRoute(stage.makeContext(workspaceId), emailId, 'stored and now');
      const parsed = became.steps.find(({ step }) => step === 'parsed')?.detail;
      expect({ file, parsed, ...makeDecision(became) }).toEqual({ file, parsed, ...makeDecision(explanation) });
      expect({ file, ...makeDecision(became.would ?? explanation) }).toEqual({ file, ...makeDecision(explanation) });
      expect({ file, tried: became.tried }).toEqual({ file, tried: explanation.tried });
      const isDelivered = became.deliveries.map(({ endpointId }) => endpointId);
      expect({ file, isDelivered }).toEqual({
        file,
        isDelivered: explanation.outcome === 'endpoint' ? [explanation.endpoint?.id] : [],
      });
      const name = `${explanation.outcome} ${explanation.rule?.name ?? explanation.via ?? ''}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    process.stdout.write(`${foretold.length} mails, ${refusals} refused: ${JSON.stringify([...counts])}\n`);
    expect(foretold.length).toBeGreaterThan(MESSAGES - 20);
    expect(counts.size).toBeGreaterThanOrEqual(8);
  });
});

test('lists each rule with its result in evaluation order', async () => {
  const { box, domain } = account();
  const explanation = await explain({ subject: 'about perl', text: 'nothing else', from: 'Bob <bob@elsewhere.test>' });
  expect(explanation.tried.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['pictures elsewhere', 'not-matched'],
    ['pictures of many', 'not-matched'],
    ['words', 'not-matched'],
    ['lists', 'not-matched'],
    ['led nowhere', 'matched'],
    ['led to what is off', 'not-reached'],
    ['senders', 'not-reached'],
    ['a model', 'not-reached'],
  ]);
  expect(explanation).toMatchObject({
    emailId: null,
    outcome: 'endpoint',
    via: 'address',
    rule: { name: 'led nowhere', action: 'route' },
    endpoint: { id: box.endpointId, isActive: true },
    address: { address: box.address },
    domain: { name: domain },
  });
  expect(explanation.steps.map(({ step, at }) => [step, at])).toEqual([
    ['received', null],
    ['parsed', null],
    ['routed', null],
    ['delivered', null],
  ]);
});

test('a message that stops the parser is held for review in both', async () => {
  const raw = 'Subject: =?poison?Q?exit=FF?=\nFrom: x@elsewhere.test\n\nx\n';
  const explanation = await explain({ raw });
  const { box } = account();
  const context = stage.makeContext(box.workspaceId);
  const { emailId } = await simulateInbound(context, { message: { raw }, to: box.address, from: null }, null);
  await stage.settled();
  const became = await explainEmailRoute(context, emailId ?? '', 'stored and now');
  expect(makeDecision(explanation)).toMatchObject({ outcome: 'review', rule: null });
  expect(makeDecision(became)).toEqual(makeDecision(explanation));
  expect(makeDecision(became.would ?? explanation)).toEqual(makeDecision(explanation));
});

test('stores nothing', async () => {
  const count = async () => {
    const { rows } = await stage.database.pool.query(
      `select (select count(*) from raw_message) as raw, (select count(*) from reception) as receptions, (select count(*) from delivery) as
         deliveries, (select count(*) from event) as events, (select sum(trigger_count) from guard_rule_stat) as hits`,
    );
    return rows;
  };
  await stage.settled();
  const before = await count();
  await explain({ subject: 'click here', html: '<b>free</b>', headers: { 'X-Any': 'thing' } });
  expect(await count()).toEqual(before);
});

test('rejects recipients and bytes like a simulation', async () => {
  const other = await stage.mailbox();
  const refusal = async (input: Parameters<typeof explain>[0]) => {
    const error = await explain(input).catch((reason: unknown) => reason);
    return error instanceof UserError ? error.code : error;
  };
  expect(await refusal({ to: other.address })).toBe('not_found');
  expect(await refusal({ to: 'nobody' })).toBe('not_found');
  expect(await refusal({ raw: `${'X-A: b\n'.repeat(1_001)}\n` })).toBe('validation');
  expect(await refusal({ subject: 'a\nb' })).toBe('validation');
  expect(await refusal({ headers: { From: 'x' } })).toBe('validation');
  expect(await refusal({ from: 'nobody' })).toBe('validation');
  const unknown = explainRoute(stage.makeContext(account().box.workspaceId), { emailId: 'em_unknown' });
  await expect(unknown).rejects.toThrow('Email not found');
});
