import { DEFAULT_MAX_PAYLOAD_BYTES } from '../../../core/endpoints/endpoint-config.ts';
import { payloadPreview } from '../../../operations/endpoints/endpoint-capability.ts';
import { previewPayload } from '../../../operations/endpoints/payload-preview.ts';
import { parseInput, payloadPreviewShape } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';
import { EventFilterInput } from './endpoint-changes.ts';

/** The query that is run may cost as much as any. */
const COST = 1_000;

builder.queryField('previewPayload', (t) =>
  t.field({
    type: typeFor(payloadPreview),
    access: access.read,
    description: 'Runs a payload query for a stored event, as a delivery does. Nothing is sent. Expensive.',
    complexity: COST,
    args: {
      query: t.arg.string({ required: true, description: 'GraphQL selection on the type Event.' }),
      cursor: t.arg.string({ required: true, description: 'Cursor of a stored event.' }),
      filter: t.arg({ type: EventFilterInput, description: 'Filter of the endpoint. Null for none.' }),
      maxPayloadOctets: t.arg.int({
        defaultValue: DEFAULT_MAX_PAYLOAD_BYTES,
        description: 'Maximum size of the request body in bytes, 10,000 to 25,000,000.',
      }),
    },
    resolve: async (_root, { query, cursor, filter, maxPayloadOctets }, { reads }) =>
      previewPayload(reads, {
        ...parseInput(payloadPreviewShape, { query }),
        cursor,
        filter:
          filter == null ? null : { domains: filter.domains ?? undefined, addresses: filter.addresses ?? undefined },
        maxPayloadOctets: maxPayloadOctets ?? DEFAULT_MAX_PAYLOAD_BYTES,
      }),
  }),
);
