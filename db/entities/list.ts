import { DomainSchema } from './domain.ts';
import { EmailAddressSchema } from './email-address.ts';
import { EndpointSchema } from './endpoint.ts';

/** Every entity of MikroORM: the resources that users configure. Mail itself is written and listed by Kysely (stack.md §2). */
export const entities = [DomainSchema, EmailAddressSchema, EndpointSchema];
