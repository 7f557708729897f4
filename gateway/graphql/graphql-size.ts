import { type DocumentNode, GraphQLError, getOperationAST, Kind } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** Characters of the variables of what sends no mail. */
const MAX_USUAL_LENGTH = 262_144;
/** Values in the variables, those in lists and objects counted: a batch of 100 emails with all that each may hold has some 20,000. */
const MAX_VALUES = 40_000;
/** What takes files in its variables. */
const MAIL_FIELDS: ReadonlySet<string> = new Set(['sendEmail', 'sendEmails', 'replyToEmail', 'simulateInbound']);

interface Asked {
  document: DocumentNode;
  operationName?: unknown;
  variableValues?: unknown;
}

/** What bounds the variables of a request, before they are looked at one by one: large ones are for mail. */
export const boundedVariables: Plugin = {
  onExecute({ args, setResultAndStopExecution }) {
    const refused = refusalOf(args);
    if (refused !== null) setResultAndStopExecution({ errors: [refused] });
  },
  onSubscribe({ args, setResultAndStopExecution }) {
    const refused = refusalOf(args);
    if (refused !== null) setResultAndStopExecution({ errors: [refused] });
  },
};

function refusalOf({ document, operationName, variableValues }: Asked): GraphQLError | null {
  const { length, count } = measure(variableValues);
  if (count > MAX_VALUES) return refusal(400, `The variables hold more than ${MAX_VALUES} values.`);
  if (length <= MAX_USUAL_LENGTH) return null;
  const operation = getOperationAST(document, typeof operationName === 'string' ? operationName : null);
  const isMail = operation?.selectionSet.selections.every(
    (selection) => selection.kind === Kind.FIELD && MAIL_FIELDS.has(selection.name.value),
  );
  if (isMail === true) return null;
  const fields = [...MAIL_FIELDS].join(', ');
  return refusal(413, `Variables of more than ${MAX_USUAL_LENGTH} characters are for ${fields} alone.`);
}

/** Characters of names and texts, and how many values there are; not much more than the bounds is looked at. */
function measure(variables: unknown): { length: number; count: number } {
  const open: unknown[] = [variables];
  let length = 0;
  let count = 0;
  while (open.length > 0 && count <= MAX_VALUES) {
    const value = open.pop();
    count++;
    if (typeof value === 'string') length += value.length;
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      if (value.length > MAX_VALUES) return { length, count: value.length };
      for (const each of value) open.push(each);
      continue;
    }
    for (const [name, each] of Object.entries(value)) {
      length += name.length;
      open.push(each);
    }
  }
  return { length, count };
}

function refusal(status: number, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'validation_error', http: { status } } });
}
