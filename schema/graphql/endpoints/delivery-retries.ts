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
      description: 'The email. Null if it was deleted in the meantime.',
      resolve: ({ emailId }) => emailId,
    }),
    deliveries: t.field({
      type: [DeliveryNode],
      description: 'New deliveries, and pending ones that are attempted now.',
      resolve: ({ deliveryIds }) => deliveryIds,
    }),
  }),
});

const ReleaseEmailPayload = builder.objectRef<DeliveredAgain & { releasedAt: Date }>('ReleaseEmailPayload').implement({
  description: 'A released email.',
  fields: (t) => ({
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email. Null if it was deleted in the meantime.',
      resolve: ({ emailId }) => emailId,
    }),
    releasedAt: t.expose('releasedAt', { type: 'DateTime', description: 'When the email was released.' }),
    deliveries: t.field({
      type: [DeliveryNode],
      description: 'Deliveries of the email. Empty if its route leads to no active endpoint.',
      resolve: ({ deliveryIds }) => deliveryIds,
    }),
  }),
});

builder.mutationFields((t) => ({
  retryEmail: t.fieldWithInput({
    type: RetryEmailPayload,
    access: access.sendAccount,
    description:
      'Delivers a received email again now. Creates a new delivery, or attempts a pending one now so that nothing is delivered twice. Without endpointId and deliveryId, the current guard rules and routes apply.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the email.' }),
      endpointId: t.input.id({ description: 'Deliver to this endpoint. Cannot be combined with deliveryId.' }),
      deliveryId: t.input.id({ description: 'Deliver to the endpoint of this unsuccessful delivery.' }),
    },
    errors: { directResult: true },
    resolve: async (_root, { input: { id, endpointId, deliveryId } }, context) => {
      const target = { endpointId: endpointId ?? null, deliveryId: deliveryId ?? null };
      const deliveryIds = await retryEmail(context.operations, id, target);
      forgetLoaded(context);
      return { emailId: id, deliveryIds };
    },
  }),
  retryDelivery: t.fieldWithInput({
    type: DeliveryNode,
    access: access.sendAccount,
    description:
      'Retries an unsuccessful delivery to its endpoint: in a new delivery, or in this one while it is pending.',
    input: { id: t.input.id({ required: true, description: 'ID of the delivery.' }) },
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
      'Releases a received email that a guard rule blocked or that is held for review. It is delivered as if there were no guard rules.',
    input: { id: t.input.id({ required: true, description: 'ID of the email.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input: { id } }, context) => {
      const released = await releaseEmail(context.operations, id);
      forgetLoaded(context);
      return { ...released, emailId: id };
    },
  }),
}));
