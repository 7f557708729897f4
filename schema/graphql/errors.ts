import type { UserError } from '../../core/shared/errors.ts';
import { builder } from './builder.ts';
import { Conflict, Forbidden, NotFound, RateLimited, SuppressedRecipient, ValidationError } from './client-errors.ts';

/** An error as its type shows it: the object behind is the `UserError` itself. */
const asUserError = (error: unknown) => error as UserError;

const ErrorInterface = builder.interfaceRef<object>('Error').implement({
  description: 'Why a mutation did nothing.',
  fields: (t) => ({
    message: t.string({
      description: 'For people: what was wrong, and what is allowed.',
      resolve: (error) => asUserError(error).message,
    }),
    code: t.string({
      nullable: true,
      description: 'For programs, where one message stands for several reasons, as DOMAIN_ALREADY_REGISTERED.',
      resolve: (error) => asUserError(error).reason ?? null,
    }),
  }),
});

const FieldError = builder.objectRef<{ field: string; message: string }>('FieldError').implement({
  description: 'What is wrong with one field of the input.',
  fields: (t) => ({
    path: t.stringList({
      description: 'From the input down: names of fields and places in lists, as ["attachments", "0", "content"].',
      // Operations name fields as the REST interface does.
      resolve: ({ field }) => (field === '' ? [] : field.split('.').map(camelCase)),
    }),
    message: t.exposeString('message', { description: 'For people.' }),
  }),
});

builder.objectType(ValidationError, {
  name: 'ValidationError',
  interfaces: [ErrorInterface],
  description: 'The input cannot be taken as it is.',
  fields: (t) => ({
    fields: t.field({
      type: [FieldError],
      description: 'Which fields are at fault; empty when it is none alone.',
      resolve: (error) => fieldsOf(asUserError(error)),
    }),
  }),
});

builder.objectType(NotFound, {
  name: 'NotFound',
  interfaces: [ErrorInterface],
  description: 'You have nothing with that id. Another account’s id answers the same.',
});

builder.objectType(Conflict, {
  name: 'Conflict',
  interfaces: [ErrorInterface],
  description: 'The input is sound, but what is there stands in its way.',
  fields: (t) => ({
    isRetryable: t.boolean({
      description: 'Whether the same request may succeed later.',
      resolve: (error) => !asUserError(error).isFinal && !asUserError(error).isOfState,
    }),
    details: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What stands in the way, where it can be told, as the subdomains of a domain.',
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
  description: 'The account, or its key, may not do that.',
});

builder.objectType(RateLimited, {
  name: 'RateLimited',
  interfaces: [ErrorInterface],
  description: 'Too much for now. The limit on requests as such is told as HTTP 429 instead.',
  fields: (t) => ({
    retryAfterSeconds: t.int({
      nullable: true,
      description: 'When trying again may help; null: not known.',
      resolve: (error) => asUserError(error).retryAfterSeconds ?? null,
    }),
  }),
});

builder.objectType(SuppressedRecipient, {
  name: 'SuppressedRecipient',
  interfaces: [ErrorInterface],
  description: 'Mail to a recipient bounced before, or its owner complained. Lift the suppression to send there again.',
  fields: (t) => ({
    addresses: t.stringList({
      description: 'As they were given.',
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

function fieldsOf({ details, field }: UserError): { field: string; message: string }[] {
  if (typeof details === 'string') return [{ field: field ?? '', message: details }];
  if (!Array.isArray(details)) return [];
  return details.filter((each): each is { field: string; message: string } => typeof each?.field === 'string');
}
