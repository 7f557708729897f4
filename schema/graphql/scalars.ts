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
    description: 'ISO 8601 date and time with an offset or Z. Returned in UTC with milliseconds.',
  }),
);
builder.addScalarType(
  'AddrSpec',
  new GraphQLScalarType({
    ...addrSpec,
    name: 'AddrSpec',
    description:
      'An email address without a display name, `ada@example.org` (RFC 5322 §3.4.1 addr-spec), that Postroom has validated. Addresses in received mail are of type String.',
  }),
);
builder.addScalarType('URL', GraphQLURL);
builder.addScalarType('JSON', new GraphQLScalarType({ ...json, description: 'Any JSON value.' }));
