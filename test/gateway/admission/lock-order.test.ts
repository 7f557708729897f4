import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { claimName } from '../../../db/queries/domains/domain-owner.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

const ROUNDS = 50;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());

/** What no request may come to. */
const isFault = ({ statusCode }: { statusCode: number }) => statusCode >= 500;

test('references to an endpoint are changed while it is deleted, without a deadlock', async () => {
  const faults = [];
  for (let round = 0; round < ROUNDS; round++) {
    const domain = `crosswise${round}.test`;
    const options = { domain, address: `a@${domain}`, endpointUrl: 'https://hooks.test/', isCatchAllEnabled: true };
    const box = await gateway.mailbox(options);
    const { endpointId, domainId } = box;
    const answers = await Promise.all([
      gateway.call(box.apiKey, 'PATCH', `/email-addresses/${box.addressId}`, { endpointId }),
      gateway.call(box.apiKey, 'DELETE', `/endpoints/${endpointId}`),
      gateway.call(box.apiKey, 'PATCH', `/domains/${domainId}`, {
        isCatchAllEnabled: true,
        catchAllEndpointId: endpointId,
      }),
      gateway.call(box.apiKey, 'POST', '/email-addresses', { address: `b@${domain}`, domainId, endpointId }),
      ...(round % 2 === 0 ? [gateway.call(box.apiKey, 'DELETE', `/domains/${domainId}`)] : []),
    ]);
    faults.push(...answers.filter(isFault).map(({ body }) => body));
  }
  expect(faults).toEqual([]);
});

test('a name is claimed while its domain is deleted, without a deadlock', async () => {
  const faults: unknown[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const domain = `claimed${round}.test`;
    const owner = await gateway.mailbox({ domain, address: `a@${domain}` });
    const claimant = await gateway.mailbox({ domain, address: `b@${domain}`, domainStatus: 'pending' });
    const claim = { name: domain, workspaceId: claimant.workspaceId, domainId: claimant.domainId };
    const [answer] = await Promise.all([
      gateway.call(owner.apiKey, 'DELETE', `/domains/${owner.domainId}`),
      inTransaction(gateway.actor, (client) => claimName(client, claim, { afterDays: 7, reason: 'lost' })).catch(
        (error: unknown) => faults.push(error),
      ),
    ]);
    if (isFault(answer)) faults.push(answer.body);
  }
  expect(faults).toEqual([]);
});
