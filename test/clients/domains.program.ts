import { Inbound as OlderInbound } from '@inboundemail/sdk';
import Inbound, { APIError, type ConflictError, NotFoundError } from 'inboundemail';
import { Resend } from 'resend';
import { beforeAll, describe, expect, test } from 'vitest';
import type { DomainAccount } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';

const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const TEXT = expect.any(String);
/** An account of this file on the shared service. */
let stage: { service: SharedService; account: DomainAccount };
const zones = new Map<string, ReturnType<SharedService['openZone']>>();

beforeAll(async () => {
  const service = await sharedService('single');
  stage = { service, account: await service.createAccount() };
  for (const apex of ['one.example', 'two.example', 'three.example']) zones.set(apex, service.openZone(apex));
}, 300_000);

/** Sets records in the zone that the name lies in. */
function setDns(name: string, type: string, records: unknown[]): void {
  for (const [apex, zone] of zones) if (`.${name}`.endsWith(`.${apex}`)) zone.set(name, type, records);
}

function publish(records: readonly { type: string; name: string; value: string }[]): void {
  for (const { type, name, value } of records) {
    const [preference = '', exchange = ''] = value.split(' ');
    setDns(name, type, [type === 'MX' ? { preference: Number(preference), exchange } : value]);
  }
}

describe('inboundemail', () => {
  test('adds, publishes, verifies, changes, lists and deletes a domain, and gets every field of its types', async () => {
    const client = new Inbound({ apiKey: stage.account.apiKey, baseURL: stage.service.url, maxRetries: 0 });
    setDns('one.example', 'MX', [{ preference: 1, exchange: 'mx.other.test' }]);
    const made = await client.domains.create({ domain: 'one.example' });
    expect(made).toMatchObject({
      domain: 'one.example',
      status: 'pending',
      canReceiveEmails: false,
      hasMxRecords: true,
      domainProvider: null,
      providerConfidence: null,
      createdAt: INSTANT,
      updatedAt: INSTANT,
      mailFromDomain: 'mail.one.example',
      mailFromDomainStatus: 'Pending',
      message: TEXT,
      dnsConflict: { hasConflict: true, conflictType: 'mx', message: TEXT, existingRecords: [{ type: 'MX' }] },
    });
    for (const record of made.dnsRecords)
      expect(record).toMatchObject({
        isRequired: expect.any(Boolean),
        name: TEXT,
        type: TEXT,
        value: TEXT,
        description: TEXT,
      });

    publish(made.dnsRecords.filter(({ name }) => !name.startsWith('_dmarc.')));
    const found = await client.domains.retrieve(made.id, { check: 'true' });
    expect(found).toMatchObject({
      id: made.id,
      status: 'verified',
      canReceiveEmails: true,
      catchAllEndpointId: null,
      catchAllEndpoint: null,
      isCatchAllEnabled: false,
      lastDnsCheck: INSTANT,
      lastSesCheck: INSTANT,
      mailFromDomainStatus: 'Success',
      mailFromDomainVerifiedAt: INSTANT,
      receiveDmarcEmails: false,
      stats: { activeEmailAddresses: 0, emailsLast24h: 0, emailsLast30d: 0, emailsLast7d: 0, totalEmailAddresses: 0 },
      userId: stage.account.workspaceId,
      inheritsFromParent: false,
      authRecommendations: { dmarc: { name: '_dmarc.one.example', value: TEXT, description: TEXT } },
      verificationCheck: {
        isFullyVerified: true,
        lastChecked: INSTANT,
        sesStatus: 'Success',
        dkimStatus: 'Success',
        dkimVerified: true,
        dkimTokens: [TEXT],
        mailFromDomain: 'mail.one.example',
        mailFromStatus: 'Success',
        mailFromVerified: true,
      },
    });
    expect(found).not.toHaveProperty('dnsConflict');
    expect(found).not.toHaveProperty('parentDomain');
    for (const record of found.dnsRecords)
      expect(record).toMatchObject({
        id: expect.stringMatching(/^dns_/),
        domainId: made.id,
        recordType: expect.stringMatching(/^(?:MX|TXT)$/),
        isVerified: !record.name.startsWith('_dmarc.'),
        lastChecked: INSTANT,
        createdAt: INSTANT,
      });
    expect(found.verificationCheck?.dnsRecords).toHaveLength(found.dnsRecords.length);

    const endpoint = await client.endpoints.create({
      name: 'all',
      type: 'email',
      config: { forwardTo: 'bob@elsewhere.test' },
    });
    const changed = await client.domains.update(made.id, { isCatchAllEnabled: true, catchAllEndpointId: endpoint.id });
    expect(changed).toMatchObject({
      id: made.id,
      domain: 'one.example',
      status: 'verified',
      isCatchAllEnabled: true,
      catchAllEndpointId: endpoint.id,
      catchAllEndpoint: { id: endpoint.id, name: 'all', type: 'email', isActive: true },
      updatedAt: INSTANT,
    });
    const listed = await client.domains.list({ canReceive: 'true', check: 'true', limit: '1', offset: '0' });
    expect(listed).toMatchObject({
      data: [{ id: made.id, stats: { hasCatchAll: true }, verificationCheck: { isFullyVerified: true } }],
      pagination: { limit: 1, offset: 0, total: 2, hasMore: true },
    });

    const sub = await client.domains.create({ domain: 'sub.one.example' });
    expect(sub).toMatchObject({ status: 'verified', parentDomain: 'one.example' });
    const refused: unknown = await client.domains.delete(made.id).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(APIError);
    expect((refused as ConflictError).error).toMatchObject({
      code: 'DOMAIN_HAS_DEPENDENT_SUBDOMAINS',
      dependentSubdomains: [{ id: sub.id, domain: 'sub.one.example', status: 'verified' }],
    });
    await client.domains.delete(sub.id);
    expect(await client.domains.delete(made.id)).toMatchObject({
      success: true,
      message: TEXT,
      deletedResources: {
        blockedEmails: 0,
        dnsRecords: made.dnsRecords.length,
        domain: 'one.example',
        emailAddresses: 0,
        sesIdentity: true,
        sesReceiptRules: true,
      },
    });
    await expect(client.domains.retrieve(made.id)).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe('@inboundemail/sdk', () => {
  test('adds, verifies and deletes a domain by its own paths', async () => {
    const client = new OlderInbound(stage.account.apiKey, `${stage.service.url}/api/e2`);
    const readData = <T>({ data, error }: { data?: T; error?: string }) => data ?? expect.fail(error);
    const made = readData(await client.domain.create({ domain: 'two.example' }));
    expect(readData(await client.domain.verify(made.id))).toMatchObject({ status: 'pending' });
    const records = readData(await client.domain.getDnsRecords(made.id));
    publish(records.records);
    expect(readData(await client.domain.checkStatus(made.id))).toMatchObject({ id: made.id, status: 'verified' });
    expect(
      readData(await client.domain.update(made.id, { isCatchAllEnabled: false, catchAllEndpointId: null })),
    ).toMatchObject({ id: made.id, domain: 'two.example', isCatchAllEnabled: false, catchAllEndpoint: null });
    const { data, meta } = readData(await client.domain.list({ status: 'verified', check: 'true' }));
    expect(data[0]?.verificationCheck?.dnsRecords?.[0]).toMatchObject({ status: 'verified', lastChecked: INSTANT });
    expect(meta).toEqual({ totalCount: 2, verifiedCount: 2, statusBreakdown: { pending: 0, verified: 2, failed: 0 } });
    expect(readData(await client.domain.delete(made.id))).toMatchObject({ success: true });
    expect(await client.domain.get(made.id)).toEqual({ error: 'Domain not found' });
  });
});

describe('resend', () => {
  test('adds, verifies, lists and removes a domain', async () => {
    const client = new Resend(stage.account.apiKey, { baseUrl: `${stage.service.url}/api/e2` });
    const readData = <T>({ data, error }: { data: T; error: unknown }): NonNullable<T> =>
      data ?? expect.fail(JSON.stringify(error));
    const made = readData(await client.domains.create({ name: 'three.example' }));
    expect(made).toMatchObject({ name: 'three.example', status: 'pending', created_at: INSTANT, region: TEXT });
    for (const record of made.records)
      expect(record).toMatchObject({
        record: TEXT,
        name: TEXT,
        type: TEXT,
        ttl: 'Auto',
        status: 'pending',
        value: TEXT,
      });
    for (const { type, name, value, ...more } of made.records) {
      const priority = 'priority' in more ? more.priority : undefined;
      setDns(name, type, [type === 'MX' ? { preference: priority, exchange: value } : value]);
    }
    expect(readData(await client.domains.verify(made.id))).toMatchObject({ object: 'domain', id: made.id });
    const found = readData(await client.domains.get(made.id));
    expect(found).toMatchObject({
      object: 'domain',
      name: 'three.example',
      status: 'verified',
      capabilities: { sending: 'enabled', receiving: 'enabled' },
    });
    expect(new Set(found.records.map(({ status }) => status))).toEqual(new Set(['verified']));
    expect(readData(await client.domains.list())).toMatchObject({
      object: 'list',
      has_more: false,
      data: [{ id: made.id, name: 'three.example', status: 'verified', created_at: INSTANT }, {}],
    });
    expect(readData(await client.domains.remove(made.id))).toMatchObject({
      object: 'domain',
      id: made.id,
      deleted: true,
    });
    const gone = await client.domains.get(made.id);
    expect(gone.error).toMatchObject({ name: 'not_found', statusCode: 404 });
  });
});
