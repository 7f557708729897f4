import type { GraphQLArgument, GraphQLField, GraphQLInputField } from 'graphql';
import type { SecretKind } from '../../core/accounts/redaction.ts';

/** Marks a field, an argument or an input field as a secret, as its `extensions`: the request log replaces its value. */
export const secret = { secret: 'value' } as const satisfies { secret: SecretKind };
/** Marks a URL whose path or query is a secret. */
export const secretUrl = { secret: 'url' } as const satisfies { secret: SecretKind };

/** Returns how much of a value is a secret; null when nothing is. */
export function secretKind(
  element: GraphQLField<unknown, unknown> | GraphQLArgument | GraphQLInputField,
): SecretKind | null {
  return (element.extensions as { secret?: SecretKind }).secret ?? null;
}
