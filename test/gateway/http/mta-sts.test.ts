import { expect, test } from 'vitest';
import { openForFile } from '../../support/open-for-file.ts';
import { openTestGateway } from '../../support/servers/gateway.ts';
import { graphClient } from '../../support/servers/graph-client.ts';

const gateway = openForFile(() => openTestGateway());

const readPolicy = async (host: string) => {
  const { statusCode, headers, body } = await gateway.app.inject({
    url: '/.well-known/mta-sts.txt',
    headers: { host },
  });
  return { statusCode, type: headers['content-type'], body };
};

test('the policy of every verified domain is served under its own name only', async () => {
  const box = await gateway.mailbox();
  const domain = box.address.split('@')[1] ?? '';
  expect(await readPolicy(`MTA-STS.${domain}:443`)).toEqual({
    statusCode: 200,
    type: 'text/plain; charset=utf-8',
    body: 'version: STSv1\r\nmode: testing\r\nmx: mx.postroom.test\r\nmax_age: 86400\r\n',
  });
  for (const host of ['postroom.test', 'localhost', '192.0.2.1'])
    expect(await readPolicy(host), host).toMatchObject({ statusCode: 404, body: 'No policy\n' });
  for (const host of [domain, 'mta-sts.nobody.test', 'mta-sts.', `mta-sts.sub.${domain}`])
    expect(await readPolicy(host), host).toMatchObject({ statusCode: 421 });
  const elsewhere = await gateway.app.inject({ url: '/api/auth/settings', headers: { host: `mta-sts.${domain}` } });
  expect(elsewhere.statusCode).toBe(421);
  await gateway.owner.pool.query('delete from verified_domain_name where name = $1', [domain]);
  expect(await readPolicy(`mta-sts.${domain}`)).toMatchObject({ statusCode: 421 });
});

test('REST and GraphQL show the records to publish, and whether DNS has them', async () => {
  const box = await gateway.mailbox();
  const domain = box.address.split('@')[1] ?? '';
  const { rows } = await gateway.owner.pool.query('select id from domain where name = $1', [domain]);
  const id: string = rows[0].id;
  const shown = async () => {
    const { transportSecurity } = (await gateway.call(box.apiKey, 'GET', `/domains/${id}`)).json();
    const query = `query($id: ID!) { domain(id: $id) { transportSecurity { mode policyHost policyUrl
      mtaSts { name value description isSeen } tlsReports { name value description isSeen } } } }`;
    const graph = (await graphClient(gateway, box.apiKey).ask(query, { id })).domain.transportSecurity;
    expect({ ...graph, mode: graph.mode.toLowerCase() }).toEqual(transportSecurity);
    return transportSecurity;
  };
  const before = await shown();
  expect(before).toMatchObject({
    mode: 'testing',
    policyUrl: `https://mta-sts.${domain}/.well-known/mta-sts.txt`,
    mtaSts: { name: `_mta-sts.${domain}`, isSeen: false },
    tlsReports: { name: `_smtp._tls.${domain}`, isSeen: false },
  });
  const check = {
    records: [],
    hasMx: true,
    spf: null,
    hasDmarc: true,
    conflict: null,
    provider: null,
    error: null,
    unanswered: 0,
    reason: null,
  };
  const store = (more: object) =>
    gateway.owner.pool.query('update domain set dns_check = $2 where id = $1', [
      id,
      JSON.stringify({ ...check, ...more }),
    ]);
  // As a version that did not ask for them has stored it.
  await store({});
  expect(await shown()).toEqual(before);
  await store({ mtaSts: [before.mtaSts.value], tlsReports: ['v=TLSRPTv1; rua=mailto:tls@example.com'] });
  const after = await shown();
  expect([after.mtaSts.isSeen, after.tlsReports.isSeen]).toEqual([true, true]);
});
