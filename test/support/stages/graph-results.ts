import { expect } from 'vitest';
import type { TestGateway } from '../servers/gateway.ts';

/** What every error of a mutation is asked for. */
const ERRORS = `__typename
  ... on Error { message code } ... on ValidationError { fields { path message } } ... on Conflict { isRetryable details }`;

const TYPES: Record<number, string> = { 400: 'ValidationError', 404: 'NotFound', 409: 'Conflict', 403: 'Forbidden' };

/** Asks for one result of a mutation: the payload's fields, or its error. */
export async function mutate(
  gateway: TestGateway,
  key: string,
  name: string,
  input: Record<string, unknown>,
  payload: string,
) {
  const type = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
  const response = await gateway.graphql(
    key,
    `mutation($input: ${type}Input!) { ${name}(input: $input) { ${ERRORS} ... on ${type}Payload { ${payload} } } }`,
    { input },
  );
  const { data, errors } = response.json();
  return { ...data?.[name], errors };
}

/** Demands that a mutation refuses what REST refuses: by the type that belongs to the status, in the same words, at the same fields. */
export function expectSame(
  result: {
    __typename?: string;
    message?: string;
    code?: string | null;
    fields?: { path: string[]; message: string }[];
  },
  rest: { status: number; body: { message: string; code?: string; details?: unknown } },
): void {
  const { status, body } = rest;
  expect(result).toMatchObject({ __typename: TYPES[status], message: body.message, code: body.code ?? null });
  if (status !== 400) return;
  const details = (body.details ?? []) as { field: string; message: string }[];
  expect(result.fields).toEqual(details.map(({ field, message }) => ({ path: field.split('.'), message })));
}
