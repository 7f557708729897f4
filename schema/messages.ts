import { z } from 'zod';
import { WEBHOOK_FORMATS } from '../core/endpoints/endpoint-config.ts';

/**
 * Every subject on the bus with its shapes. Three manners of talk: a *question* awaits one answer from one server of a queue group;
 * a *wake* tells one member of a queue group that there is work (ids only, may be lost); a *broadcast* reaches every subscriber
 * (live events, cache drops; may be lost).
 */
export const questions = {
  /** May this forward-path be taken? Asked at RCPT. The verdict hangs on the recipient alone: askers remember it for moments. */
  'receiving.recipient.check': {
    request: z.object({ recipient: z.string(), reversePath: z.string() }),
    reply: z.discriminatedUnion('verdict', [
      z.object({
        verdict: z.literal('accept'),
        userId: z.string(),
        /** null when the catch-all takes it */
        addressId: z.string().nullable(),
        domainId: z.string(),
        /** the address that takes it, lower case, without plus-tag */
        ownAddress: z.string(),
      }),
      z.object({ verdict: z.literal('reject'), code: z.number(), enhancedCode: z.string(), text: z.string() }),
    ]),
    /** The question at RCPT has 8 s. */
    limitMs: 8_000,
  },
  /** Store this message; the bytes travel beside the request. The answer comes after the commit. */
  'receiving.message.accept': {
    request: z.object({
      reversePath: z.string(),
      recipients: z
        .array(
          z.object({
            recipient: z.string(),
            userId: z.string(),
            addressId: z.string().nullable(),
            domainId: z.string(),
            ownAddress: z.string(),
            /** of a test: the id that its email shall bear; asked for again, it is stored once. Absent: a new one */
            emailId: z.string().optional(),
          }),
        )
        .min(1),
      remoteAddress: z.string(),
      helo: z.string(),
      isTls: z.boolean(),
      /** our own trace fields (Received ...), CRLF ended; stored beside the bytes */
      traceFields: z.string(),
      /** made by its user to try things out, not come by SMTP: the same bytes make another mail each time */
      isTest: z.boolean().optional(),
    }),
    reply: z.discriminatedUnion('verdict', [
      z.object({ verdict: z.literal('accepted'), emailIds: z.array(z.string()) }),
      /** 4xx or 5xx with RFC 3463 code */
      z.object({ verdict: z.literal('refused'), code: z.number(), enhancedCode: z.string(), text: z.string() }),
    ]),
    /** 20 s, less than the 30 s of the plugin. */
    limitMs: 20_000,
  },
  /**
   * Read a message as the parser would, and check where it comes from, and store nothing: what guard rules and routes go by. The bytes
   * travel beside the request.
   */
  'receiving.message.examine': {
    request: z.object({ reversePath: z.string(), remoteAddress: z.string(), helo: z.string() }),
    reply: z.discriminatedUnion('verdict', [
      z.object({
        verdict: z.literal('examined'),
        subject: z.string(),
        /** as email_content has these three */
        addresses: z.unknown(),
        attachments: z.unknown(),
        authentication: z.unknown(),
        /** bodies as far as guard rules look at them */
        textBody: z.string().nullable(),
        htmlBody: z.string().nullable(),
        parseError: z.string().nullable(),
        /** of a DMARC report that is believed: the domain of its policy */
        dmarcDomain: z.string().nullable(),
      }),
      /** too much is being examined */
      z.object({ verdict: z.literal('busy') }),
    ]),
    /** a message that stops the parser is given up after 15 s */
    limitMs: 30_000,
  },
  /**
   * Parse the bytes of a received email of the user again, and store what they come to; a dry run tells and stores nothing. What its user
   * set stays, and so do the verdicts on where it came from.
   */
  'receiving.email.parse-again': {
    request: z.object({ userId: z.string(), emailId: z.string(), isDryRun: z.boolean() }),
    reply: z.discriminatedUnion('verdict', [
      z.object({
        verdict: z.literal('parsed'),
        /** see core/mime/stored-differences.ts */
        changes: z.array(
          z.object({
            field: z.string(),
            before: z.string().nullable(),
            after: z.string().nullable(),
            differsAt: z.number().nullable(),
          }),
        ),
        /** of a dry run with changes: what threads and routes go by */
        draft: z
          .object({
            messageId: z.string(),
            subject: z.string(),
            baseSubject: z.string(),
            date: z.string().nullable(),
            addresses: z.unknown(),
            inReplyTo: z.array(z.string()),
            references: z.array(z.string()),
            attachments: z.unknown(),
            authentication: z.unknown(),
            textBody: z.string().nullable(),
            htmlBody: z.string().nullable(),
            /** one that was not found in it before */
            isDmarcReport: z.boolean(),
          })
          .nullable(),
      }),
      z.object({ verdict: z.literal('not-found') }),
      /** it is still in work */
      z.object({ verdict: z.literal('conflict'), reason: z.string() }),
      /** it stays as it is */
      z.object({ verdict: z.literal('failed'), reason: z.string() }),
      /** too much is being parsed again */
      z.object({ verdict: z.literal('busy') }),
    ]),
    limitMs: 30_000,
  },
  /** Is there room for a message? Asked at MAIL FROM (cached a second by the plugin). */
  'receiving.capacity.check': {
    request: z.object({}),
    reply: z.object({ hasRoom: z.boolean() }),
    limitMs: 8_000,
  },
  /** Look at the DNS of these domains of the user now, and store what it tells. The answer comes after the commit. */
  'scheduling.domain.check': {
    request: z.object({ userId: z.string(), domainIds: z.array(z.string()).min(1).max(100) }),
    /** those that were looked at; the others are gone, or time ran out */
    reply: z.object({ checked: z.array(z.string()) }),
    limitMs: 9_000,
  },
  /** Send a sample to this endpoint of the user, by the code that delivers mail. */
  'delivery.endpoint.test': {
    request: z.object({
      userId: z.string(),
      endpointId: z.string(),
      /** null: its own */
      webhookFormat: z.enum(WEBHOOK_FORMATS).nullable(),
      /** of a webhook: posted here instead; null: its own URL */
      overrideUrl: z.string().nullable(),
    }),
    reply: z.discriminatedUnion('verdict', [
      z.object({
        verdict: z.literal('tested'),
        success: z.boolean(),
        /** for the user */
        message: z.string(),
        responseTimeMs: z.number(),
        /** of a webhook; null when nothing answered, and for other endpoints */
        statusCode: z.number().nullable(),
        responseBody: z.string().nullable(),
        urlTested: z.string().nullable(),
        /** JSON text as it was sent; null for other endpoints */
        payload: z.string().nullable(),
        webhookFormat: z.enum(WEBHOOK_FORMATS).nullable(),
      }),
      /** the endpoint is gone, or cannot be used as it is configured */
      z.object({ verdict: z.literal('refused'), reason: z.enum(['not-found', 'invalid']), details: z.string() }),
    ]),
    /** the longest wait for a webhook is 120 s */
    limitMs: 125_000,
  },
  /** Ask the model whether a stored email of the user fits a prompt. */
  'delivery.guard.ask': {
    request: z.object({ userId: z.string(), emailId: z.string(), prompt: z.string() }),
    reply: z.discriminatedUnion('verdict', [
      z.object({ verdict: z.literal('answered'), isMatch: z.boolean(), reason: z.string() }),
      z.object({ verdict: z.literal('failed'), reason: z.string() }),
      z.object({ verdict: z.literal('not-found') }),
    ]),
    limitMs: 30_000,
  },
} as const;

export const wakes = {
  /** receptions of this user wait for the parser */
  'receiving.parse.wake': z.object({ userId: z.string(), emailIds: z.array(z.string()) }),
  /** emails of this user wait for a thread */
  'threading.assign.wake': z.object({ userId: z.string(), emailIds: z.array(z.string()) }),
  /** threaded emails of this user wait for the router */
  'delivery.route.wake': z.object({ userId: z.string(), emailIds: z.array(z.string()) }),
  /** recipients of these sent emails are due now */
  'sending.send.wake': z.object({ userId: z.string(), emailIds: z.array(z.string()) }),
  /** emails of this user were scheduled, or scheduled anew, for then (ISO 8601) at the earliest */
  'scheduling.release.wake': z.object({ userId: z.string(), at: z.string() }),
  /** deliveries are due now */
  'delivery.deliver.wake': z.object({ userId: z.string(), deliveryIds: z.array(z.string()) }),
} as const;

export const broadcasts = {
  /** the event feed of this user grew up to seq */
  'event.appended': z.object({ userId: z.string(), lastSeq: z.number() }),
  /** addresses or domains changed: drop cached recipient verdicts. name is an address or a domain, lower case */
  'routing.changed': z.object({ name: z.string() }),
  /** guard rules of this user changed: drop cached ones */
  'guard.changed': z.object({ userId: z.string() }),
  /** a key was revoked: drop cached credentials */
  'credential.changed': z.object({ userId: z.string() }),
} as const;

export type QuestionSubject = keyof typeof questions;
export type WakeSubject = keyof typeof wakes;
export type BroadcastSubject = keyof typeof broadcasts;
export type Request<S extends QuestionSubject> = z.infer<(typeof questions)[S]['request']>;
export type Reply<S extends QuestionSubject> = z.infer<(typeof questions)[S]['reply']>;
export type Wake<S extends WakeSubject> = z.infer<(typeof wakes)[S]>;
export type Broadcast<S extends BroadcastSubject> = z.infer<(typeof broadcasts)[S]>;

/** Ends a `serve`, `onWake` or `subscribe`: no new message is taken; resolves when those in hand are done. */
export interface Subscription {
  stop(): Promise<void>;
}

interface AskOptions {
  /** raw bytes that travel beside the request; at most MAX_BYTES */
  bytes?: Uint8Array;
  /** at most this long, instead of the subject's own limit; milliseconds */
  limitMs?: number;
}

/** The three transports (nats, in-process, socket) implement this and pass one behaviour suite. */
export interface Bus {
  /**
   * Asks one server of the subject and awaits its answer.
   * Throws BusTimeout (no answer within the limit), BusUnavailable (no connection or nobody serves), BusRemoteError (the server threw).
   */
  ask<S extends QuestionSubject>(subject: S, request: Request<S>, options?: AskOptions): Promise<Reply<S>>;
  /** Serves a question as one member of its queue group; bytes is empty when none were sent. */
  serve<S extends QuestionSubject>(
    subject: S,
    answer: (request: Request<S>, bytes: Uint8Array) => Promise<Reply<S>>,
  ): Subscription;
  /** Tells one member of the subject's queue group. Never throws, never waits; may be lost. */
  wake<S extends WakeSubject>(subject: S, message: Wake<S>): void;
  onWake<S extends WakeSubject>(subject: S, work: (message: Wake<S>) => void | Promise<void>): Subscription;
  /** Tells every subscriber. Never throws, never waits; may be lost. */
  publish<S extends BroadcastSubject>(subject: S, message: Broadcast<S>): void;
  subscribe<S extends BroadcastSubject>(subject: S, take: (message: Broadcast<S>) => void): Subscription;
  /** whether questions can be asked now */
  isConnected(): boolean;
  /** Closes; questions in flight fail with BusUnavailable. */
  close(): Promise<void>;
}

/** Raw bytes of one message on the bus; above the SMTP limit of 15,000,000 with room for trace fields. */
export const MAX_BYTES = 16_000_000;

/** No answer within the limit. */
export class BusTimeout extends Error {
  override name = 'BusTimeout';
}
/** No connection, or nobody serves the subject. */
export class BusUnavailable extends Error {
  override name = 'BusUnavailable';
}
/** The server of the question threw; the message is the server's. */
export class BusRemoteError extends Error {
  override name = 'BusRemoteError';
}
