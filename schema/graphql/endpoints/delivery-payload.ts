import { readRawSource } from '../../../operations/emails/attachments.ts';
import { buildDeliveryPayload, type DeliveryPayload } from '../../../operations/endpoints/deliveries.ts';
import { builder } from '../builder.ts';
import { checkMaxBytes, maxBytesArgument, RawSourceRef, textOf } from '../cut-text.ts';
import { DeliveryNode, EmailNode } from '../nodes.ts';

/** The whole message may have to be read for it. */
const COST = 100;

const DeliveryPayloadRef = builder.objectRef<DeliveryPayload & { most: number }>('DeliveryPayload').implement({
  description: 'The request body that delivers an email to a webhook.',
  fields: (t) => ({
    text: t.string({
      description: 'JSON, unless it was cut. Its links work without a key for one week after delivery.',
      resolve: ({ body, most }) => textOf(body, most),
    }),
    sizeBytes: t.int({ description: 'Size in bytes.', resolve: ({ body }) => body.length }),
    isCut: t.boolean({ description: 'Whether the text was cut.', resolve: ({ body, most }) => body.length > most }),
    url: t.string({ description: 'URL of the request.', resolve: ({ url }) => url }),
    isEndpointChanged: t.exposeBoolean('isEndpointChanged', {
      description:
        'Whether the endpoint changed after the last attempt, so that the last request may have been different.',
    }),
  }),
});

builder.objectField(DeliveryNode, 'payload', (t) =>
  t.field({
    type: DeliveryPayloadRef,
    nullable: true,
    description:
      'The request body that an attempt would send now. Bodies are not stored; as long as the endpoint and the parsed email are unchanged, every attempt sends the same bytes. Null for forwarded copies and if the endpoint or email was deleted. Expensive: request it for single deliveries.',
    complexity: COST,
    args: { maxBytes: t.arg.int(maxBytesArgument) },
    resolve: async ({ id }, { maxBytes }, { reads }) => {
      const most = checkMaxBytes(maxBytes);
      const payload = await buildDeliveryPayload(reads, id);
      return payload === null ? null : { ...payload, most };
    },
  }),
);

builder.objectField(EmailNode, 'rawSource', (t) =>
  t.field({
    type: RawSourceRef,
    nullable: true,
    description: 'The raw message. Null if it is no longer stored. Expensive: request it for single emails.',
    complexity: COST,
    args: { maxBytes: t.arg.int(maxBytesArgument) },
    resolve: async ({ id, hasOctets }, { maxBytes }, { reads }) => {
      const most = checkMaxBytes(maxBytes);
      // One more tells whether there is more.
      const bytes = hasOctets ? await readRawSource(reads, id, most + 1) : null;
      return bytes === null ? null : { text: textOf(bytes, most), isCut: bytes.length > most };
    },
  }),
);
