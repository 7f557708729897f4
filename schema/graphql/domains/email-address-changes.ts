import * as changes from '../../../operations/domains/email-address-changes.ts';
import type { EmailAddress } from '../../../operations/domains/email-addresses.ts';
import { addressChangeShape, newAddressShape } from '../../shapes/email-address.ts';
import { parseInput } from '../../shapes/parse-input.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { DomainNode, EmailAddressNode } from '../nodes.ts';

const webhookId =
  'The former name of routing to a webhook: id of an endpoint of type webhook. Not together with endpointId.';

builder.mutationField('createEmailAddress', (t) =>
  t.fieldWithInput({
    type: EmailAddressNode,
    access: access.manage,
    description:
      'Adds an address on a verified domain of yours. Mail to it is stored, and handed on to the endpoint when it has one.',
    input: {
      address: t.input.string({ required: true, description: 'The address, in any case.' }),
      domainId: t.input.id({ required: true, description: 'Id of the domain that it is on.' }),
      endpointId: t.input.id({
        description: 'Id of the endpoint that its mail goes to; absent or null: it is stored.',
      }),
      webhookId: t.input.id({ description: webhookId }),
      isActive: t.input.boolean({ description: 'Whether it takes mail; absent or null: it does.' }),
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
      'Changes where mail to an address goes, or whether it takes any. What is absent stays. Either kind of routing takes the place of the other.',
    input: {
      id: t.input.id({ required: true, description: 'Id of the address.' }),
      endpointId: t.input.id({ description: 'Id of the endpoint that its mail goes to; null takes that away.' }),
      webhookId: t.input.id({ description: webhookId }),
      isActive: t.input.boolean({ description: 'Whether it takes mail.' }),
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
  description: 'An address that was deleted.',
  fields: (t) => ({
    deletedId: t.exposeID('id', { description: 'The id that it had.' }),
    address: t.exposeString('address', { description: 'The address, which is free now.' }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'The domain that it was on; null in the rare case that it was deleted while you asked.',
      resolve: ({ domain }) => domain.id,
    }),
  }),
});

builder.mutationField('deleteEmailAddress', (t) =>
  t.fieldWithInput({
    type: DeleteEmailAddressPayload,
    access: access.manage,
    description:
      'Deletes an address. It takes no mail any more, unless its domain takes mail to every address. Mail that it took stays readable.',
    input: { id: t.input.id({ required: true, description: 'Id of the address.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input: { id } }, context) => {
      const deleted = await changes.deleteEmailAddress(context.operations, id);
      forgetLoaded(context);
      return deleted;
    },
  }),
);
