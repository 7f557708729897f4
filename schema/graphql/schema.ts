import './scalars.ts';
import './errors.ts';
import './accounts/account.ts';
import './sending/batch.ts';
import './sending/approval.ts';
import './endpoints/delivery.ts';
import './emails/email.ts';
import './emails/email-findings.ts';
import './endpoints/endpoint.ts';
import './events/event.ts';
import './routing/guard-config.ts';
import './threads/presence.ts';
import './threads/read-state.ts';
import './threads/thread.ts';
import './events/subscription.ts';
import './events/webhook-requests.ts';
import './sending/waiting-emails.ts';
import type { GraphQLSchema } from 'graphql';
import { capabilities } from '../../operations/capability/capabilities.ts';
import { describeAccess } from './access.ts';
import { builder } from './builder.ts';
import { addCapabilities } from './capability-types.ts';
import { describeGenerated } from './describe-generated.ts';

addCapabilities(capabilities, ['Endpoint']);

/** The GraphQL schema of the gateway; bin/contracts.ts prints it. */
export const schema: GraphQLSchema = describeAccess(describeGenerated(builder.toSchema()));
