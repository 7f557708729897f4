import { GraphQLScalarType } from 'graphql';
import { GraphQLDateTimeISO, GraphQLEmailAddress, GraphQLJSON, GraphQLURL } from 'graphql-scalars';
import { builder } from './builder.ts';

const dateTime = GraphQLDateTimeISO.toConfig();
const addrSpec = GraphQLEmailAddress.toConfig();
const { specifiedByURL: _, ...json } = GraphQLJSON.toConfig();

builder.addScalarType(
  'DateTime',
  new GraphQLScalarType({
    ...dateTime,
    name: 'DateTime',
    description: 'An instant as ISO 8601 text, with an offset or Z; answered in UTC with milliseconds.',
  }),
);
builder.addScalarType(
  'AddrSpec',
  new GraphQLScalarType({
    ...addrSpec,
    name: 'AddrSpec',
    description:
      'An address without a name, `ada@example.org` (RFC 5322 §3.4.1 addr-spec), that we checked. What strangers wrote is a String.',
  }),
);
builder.addScalarType('URL', GraphQLURL);
builder.addScalarType('JSON', new GraphQLScalarType({ ...json, description: 'Any JSON value.' }));
