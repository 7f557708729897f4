import * as changes from '../../../operations/domains/email-address-changes.ts';
import type { EmailAddress } from '../../../operations/domains/email-addresses.ts';
import { addressChangeShape, newAddressShape } from '../../shapes/email-address.ts';
import { parseInput } from '../../shapes/input.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { DomainNode, EmailAddressNode } from '../nodes.ts';

const webhookId = 'Legacy alternative to endpointId: ID of a webhook endpoint. Cannot be combined with endpointId.';

builder.mutationField('createEmailAddress', (t) =>
  t.fieldWithInput({
    type: EmailAddressNode,
    access: access.manage,
    description:
      'Creates an address on a verified domain. Its mail is stored, and delivered to the endpoint if it has one.',
    input: {
      address: t.input.string({ required: true, description: 'The address, case-insensitive.' }),
      domainId: t.input.id({ required: true, description: 'ID of the domain.' }),
      endpointId: t.input.id({
        description: 'ID of the endpoint that receives the mail. Omit or pass null to store mail only.',
      }),
      webhookId: t.input.id({ description: webhookId }),
      isActive: t.input.boolean({ description: 'Whether the address accepts mail. The default is true.' }),
    },
    errors: { dataField: { name: 'emailAddress' } },
    resolve: async (_root, { input }, context) => {
      const given = parseInput(newAddressShape, { ...input, isActive: input.isActive ?? undefined });
      const { id } = await changes.createEmailAddress(context.operations, given);
      forgetLoaded(context);
      return id;
    },
  }),
);

builder.mutationField('updateEmailAddress', (t) =>
  t.fieldWithInput({
    type: EmailAddressNode,
    access: access.manage,
    description:
      'Updates where mail to an address goes and whether the address accepts mail. Omitted fields keep their values. endpointId and webhookId replace each other.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the address.' }),
      endpointId: t.input.id({ description: 'ID of the endpoint that receives the mail. Null stores mail only.' }),
      webhookId: t.input.id({ description: webhookId }),
      isActive: t.input.boolean({ description: 'Whether the address accepts mail.' }),
    },
    errors: { dataField: { name: 'emailAddress' } },
    resolve: async (_root, { input }, context) => {
      const { id, ...wish } = input;
      const change = parseInput(addressChangeShape, { ...wish, isActive: wish.isActive ?? undefined });
      await changes.updateEmailAddress(context.operations, id, change);
      forgetLoaded(context);
      return id;
    },
  }),
);

const DeleteEmailAddressPayload = builder.objectRef<EmailAddress>('DeleteEmailAddressPayload').implement({
  description: 'A deleted address.',
  fields: (t) => ({
    deletedId: t.exposeID('id', { description: 'The ID it had.' }),
    address: t.exposeString('address', { description: 'The address, which can be created again.' }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'Domain of the address. Null if it was deleted while you asked.',
      resolve: ({ domain }) => domain.id,
    }),
  }),
});

builder.mutationField('deleteEmailAddress', (t) =>
  t.fieldWithInput({
    type: DeleteEmailAddressPayload,
    access: access.manage,
    description:
      'Deletes an address. It stops receiving mail, unless its domain has a catch-all. Its emails stay readable.',
    input: { id: t.input.id({ required: true, description: 'ID of the address.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input: { id } }, context) => {
      const deleted = await changes.deleteEmailAddress(context.operations, id);
      forgetLoaded(context);
      return deleted;
    },
  }),
);
