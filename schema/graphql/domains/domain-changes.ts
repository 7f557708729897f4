import { DNS_CHECK_MS } from '../../../operations/domains/check-dns.ts';
import * as changes from '../../../operations/domains/domain-changes.ts';
import * as domains from '../../../operations/domains/domains.ts';
import { rotateDkimKey } from '../../../operations/domains/rotate-dkim-key.ts';
import { domainChangeShape, newDomainShape } from '../../shapes/domain.ts';
import { parseInput } from '../../shapes/parse-input.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { DomainNode } from '../nodes.ts';

builder.mutationField('createDomain', (t) =>
  t.fieldWithInput({
    type: DomainNode,
    access: access.manage,
    description:
      'Adds a domain and looks at what DNS has of it. It is verified as soon as the TXT record at `_postroom` is seen, which is looked for every minute at first. A subdomain of a verified domain of yours is verified at once.',
    input: {
      domain: t.input.string({ required: true, description: 'Its name, in any case, with A-labels or U-labels.' }),
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
    description: 'Routes mail to unknown addresses of a verified domain to an endpoint, or no longer.',
    input: {
      id: t.input.id({ required: true, description: 'Id of the domain.' }),
      isCatchAllEnabled: t.input.boolean({ description: 'Whether mail to unknown addresses is taken in and routed.' }),
      catchAllEndpointId: t.input.id({ description: 'Id of the endpoint that it goes to; needed to enable that.' }),
      receiveDmarcEmails: t.input.boolean({
        description: 'Whether mail to dmarc@ is routed like other mail; with it isCatchAllEnabled may be absent.',
      }),
    },
    errors: { dataField: { name: 'domain' } },
    resolve: async (_root, { input }, context) => {
      const { id, isCatchAllEnabled, catchAllEndpointId, receiveDmarcEmails } = input;
      const change = parseInput(domainChangeShape, {
        isCatchAllEnabled: isCatchAllEnabled ?? undefined,
        catchAllEndpointId,
        receiveDmarcEmails: receiveDmarcEmails ?? undefined,
      });
      await changes.updateDomain(context.operations, id, change);
      forgetLoaded(context);
      return id;
    },
  }),
);

const DeleteDomainPayload = builder.objectRef<changes.DeletedDomain & { id: string }>('DeleteDomainPayload').implement({
  description: 'A domain that was deleted.',
  fields: (t) => ({
    deletedId: t.exposeID('id', { description: 'The id that it had.' }),
    name: t.exposeString('name', { description: 'Its name, which is free now.' }),
    deletedAddressCount: t.exposeInt('addressCount', { description: 'Addresses that went with it.' }),
    obsoleteRecordCount: t.exposeInt('recordCount', { description: 'DNS records that are not needed any more.' }),
    wasVerified: t.exposeBoolean('wasVerified', { description: 'Whether the name was proven to be yours.' }),
  }),
});

builder.mutationField('deleteDomain', (t) =>
  t.fieldWithInput({
    type: DeleteDomainPayload,
    access: access.manage,
    description:
      'Deletes a domain with its addresses, keys and DMARC reports. Its mail stays readable. Subdomains of it must be deleted first: a Conflict lists them in `details.dependentSubdomains`.',
    input: { id: t.input.id({ required: true, description: 'Id of the domain.' }) },
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
    description: 'Looks at the DNS of a domain now.',
    input: { id: t.input.id({ required: true, description: 'Id of the domain.' }) },
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
      'Looks at the DNS of several domains now; those that could not be looked at in time are shown as they are.',
    input: { ids: t.input.idList({ required: true, description: '1 to 100 ids of domains.' }) },
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
      'Makes a new DKIM key. Publish its record; once that is seen, mail is signed with it. Keep the former record for as long as it is listed: 7 more days.',
    input: { id: t.input.id({ required: true, description: 'Id of the domain.' }) },
    errors: { dataField: { name: 'domain' } },
    resolve: async (_root, { input: { id } }, context) => {
      await rotateDkimKey(context.operations, id);
      forgetLoaded(context);
      return id;
    },
  }),
);
