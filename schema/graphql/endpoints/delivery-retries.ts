import { retryDelivery } from '../../../operations/endpoints/deliveries.ts';
import { retryEmail } from '../../../operations/endpoints/retries.ts';
import { releaseEmail } from '../../../operations/routing/release-email.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { DeliveryNode, EmailNode } from '../nodes.ts';

interface DeliveredAgain {
  emailId: string;
  deliveryIds: string[];
}

const RetryEmailPayload = builder.objectRef<DeliveredAgain>('RetryEmailPayload').implement({
  description: 'An email that is being delivered again.',
  fields: (t) => ({
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email; null: it is gone meanwhile.',
      resolve: ({ emailId }) => emailId,
    }),
    deliveries: t.field({
      type: [DeliveryNode],
      description: 'Its new deliveries, or those still pending that are tried now instead.',
      resolve: ({ deliveryIds }) => deliveryIds,
    }),
  }),
});

const ReleaseEmailPayload = builder.objectRef<DeliveredAgain & { releasedAt: Date }>('ReleaseEmailPayload').implement({
  description: 'An email that was let through.',
  fields: (t) => ({
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email; null: it is gone meanwhile.',
      resolve: ({ emailId }) => emailId,
    }),
    releasedAt: t.expose('releasedAt', { type: 'DateTime', description: 'When it was let through.' }),
    deliveries: t.field({
      type: [DeliveryNode],
      description: 'Its deliveries; empty: its route leads to no active endpoint.',
      resolve: ({ deliveryIds }) => deliveryIds,
    }),
  }),
});

builder.mutationFields((t) => ({
  retryEmail: t.fieldWithInput({
    type: RetryEmailPayload,
    access: access.sendAccount,
    description:
      'Delivers a received email again, at once, in a new delivery. One that is still pending is tried now instead, so that nothing comes twice. Without ids it goes where its route leads now, guard rules and all.',
    input: {
      id: t.input.id({ required: true, description: 'Id of the email.' }),
      endpointId: t.input.id({ description: 'To this endpoint. Not together with deliveryId.' }),
      deliveryId: t.input.id({ description: 'To where this delivery of the email went, which did not succeed.' }),
    },
    errors: { directResult: true },
    resolve: async (_root, { input: { id, endpointId, deliveryId } }, context) => {
      const wish = { endpointId: endpointId ?? null, deliveryId: deliveryId ?? null };
      const deliveryIds = await retryEmail(context.operations, id, wish);
      forgetLoaded(context);
      return { emailId: id, deliveryIds };
    },
  }),
  retryDelivery: t.fieldWithInput({
    type: DeliveryNode,
    access: access.sendAccount,
    description:
      'Delivers the email of a delivery that did not succeed to its endpoint again: in a new delivery, or in this one while it is pending.',
    input: { id: t.input.id({ required: true, description: 'Id of the delivery.' }) },
    errors: { dataField: { name: 'delivery' } },
    resolve: async (_root, { input: { id } }, context) => {
      const deliveryId = await retryDelivery(context.operations, id);
      forgetLoaded(context);
      return deliveryId;
    },
  }),
  releaseEmail: t.fieldWithInput({
    type: ReleaseEmailPayload,
    access: access.manage,
    description:
      'Lets a received email through that a guard rule blocked, or that is held for review: it goes the way it would go without guard rules.',
    input: { id: t.input.id({ required: true, description: 'Id of the email.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input: { id } }, context) => {
      const released = await releaseEmail(context.operations, id);
      forgetLoaded(context);
      return { ...released, emailId: id };
    },
  }),
}));
