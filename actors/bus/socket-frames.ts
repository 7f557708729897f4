import { z } from 'zod';
import { failure } from './transport.ts';

/*
 * The protocol between a client process and the bus that it reaches over a Unix socket. The client joins a subject as a numbered member, in
 * one of three modes, and leaves it again. When the server confirms that it left, nothing more arrives for that member. Questions go both
 * ways and are numbered by their asker.
 */
const outcome = [
  z.object({ op: z.literal('reply'), id: z.number(), reply: z.unknown() }),
  z.object({ op: z.literal('failure'), id: z.number(), failure }),
] as const;

/** W3C Trace Context of the sender's span; absent when there is none. */
const traceParent = z.string().optional();

/** Frames that a client sends. */
export const clientFrame = z.discriminatedUnion('op', [
  z.object({
    op: z.literal('ask'),
    id: z.number(),
    subject: z.string(),
    request: z.unknown(),
    limitMs: z.number(),
    /** taken before the question waits for room, from `monotonicMs`, which all processes of a machine share */
    askedAtMs: z.number(),
    traceParent,
  }),
  z.object({ op: z.literal('wake'), subject: z.string(), message: z.unknown(), traceParent }),
  z.object({
    op: z.literal('publish'),
    subject: z.string(),
    message: z.unknown(),
    /** whether the subscriptions of this client get no copy */
    isForOthers: z.boolean().optional(),
    traceParent,
  }),
  z.object({
    op: z.literal('join'),
    member: z.number(),
    manner: z.enum(['serve', 'wake', 'subscribe']),
    subject: z.string(),
  }),
  z.object({ op: z.literal('leave'), member: z.number() }),
  ...outcome,
]);
export type ClientFrame = z.infer<typeof clientFrame>;

/** Frames that the server sends. */
export const serverFrame = z.discriminatedUnion('op', [
  z.object({ op: z.literal('question'), id: z.number(), member: z.number(), request: z.unknown(), traceParent }),
  /** a wake or a broadcast, depending on how the member joined */
  z.object({ op: z.literal('message'), member: z.number(), message: z.unknown(), traceParent }),
  z.object({ op: z.literal('left'), member: z.number() }),
  ...outcome,
]);
export type ServerFrame = z.infer<typeof serverFrame>;

/** The part of a frame that carries a traceparent. */
export function carrying(traceParent: string | null): { traceParent?: string } {
  return traceParent === null ? {} : { traceParent };
}
