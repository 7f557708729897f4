import { z } from 'zod';
import { parseRecipients } from '../sending/outgoing-addresses.ts';
import { checkSubject } from '../sending/outgoing-headers.ts';
import { isRecord } from '../shared/is-record.ts';
import { MAX_LABEL_LENGTH, normalizeLabel } from '../threads/label.ts';

/** What a webhook's response may ask for, when its endpoint has `allowActions`. */
export const ACTION_TYPES = ['reply', 'forward', 'label', 'archive', 'read', 'hold', 'route'] as const;
type ActionType = (typeof ACTION_TYPES)[number];

/** Actions of one response. */
export const MAX_ACTIONS = 10;
/** Bytes of a response that is read for its actions; actions of a longer one do not run. */
export const MAX_ACTIONS_BYTES = 262_144;

/** `refused`: it could not run; `skipped`: it did not run because another action of the response was refused. */
export const ACTION_STATUSES = ['done', 'refused', 'skipped'] as const;
type ActionStatus = (typeof ACTION_STATUSES)[number];

/** The result of one action. */
export interface ActionResult {
  type: ActionType;
  status: ActionStatus;
  /** what it did, or why it was refused */
  message: string;
  /** the email that a reply or forward sends */
  emailId: string | null;
  /** the delivery that `route` created */
  deliveryId: string | null;
}

/** What became of the actions in a webhook's response; stored with the delivery. */
export interface ActionLog {
  /** why none of them ran; null: all ran */
  problem: ActionProblem | null;
  /** in the order of the response; empty when the response could not be used */
  results: ActionResult[];
}

/** Why no action of a response ran. */
interface ActionProblem {
  /** such as `actions[2].type`; null when it is the whole response */
  place: string | null;
  message: string;
}

/** The actions in a response: none, some to run, or a problem for which none of them runs. */
export type AskedActions =
  | { kind: 'none' }
  | { kind: 'some'; actions: Action[] }
  | { kind: 'invalid'; problem: ActionProblem };

const text = z.string({ error: 'It must be a string.' }).nullish();

/** Addresses in `reply_to`, as in a request. */
const MAX_REPLY_TO = 25;

const reply = z
  .strictObject({
    type: z.literal('reply'),
    text,
    html: text,
    subject: z
      .string({ error: 'It must be a string.' })
      .refine((value) => checkSubject(value) === null, {
        error: (issue) => checkSubject(String(issue.input)) ?? 'It is not a subject.',
      })
      .nullish(),
    reply_to: z
      .union([z.string(), z.array(z.string())], { error: 'Give an email address, or a list of them.' })
      .superRefine((value, context) => {
        const { error } = parseRecipients(value, 'reply_to', MAX_REPLY_TO);
        if (error !== undefined) context.addIssue({ code: 'custom', message: error });
      })
      .nullish(),
  })
  .superRefine((value, context) => {
    if (!value.text && !value.html)
      context.addIssue({ code: 'custom', path: ['text'], message: 'A reply needs text, html, or both.' });
  });

const forward = z.strictObject({
  type: z.literal('forward'),
  to: z.string({ error: 'Give one email address.' }).superRefine((value, context) => {
    const { recipients = [], error } = parseRecipients(value, 'to', 1);
    if (error !== undefined || recipients.length === 0)
      context.addIssue({ code: 'custom', message: 'Give one email address.' });
  }),
});

const label = z.strictObject({
  type: z.literal('label'),
  name: z.string({ error: 'Give the name of a label.' }).refine((value) => normalizeLabel(value) !== null, {
    error: `A label has 1 to ${MAX_LABEL_LENGTH} characters and no control characters.`,
  }),
});

const route = z.strictObject({
  type: z.literal('route'),
  endpointId: z
    .string({ error: 'Give the ID of an endpoint.' })
    .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'Give the ID of an endpoint.' }),
});

const action = z.discriminatedUnion(
  'type',
  [
    reply,
    forward,
    label,
    z.strictObject({ type: z.literal('archive') }),
    z.strictObject({ type: z.literal('read') }),
    z.strictObject({ type: z.literal('hold') }),
    route,
  ],
  {
    error: ({ input }) =>
      typeof input === 'object' && input !== null ? `Use one of ${ACTION_TYPES.join(', ')}.` : 'It must be an object.',
  },
);
export type Action = z.infer<typeof action>;

/** Other members of the response belong to the receiver. */
const response = z.object({
  actions: z
    .array(action, { error: 'It must be an array.' })
    .max(MAX_ACTIONS, { error: `At most ${MAX_ACTIONS} actions can be given.` })
    .nullish(),
});

/** A webhook's response with a 2xx status. */
export interface ActingResponse {
  /** the Content-Type field; empty without one */
  contentType: string;
  /** up to MAX_ACTIONS_BYTES */
  body: Buffer;
  /** whether the response is longer */
  isTooLong: boolean;
}

/**
 * Returns the actions in a response. Only JSON can have them: a receiver that repeats mail in another format must not act on what the
 * sender wrote. One wrong action makes all of them invalid.
 */
export function readActions({ contentType, body, isTooLong }: ActingResponse): AskedActions {
  if (!IS_JSON.test(contentType)) return mayHaveActions(body) ? wrongContentType(contentType) : { kind: 'none' };
  if (isTooLong)
    return invalid(null, `The response is longer than ${MAX_ACTIONS_BYTES} bytes, so its actions are not read.`);
  const json = parseJson(body);
  if (json === undefined)
    return body.length === 0 ? { kind: 'none' } : invalid(null, 'The response is not valid JSON.');
  if (!isRecord(json)) return { kind: 'none' };
  const read = response.safeParse(json);
  if (!read.success) return invalidBy(read.error.issues[0]);
  const { actions } = read.data;
  return actions == null || actions.length === 0 ? { kind: 'none' } : { kind: 'some', actions };
}

/** RFC 8259 §11 and the suffix of RFC 6839 §3.1 */
const IS_JSON = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** Whether a response with another Content-Type looks as if its author meant actions. */
function mayHaveActions(body: Buffer): boolean {
  const json = body[0] === OPENING_BRACE ? parseJson(body) : undefined;
  return isRecord(json) && Array.isArray(json['actions']) && json['actions'].length > 0;
}

const OPENING_BRACE = 0x7b;

function wrongContentType(contentType: string): AskedActions {
  const given = contentType === '' ? 'no Content-Type' : `the Content-Type ${quoted(contentType)}`;
  return invalid(null, `The response has ${given}. Send actions as application/json.`);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown;
  } catch {
    return undefined;
  }
}

function invalidBy(issue: z.core.$ZodIssue | undefined): AskedActions {
  if (issue === undefined) throw new Error('an invalid response has an issue');
  if (issue.code !== 'unrecognized_keys') return invalid(writePath(issue.path), issue.message);
  const [key = ''] = issue.keys;
  return invalid(writePath([...issue.path, key]), 'This action has no such field.');
}

function invalid(place: string | null, message: string): AskedActions {
  return { kind: 'invalid', problem: { place, message } };
}

/** Returns `actions[2].type` for a path of zod. */
function writePath(path: readonly PropertyKey[]): string {
  return path
    .map((key) =>
      typeof key === 'string' && /^\w{1,40}$/.test(key)
        ? `.${key}`
        : `[${typeof key === 'number' ? key : quoted(String(key))}]`,
    )
    .join('')
    .slice(1);
}

/** Returns the beginning of a text of the receiver, in a form that can be stored. */
function quoted(given: string): string {
  return JSON.stringify(given.slice(0, 40));
}

/** Returns the log of actions that did not run: the one at `index` was refused, and the others were skipped because of it. */
export function refusedActions(actions: readonly Action[], index: number, message: string): ActionLog {
  const results = actions.map(({ type }, at) => ({
    type,
    status: at === index ? ('refused' as const) : ('skipped' as const),
    message: at === index ? message : `Not run, because actions[${index}] was refused.`,
    emailId: null,
    deliveryId: null,
  }));
  return { problem: { place: `actions[${index}]`, message }, results };
}
