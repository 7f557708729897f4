import { GraphQLScalarType } from 'graphql';
import { GraphQLDateTimeISO, GraphQLEmailAddress, GraphQLJSON, GraphQLURL } from 'graphql-scalars';
import { builder } from './builder.ts';

const dateTime = GraphQLDateTimeISO.toConfig();
const addrSpec = GraphQLEmailAddress.toConfig();
const json = GraphQLJSON.toConfig();
const url = GraphQLURL.toConfig();

builder.addScalarType(
  'DateTime',
  new GraphQLScalarType({
    ...dateTime,
    name: 'DateTime',
    specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339#section-5.6',
    description: 'ISO 8601 date and time with an offset or Z. Returned in UTC with milliseconds.',
  }),
);
builder.addScalarType(
  'AddrSpec',
  new GraphQLScalarType({
    ...addrSpec,
    name: 'AddrSpec',
    specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc5322#section-3.4.1',
    description:
      'An email address without a display name, `ada@example.org` (RFC 5322 §3.4.1 addr-spec), that Postroom has validated. Addresses in received mail are of type String.',
  }),
);
builder.addScalarType('URL', new GraphQLScalarType({ ...url, specifiedByURL: 'https://url.spec.whatwg.org/' }));
builder.addScalarType(
  'JSON',
  new GraphQLScalarType({
    ...json,
    specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
    description: 'Any JSON value.',
  }),
);
