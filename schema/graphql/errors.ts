import type { UserError } from '../../core/shared/errors.ts';
import { builder } from './builder.ts';
import { Conflict, Forbidden, NotFound, RateLimited, SuppressedRecipient, ValidationError } from './client-errors.ts';

/** The value behind every error type is a `UserError`. */
const asUserError = (error: unknown) => error as UserError;

const ErrorInterface = builder.interfaceRef<object>('Error').implement({
  description: 'The reason why a mutation changed nothing.',
  fields: (t) => ({
    message: t.string({
      description: 'What is wrong and what is allowed. Display text.',
      resolve: (error) => asUserError(error).message,
    }),
    code: t.string({
      nullable: true,
      description: 'Error code, where one message has several reasons, such as DOMAIN_ALREADY_REGISTERED.',
      resolve: (error) => asUserError(error).reason ?? null,
    }),
  }),
});

const FieldError = builder.objectRef<{ field: string; message: string }>('FieldError').implement({
  description: 'An error in one field of the input.',
  fields: (t) => ({
    path: t.stringList({
      description: 'Path from the input to the field, such as ["attachments", "0", "content"].',
      // Operations use the field names of the REST interface.
      resolve: ({ field }) => (field === '' ? [] : field.split('.').map(camelCase)),
    }),
    message: t.exposeString('message', { description: 'What is wrong. Display text.' }),
  }),
});

builder.objectType(ValidationError, {
  name: 'ValidationError',
  interfaces: [ErrorInterface],
  description: 'The input is invalid.',
  fields: (t) => ({
    fields: t.field({
      type: [FieldError],
      description: 'The fields with errors. Empty if no single field is at fault.',
      resolve: (error) => listFields(asUserError(error)),
    }),
  }),
});

builder.objectType(NotFound, {
  name: 'NotFound',
  interfaces: [ErrorInterface],
  description: 'The account has no object with this ID. IDs of other accounts return the same error.',
});

builder.objectType(Conflict, {
  name: 'Conflict',
  interfaces: [ErrorInterface],
  description: 'The input is valid but conflicts with existing data.',
  fields: (t) => ({
    isRetryable: t.boolean({
      description: 'Whether the same request may succeed later.',
      resolve: (error) => !asUserError(error).isFinal && !asUserError(error).isOfState,
    }),
    details: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Details of the conflict if available, such as dependent subdomains.',
      resolve: (error) => {
        const { members } = asUserError(error);
        return Object.keys(members).length === 0 ? null : members;
      },
    }),
  }),
});

builder.objectType(Forbidden, {
  name: 'Forbidden',
  interfaces: [ErrorInterface],
  description: 'The account or API key is not allowed to do this.',
});

builder.objectType(RateLimited, {
  name: 'RateLimited',
  interfaces: [ErrorInterface],
  description: 'A limit was exceeded. The limit on requests per second returns HTTP 429 instead.',
  fields: (t) => ({
    retryAfterSeconds: t.int({
      nullable: true,
      description: 'Seconds until a retry can succeed. Null if unknown.',
      resolve: (error) => asUserError(error).retryAfterSeconds ?? null,
    }),
  }),
});

builder.objectType(SuppressedRecipient, {
  name: 'SuppressedRecipient',
  interfaces: [ErrorInterface],
  description:
    'A recipient is suppressed because mail bounced or its owner complained. Remove the suppression to send there again.',
  fields: (t) => ({
    addresses: t.stringList({
      description: 'The addresses as given in the input.',
      resolve: (error) => {
        const { suppressedRecipients } = asUserError(error).members as { suppressedRecipients?: string[] };
        return suppressedRecipients ?? [];
      },
    }),
  }),
});

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function listFields({ details, field }: UserError): { field: string; message: string }[] {
  if (typeof details === 'string') return [{ field: field ?? '', message: details }];
  if (!Array.isArray(details)) return [];
  return (details as ({ field?: unknown } | null)[]).filter(
    (each): each is { field: string; message: string } => typeof each?.field === 'string',
  );
}
