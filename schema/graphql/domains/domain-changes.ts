import { DNS_CHECK_MS } from '../../../operations/domains/check-dns.ts';
import * as changes from '../../../operations/domains/domain-changes.ts';
import * as domains from '../../../operations/domains/domains.ts';
import { rotateDkimKey } from '../../../operations/domains/rotate-dkim-key.ts';
import { domainChangeShape, newDomainShape, parseInput } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { DomainNode } from '../nodes.ts';

builder.mutationField('createDomain', (t) =>
  t.fieldWithInput({
    type: DomainNode,
    access: access.manage,
    description:
      'Adds a domain and checks its DNS records. The domain is verified once the TXT record at `_postroom` is found; Postroom checks every minute at first. A subdomain of one of your verified domains is verified at once.',
    input: {
      domain: t.input.string({
        required: true,
        description: 'Domain name, case-insensitive, in ASCII (punycode) or Unicode.',
      }),
    },
    errors: { dataField: { name: 'domain' } },
    resolve: async (_root, { input }, context) => {
      const given = parseInput(newDomainShape, input);
      context.answerWithin(DNS_CHECK_MS);
      const { id } = await domains.createDomain(context.operations, given);
      forgetLoaded(context);
      return id;
    },
  }),
);

builder.mutationField('updateDomain', (t) =>
  t.fieldWithInput({
    type: DomainNode,
    access: access.manage,
    description: 'Turns the catch-all of a verified domain on or off: where mail to unknown addresses goes.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the domain.' }),
      isCatchAllEnabled: t.input.boolean({ description: 'Whether to accept and route mail to unknown addresses.' }),
      catchAllEndpointId: t.input.id({
        description:
          'ID of the endpoint that receives the mail; required to turn the catch-all on, unless it only stores.',
      }),
      isCatchAllStoreOnly: t.input.boolean({
        description:
          'With isCatchAllEnabled: mail to unknown addresses is accepted and stored, and delivered to no endpoint.',
      }),
      receiveDmarcEmails: t.input.boolean({
        description: 'Whether to route mail to dmarc@ like other mail. If you set it, isCatchAllEnabled is optional.',
      }),
    },
    errors: { dataField: { name: 'domain' } },
    resolve: async (_root, { input }, context) => {
      const { id, isCatchAllEnabled, catchAllEndpointId, isCatchAllStoreOnly, receiveDmarcEmails } = input;
      const change = parseInput(domainChangeShape, {
        isCatchAllEnabled: isCatchAllEnabled ?? undefined,
        catchAllEndpointId,
        isCatchAllStoreOnly: isCatchAllStoreOnly ?? undefined,
        receiveDmarcEmails: receiveDmarcEmails ?? undefined,
      });
      await changes.updateDomain(context.operations, id, change);
      forgetLoaded(context);
      return id;
    },
  }),
);

const DeleteDomainPayload = builder.objectRef<changes.DeletedDomain & { id: string }>('DeleteDomainPayload').implement({
  description: 'A deleted domain.',
  fields: (t) => ({
    deletedId: t.exposeID('id', { description: 'The ID it had.' }),
    name: t.exposeString('name', { description: 'The name, which can be added again.' }),
    deletedAddressCount: t.exposeInt('addressCount', { description: 'Addresses that were deleted with the domain.' }),
    obsoleteRecordCount: t.exposeInt('recordCount', { description: 'DNS records that you can remove.' }),
    wasVerified: t.exposeBoolean('wasVerified', { description: 'Whether the domain was verified.' }),
  }),
});

builder.mutationField('deleteDomain', (t) =>
  t.fieldWithInput({
    type: DeleteDomainPayload,
    access: access.manage,
    description:
      'Deletes a domain together with its addresses, keys and DMARC reports. Its emails stay readable. Delete its subdomains first: a Conflict lists them in `details.dependentSubdomains`.',
    input: { id: t.input.id({ required: true, description: 'ID of the domain.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input: { id } }, context) => {
      const deleted = await changes.deleteDomain(context.operations, id);
      forgetLoaded(context);
      return { ...deleted, id };
    },
  }),
);

builder.mutationField('verifyDomain', (t) =>
  t.fieldWithInput({
    type: DomainNode,
    access: access.manage,
    description: 'Checks the DNS records of a domain now.',
    input: { id: t.input.id({ required: true, description: 'ID of the domain.' }) },
    errors: { dataField: { name: 'domain' } },
    resolve: async (_root, { input: { id } }, context) => {
      context.answerWithin(DNS_CHECK_MS);
      await domains.readCheckedDomain(context.operations, id);
      forgetLoaded(context);
      return id;
    },
  }),
);

builder.mutationField('verifyDomains', (t) =>
  t.fieldWithInput({
    type: [DomainNode],
    access: access.manage,
    description:
      'Checks the DNS records of several domains now. A domain whose check takes too long is returned with its last known state.',
    input: { ids: t.input.idList({ required: true, description: 'IDs of 1 to 100 domains.' }) },
    errors: { dataField: { name: 'domains' } },
    resolve: async (_root, { input: { ids } }, context) => {
      context.answerWithin(DNS_CHECK_MS);
      await changes.checkDomains(context.operations, ids);
      forgetLoaded(context);
      return ids;
    },
  }),
);

builder.mutationField('rotateDkimKey', (t) =>
  t.fieldWithInput({
    type: DomainNode,
    access: access.manage,
    description:
      'Creates a new DKIM key. Publish its record; mail is signed with the key once the record is found. Keep the old record as long as it is listed, which is 7 more days.',
    input: { id: t.input.id({ required: true, description: 'ID of the domain.' }) },
    errors: { dataField: { name: 'domain' } },
    resolve: async (_root, { input: { id } }, context) => {
      await rotateDkimKey(context.operations, id);
      forgetLoaded(context);
      return id;
    },
  }),
);
