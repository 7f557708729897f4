import type { GraphQLSchema } from 'graphql';
import './scalars.ts';
import './errors.ts';
import './account.ts';
import './domain.ts';
import './email-address.ts';
import './email.ts';
import './endpoint.ts';
import './endpoint-actions.ts';
import './endpoint-changes.ts';
import './endpoint-list.ts';
import './thread.ts';
import { builder } from './builder.ts';

/** The schema of the gateway; bin/contracts.ts prints it. */
export const schema: GraphQLSchema = builder.toSchema();
