import { DEFAULT_MAX_PAYLOAD_BYTES } from '../../../core/endpoints/endpoint-config.ts';
import type { PayloadQueryError } from '../../../core/endpoints/payload-query.ts';
import { type PayloadPreview, previewPayload } from '../../../operations/endpoints/payload-preview.ts';
import { parseInput, payloadPreviewShape } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { EventFilterInput } from './endpoint-changes.ts';

/** The query that is run may cost as much as any. */
const COST = 1_000;

const PayloadErrorRef = builder.objectRef<PayloadQueryError>('PayloadQueryError').implement({
  description: 'An error in a payload query.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'What is wrong. Display text.' }),
    line: t.exposeInt('line', {
      nullable: true,
      description: 'Line in the query, from 1. Null if it is the whole query.',
    }),
    column: t.exposeInt('column', {
      nullable: true,
      description: 'Column in the line, from 1. Null if it is the whole query.',
    }),
  }),
});

const PayloadPreviewRef = builder.objectRef<PayloadPreview>('PayloadPreview').implement({
  description: 'What a webhook with a payload query would be posted.',
  fields: (t) => ({
    data: t.expose('data', {
      type: 'JSON',
      nullable: true,
      description: 'Result of the query, `data` of the payload. Null if the query is invalid.',
    }),
    truncated: t.stringList({
      description: 'Paths of texts that links replace because the payload is too large.',
      resolve: ({ truncated }) => [...truncated],
    }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'Size of the request body in bytes.' }),
    errors: t.field({
      type: [PayloadErrorRef],
      description: 'Errors of the query, or of single fields.',
      resolve: ({ errors }) => [...errors],
    }),
  }),
});

builder.queryField('previewPayload', (t) =>
  t.field({
    type: PayloadPreviewRef,
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
    resolve: (_root, { query, cursor, filter, maxPayloadOctets }, { reads }) =>
      previewPayload(reads, {
        ...parseInput(payloadPreviewShape, { query }),
        cursor,
        filter:
          filter == null ? null : { domains: filter.domains ?? undefined, addresses: filter.addresses ?? undefined },
        maxPayloadOctets: maxPayloadOctets ?? DEFAULT_MAX_PAYLOAD_BYTES,
      }),
  }),
);
