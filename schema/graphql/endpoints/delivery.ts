import { freeBytes } from '../../../core/shared/free-bytes.ts';
import { invalid } from '../../../operations/context.ts';
import { loadRawSources } from '../../../operations/emails/attachments.ts';
import { buildDeliveryPayloads } from '../../../operations/endpoints/delivery-payloads.ts';
import { builder } from '../builder.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DeliveryNode, EmailNode } from '../nodes.ts';
import { secret, secretUrl } from '../secret.ts';

/** It may have to read the whole message. */
const COST = 100;

/** The beginning of a request body, so that long bodies are not kept until the response is complete. */
interface ShownPayload {
  beginning: Buffer;
  sizeBytes: number;
  url: string;
  isEndpointChanged: boolean;
}

const DeliveryPayloadRef = builder.objectRef<ShownPayload>('DeliveryPayload').implement({
  description: 'The request body that delivers an email to a webhook. Its links are yours, not those of the webhook.',
  fields: (t) => ({
    text: t.string({
      extensions: secret,
      description:
        'JSON, unless it was cut. Its links work without a key for one week after delivery, while who reads it may read the email.',
      resolve: ({ beginning }) => readText(beginning, beginning.length),
    }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'Size in bytes.' }),
    isCut: t.boolean({
      description: 'Whether the text was cut.',
      resolve: ({ beginning, sizeBytes }) => sizeBytes > beginning.length,
    }),
    url: t.string({ description: 'URL of the request.', extensions: secretUrl, resolve: ({ url }) => url }),
    isEndpointChanged: t.exposeBoolean('isEndpointChanged', {
      description:
        'Whether the endpoint changed after the last attempt, so that the last request may have been different.',
    }),
  }),
});

const payloadOf = loadByOwner(({ reads }, deliveryIds, most: number) =>
  buildDeliveryPayloads(reads, deliveryIds, ({ body, url, isEndpointChanged }): ShownPayload => {
    // A copy, which does not hold the whole body.
    const shown = { beginning: Buffer.from(body.subarray(0, most)), sizeBytes: body.length, url, isEndpointChanged };
    freeBytes(body);
    return shown;
  }),
);
// One more byte shows whether the source is cut.
const rawSourceOf = loadByOwner(({ reads }, emailIds, most: number) => loadRawSources(reads, emailIds, most + 1));

builder.objectField(DeliveryNode, 'payload', (t) =>
  t.field({
    type: DeliveryPayloadRef,
    nullable: true,
    description:
      'The request body that an attempt would send now. Bodies are not stored; as long as the endpoint and the parsed email are unchanged, every attempt sends the same bytes. Null for forwarded copies and if the endpoint or email was deleted. Expensive: request it for single deliveries.',
    complexity: COST,
    args: { maxBytes: t.arg.int(maxBytesArgument) },
    resolve: ({ id }, { maxBytes }, context) => payloadOf(context, id, checkMaxBytes(maxBytes)),
  }),
);

builder.objectField(EmailNode, 'rawSource', (t) =>
  t.field({
    type: RawSourceRef,
    nullable: true,
    description: 'The raw message. Null if it is no longer stored. Expensive: request it for single emails.',
    complexity: COST,
    args: { maxBytes: t.arg.int(maxBytesArgument) },
    resolve: async ({ id, hasRaw }, { maxBytes }, context) => {
      const most = checkMaxBytes(maxBytes);
      const bytes = hasRaw ? await rawSourceOf(context, id, most) : null;
      return bytes === null ? null : { text: readText(bytes, most), isCut: bytes.length > most };
    },
  }),
);

/** Bytes of a long text that are returned by default, and at most. */
const DEFAULT_BYTES = 65_536;
const MAX_BYTES = 1_000_000;

const maxBytesArgument = {
  defaultValue: DEFAULT_BYTES,
  description: `Number of bytes to return, 1 to ${MAX_BYTES}.`,
};

/** Returns the default for null. Throws validation when the number is out of range. */
function checkMaxBytes(maxBytes: number | null | undefined): number {
  const most = maxBytes ?? DEFAULT_BYTES;
  if (most < 1 || most > MAX_BYTES) throw invalid(`maxBytes must be 1 to ${MAX_BYTES}`, 'maxBytes');
  return most;
}

/** Decodes up to `most` bytes as UTF-8. Invalid bytes, such as a cut character, become U+FFFD. */
function readText(bytes: Uint8Array, most: number): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, most));
}

/** The raw source of an email, or its beginning. */
interface RawSource {
  text: string;
  isCut: boolean;
}

const RawSourceRef = builder.objectRef<RawSource>('RawSource').implement({
  description: 'The raw source of an email, including its headers, as text.',
  isOfDomain: true,
  fields: (t) => ({
    text: t.exposeString('text', {
      description:
        'The bytes decoded as UTF-8; invalid bytes become U+FFFD. The sender wrote this text: display it as plain text only.',
    }),
    isCut: t.exposeBoolean('isCut', { description: 'Whether the text was cut. `rawUrl` returns the whole source.' }),
  }),
});
