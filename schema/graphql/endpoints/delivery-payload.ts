import { readRawSource } from '../../../operations/emails/attachments.ts';
import { buildDeliveryPayload, type DeliveryPayload } from '../../../operations/endpoints/deliveries.ts';
import { builder } from '../builder.ts';
import { checkMaxOctets, maxOctetsArgument, RawSourceRef, textOf } from '../cut-text.ts';
import { DeliveryNode, EmailNode } from '../nodes.ts';

/** The whole message may have to be read for it. */
const COST = 100;

const DeliveryPayloadRef = builder.objectRef<DeliveryPayload & { most: number }>('DeliveryPayload').implement({
  description: 'The body of the request by which an email is delivered to a webhook.',
  fields: (t) => ({
    text: t.string({
      description: 'JSON, unless it is cut. It holds links that serve without a key for a week from the delivery on.',
      resolve: ({ body, most }) => textOf(body, most),
    }),
    octets: t.int({ description: 'How long it is.', resolve: ({ body }) => body.length }),
    isCut: t.boolean({ description: 'Whether there is more of it.', resolve: ({ body, most }) => body.length > most }),
    url: t.string({ description: 'Where it is posted to.', resolve: ({ url }) => url }),
    isEndpointChanged: t.exposeBoolean('isEndpointChanged', {
      description: 'Whether the endpoint was changed after the last try, so that what was sent then may have differed.',
    }),
  }),
});

builder.objectField(DeliveryNode, 'payload', (t) =>
  t.field({
    type: DeliveryPayloadRef,
    nullable: true,
    description:
      'What a try would send now. Bodies are not kept: as long as neither the endpoint nor what was read of the email is changed, every try sends the same octets. Null of copies, and when the endpoint or the email is gone. Dear: ask it of single deliveries.',
    complexity: COST,
    args: { maxOctets: t.arg.int(maxOctetsArgument) },
    resolve: async ({ id }, { maxOctets }, { reads }) => {
      const most = checkMaxOctets(maxOctets);
      const payload = await buildDeliveryPayload(reads, id);
      return payload === null ? null : { ...payload, most };
    },
  }),
);

builder.objectField(EmailNode, 'rawSource', (t) =>
  t.field({
    type: RawSourceRef,
    nullable: true,
    description: 'The email as it came or went; null: it is not kept. Dear: ask it of single emails.',
    complexity: COST,
    args: { maxOctets: t.arg.int(maxOctetsArgument) },
    resolve: async ({ id, hasOctets }, { maxOctets }, { reads }) => {
      const most = checkMaxOctets(maxOctets);
      // One more tells whether there is more.
      const octets = hasOctets ? await readRawSource(reads, id, most + 1) : null;
      return octets === null ? null : { text: textOf(octets, most), isCut: octets.length > most };
    },
  }),
);
