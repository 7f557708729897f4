import { z } from 'zod';
import { WEBHOOK_FORMATS } from '../core/endpoints/endpoint-config.ts';
import { DOOR_REASONS } from '../core/screening/door/refusal.ts';
import { PRESENCE_STATES } from '../core/threads/presence.ts';

/**
 * All subjects on the bus and their shapes. There are three kinds of messages: a *question* awaits one reply from one server of a queue group;
 * a *wake* tells one member of a queue group that there is work (IDs only, may be lost); a *broadcast* reaches every subscriber (live
 * events, cache invalidation; may be lost).
 */
export const questions = {
  /** Checks whether to accept a recipient, at RCPT. The verdict depends only on the recipient, except for reply addresses, so clients cache it for a few seconds. */
  'receiving.recipient.check': {
    request: z.object({ recipient: z.string(), reversePath: z.string() }),
    reply: z.discriminatedUnion('verdict', [
      z.object({
        verdict: z.literal('accept'),
        workspaceId: z.string(),
        /** null if the catch-all accepts it */
        addressId: z.string().nullable(),
        domainId: z.string(),
        /** the receiving address, in lower case, without the plus tag */
        ownAddress: z.string(),
        /** the reply address that it is; its conditions change with each message, so this verdict is not cached */
        replyAddressId: z.string().optional(),
      }),
      z.object({
        verdict: z.literal('reject'),
        code: z.number(),
        enhancedCode: z.string(),
        text: z.string(),
        /** whose domain it is; absent: of no workspace */
        workspaceId: z.string().optional(),
      }),
    ]),
    /** time limit of a reply to RCPT */
    limitMs: 8_000,
  },
  /** Stores a message; its bytes accompany the request. Replies after the commit. */
  'receiving.message.accept': {
    request: z.object({
      reversePath: z.string(),
      recipients: z
        .array(
          z.object({
            recipient: z.string(),
            workspaceId: z.string(),
            addressId: z.string().nullable(),
            domainId: z.string(),
            ownAddress: z.string(),
            replyAddressId: z.string().optional(),
            /** the ID of the new email, for tests; a repeated request stores it once. The default is a new ID */
            emailId: z.string().optional(),
          }),
        )
        .min(1),
      remoteAddress: z.string(),
      helo: z.string(),
      isTls: z.boolean(),
      /** our own trace headers (Received ...), ending in CRLF; stored separately from the bytes */
      traceFields: z.string(),
      /** whether the user simulates the message: the same bytes create a new email each time */
      isTest: z.boolean().optional(),
      /** of a message that the user imports; the same emailId creates one email, and its origin is not checked */
      imported: z
        .object({
          /** when it was received elsewhere, ISO 8601 */
          date: z.string(),
          isRead: z.boolean(),
          /** whether it is routed like new mail; otherwise it is only stored */
          isRouted: z.boolean(),
        })
        .optional(),
    }),
    reply: z.discriminatedUnion('verdict', [
      /** `isRepeated`: all of it was accepted before, and nothing is new */
      z.object({ verdict: z.literal('accepted'), emailIds: z.array(z.string()), isRepeated: z.boolean().optional() }),
      /** SMTP code 4xx or 5xx, with an enhanced status code (RFC 3463) */
      z.object({
        verdict: z.literal('refused'),
        code: z.number(),
        enhancedCode: z.string(),
        text: z.string(),
        /** `content` by default */
        reason: z.enum(DOOR_REASONS).optional(),
      }),
    ]),
    /** shorter than the 35 s of the Haraka plugin; the scanners have up to 15 s of it */
    limitMs: 30_000,
  },
  /** Stores what SMTP refused, counted. */
  'receiving.refusals.keep': {
    request: z.object({
      refusals: z
        .array(
          z.object({
            workspaceId: z.string().nullable(),
            reason: z.enum(DOOR_REASONS),
            address: z.string(),
            network: z.string().nullable(),
            helo: z.string().nullable(),
            sender: z.string().nullable(),
            recipient: z.string().nullable(),
            reply: z.string(),
            times: z.number(),
            /** ISO 8601 */
            at: z.string(),
          }),
        )
        .max(1_000),
    }),
    reply: z.object({}),
    limitMs: 8_000,
  },
  /** Notes an attempt of a client to write to a recipient, and returns whether it passes the greylist. */
  'receiving.greylist.check': {
    request: z.object({
      workspaceId: z.string(),
      address: z.string(),
      network: z.string(),
      helo: z.string(),
      sender: z.string(),
      recipient: z.string(),
      waitSeconds: z.number(),
    }),
    reply: z.object({ isPassed: z.boolean(), secondsLeft: z.number() }),
    limitMs: 8_000,
  },
  /** Returns the clients that named unknown recipients within the last minutes, for a process that starts. */
  'receiving.guesses.recall': {
    request: z.object({}),
    reply: z.object({
      guesses: z.array(z.object({ address: z.string(), times: z.number(), secondsAgo: z.number() })),
    }),
    limitMs: 8_000,
  },
  /**
   * Parses a message and checks its authentication without storing anything, for guard rules and routes. The bytes accompany the request.
   */
  'receiving.message.examine': {
    request: z.object({ reversePath: z.string(), remoteAddress: z.string(), helo: z.string() }),
    reply: z.discriminatedUnion('verdict', [
      z.object({
        verdict: z.literal('examined'),
        subject: z.string(),
        /** these four in the format of the table email_content */
        addresses: z.unknown(),
        attachments: z.unknown(),
        authentication: z.unknown(),
        injection: z.unknown(),
        /** the part of the bodies that guard rules check */
        textBody: z.string().nullable(),
        htmlBody: z.string().nullable(),
        parseError: z.string().nullable(),
        /** policy domain of a trusted DMARC report */
        dmarcDomain: z.string().nullable(),
      }),
      /** too many messages are being examined */
      z.object({ verdict: z.literal('busy') }),
    ]),
    /** the parser gives up on a message after 15 s */
    limitMs: 30_000,
  },
  /**
   * Parses a received email of the user again and stores the result; a dry run only returns it. Changes of the user stay, and so do the
   * authentication results.
   */
  'receiving.email.parse-again': {
    request: z.object({ workspaceId: z.string(), emailId: z.string(), isDryRun: z.boolean() }),
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
        /** for a dry run with changes: the input of threading and routing */
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
            injection: z.unknown(),
            textBody: z.string().nullable(),
            htmlBody: z.string().nullable(),
            /** whether it contains a DMARC report that was not found before */
            isDmarcReport: z.boolean(),
          })
          .nullable(),
      }),
      z.object({ verdict: z.literal('not-found') }),
      /** the email is still being processed */
      z.object({ verdict: z.literal('conflict'), reason: z.string() }),
      /** parsing failed; the email stays unchanged */
      z.object({ verdict: z.literal('failed'), reason: z.string() }),
      /** too many emails are being parsed again */
      z.object({ verdict: z.literal('busy') }),
    ]),
    limitMs: 30_000,
  },
  /** Checks the API key of a client that submits mail, at AUTH. Only the hash of the key travels. */
  'gateway.key.check': {
    request: z.object({ keySha256: z.string(), remoteAddress: z.string() }),
    reply: z.discriminatedUnion('verdict', [
      z.object({ verdict: z.literal('accept') }),
      z.object({ verdict: z.literal('reject'), code: z.number(), enhancedCode: z.string(), text: z.string() }),
    ]),
    limitMs: 8_000,
  },
  /** Sends a submitted message; its bytes accompany the request. Replies after the commit. */
  'gateway.message.submit': {
    request: z.object({ keySha256: z.string(), reversePath: z.string(), recipients: z.array(z.string()).min(1) }),
    reply: z.discriminatedUnion('verdict', [
      /** `isRepeated`: it was accepted before; `awaitsApprovalUntil`: ISO 8601, null when it needs no approval */
      z.object({
        verdict: z.literal('accepted'),
        emailId: z.string(),
        isRepeated: z.boolean(),
        awaitsApprovalUntil: z.string().nullable(),
      }),
      /** SMTP code 4xx or 5xx, with an enhanced status code (RFC 3463) */
      z.object({ verdict: z.literal('refused'), code: z.number(), enhancedCode: z.string(), text: z.string() }),
    ]),
    limitMs: 20_000,
  },
  /** Checks whether there is room for a message, at MAIL FROM (the plugin caches the reply for a second). */
  'receiving.capacity.check': {
    request: z.object({}),
    reply: z.object({ hasRoom: z.boolean() }),
    limitMs: 8_000,
  },
  /** Checks the DNS of domains of the user now, and stores the results. Replies after the commit. */
  'scheduling.domain.check': {
    request: z.object({ workspaceId: z.string(), domainIds: z.array(z.string()).min(1).max(100) }),
    /** IDs of the checked domains; the others were deleted, or time ran out */
    reply: z.object({ checked: z.array(z.string()) }),
    limitMs: 9_000,
  },
  /** Removes mail in the trash that its user deletes forever. Replies after the last commit; part may be removed when it fails. */
  'scheduling.trash.remove': {
    request: z.object({
      workspaceId: z.string(),
      threadIds: z.array(z.string()),
      /** those of their messages; null: all */
      emailIds: z.array(z.string()).nullable(),
    }),
    /** messages that are gone, and messages that stay because they are being processed */
    reply: z.object({ removed: z.number(), inWork: z.number() }),
    limitMs: 25_000,
  },
  /** Sends a sample to an endpoint of the user, using the code that delivers mail. */
  'delivery.endpoint.test': {
    request: z.object({
      workspaceId: z.string(),
      endpointId: z.string(),
      /** null for the format of the endpoint */
      webhookFormat: z.enum(WEBHOOK_FORMATS).nullable(),
      /** URL to call instead of that of the webhook; null for the webhook's URL */
      overrideUrl: z.string().nullable(),
      /** the event to post, with its body; null for a received email */
      event: z.object({ kind: z.string(), body: z.string() }).nullable(),
    }),
    reply: z.discriminatedUnion('verdict', [
      z.object({
        verdict: z.literal('tested'),
        success: z.boolean(),
        /** result in words, for the user */
        message: z.string(),
        responseTimeMs: z.number(),
        /** HTTP status; null if there was no response, and for endpoints that forward */
        statusCode: z.number().nullable(),
        responseBody: z.string().nullable(),
        urlTested: z.string().nullable(),
        /** JSON text of the request; null for endpoints that forward */
        payload: z.string().nullable(),
        webhookFormat: z.enum(WEBHOOK_FORMATS).nullable(),
      }),
      /** the endpoint was deleted, or its configuration is invalid */
      z.object({ verdict: z.literal('refused'), reason: z.enum(['not-found', 'invalid']), details: z.string() }),
    ]),
    /** the longest timeout of a webhook is 120 s */
    limitMs: 125_000,
  },
  /** Leaves a mailing list with one request (RFC 8058). */
  'sending.list.unsubscribe': {
    request: z.object({ url: z.string() }),
    reply: z.discriminatedUnion('verdict', [
      z.object({ verdict: z.literal('responded'), statusCode: z.number() }),
      /** `code` is that of the error, such as `ECONNREFUSED`; null without one */
      z.object({ verdict: z.literal('failed'), code: z.string().nullable() }),
    ]),
    limitMs: 15_000,
  },
  /** Asks the language model whether a stored email of the user matches a prompt. */
  'delivery.guard.ask': {
    request: z.object({ workspaceId: z.string(), emailId: z.string(), prompt: z.string() }),
    reply: z.discriminatedUnion('verdict', [
      z.object({ verdict: z.literal('answered'), isMatch: z.boolean(), reason: z.string() }),
      z.object({ verdict: z.literal('failed'), reason: z.string() }),
      z.object({ verdict: z.literal('not-found') }),
    ]),
    limitMs: 30_000,
  },
} as const;

export const wakes = {
  /** received messages of the user are ready to be parsed */
  'receiving.parse.wake': z.object({ workspaceId: z.string(), emailIds: z.array(z.string()) }),
  /** emails of the user are ready to be threaded */
  'threading.assign.wake': z.object({ workspaceId: z.string(), emailIds: z.array(z.string()) }),
  /** threaded emails of the user are ready to be routed */
  'delivery.route.wake': z.object({ workspaceId: z.string(), emailIds: z.array(z.string()) }),
  /** recipients of sent emails are due now */
  'sending.send.wake': z.object({ workspaceId: z.string(), emailIds: z.array(z.string()) }),
  /** emails of the user were scheduled or rescheduled, the first one for `at` (ISO 8601) */
  'scheduling.release.wake': z.object({ workspaceId: z.string(), at: z.string() }),
  /** deliveries are due now */
  'delivery.deliver.wake': z.object({ workspaceId: z.string(), deliveryIds: z.array(z.string()) }),
} as const;

export const broadcasts = {
  /** the event feed of the user has grown to `lastSeq` */
  'event.appended': z.object({ workspaceId: z.string(), lastSeq: z.number() }),
  /** an address or domain changed: drop cached recipient verdicts. `name` is the address or domain in lower case */
  'routing.changed': z.object({ name: z.string() }),
  /** clients named unknown recipients to an SMTP process, which tells the others */
  'guesses.counted': z.object({
    from: z.string(),
    guesses: z.array(z.object({ address: z.string(), times: z.number() })).max(1_000),
  }),
  /** an endpoint of the user subscribed to events of the feed */
  'subscription.changed': z.object({ workspaceId: z.string() }),
  /** guard rules of the user changed: drop the cached ones */
  'guard.changed': z.object({ workspaceId: z.string() }),
  /** a key was revoked or a session ended: drop the cached credentials of the workspace or the person */
  'credential.changed': z.object({ ownerId: z.string() }),
  /** a member reads a thread, replies to it, or has left it (operations/threads/presence-hub.ts) */
  'presence.changed': z.object({
    workspaceId: z.string(),
    threadId: z.string(),
    personId: z.string(),
    name: z.string(),
    state: z.enum(PRESENCE_STATES),
  }),
  /** a member marked threads as read or unread by the member alone; null: everything (operations/threads/read-state-hub.ts) */
  'read.changed': z.object({
    workspaceId: z.string(),
    personId: z.string(),
    threadIds: z.array(z.string()).nullable(),
    isRead: z.boolean(),
  }),
} as const;

export type QuestionSubject = keyof typeof questions;
export type WakeSubject = keyof typeof wakes;
export type BroadcastSubject = keyof typeof broadcasts;
export type Request<S extends QuestionSubject> = z.infer<(typeof questions)[S]['request']>;
export type Reply<S extends QuestionSubject> = z.infer<(typeof questions)[S]['reply']>;
export type Wake<S extends WakeSubject> = z.infer<(typeof wakes)[S]>;
export type Broadcast<S extends BroadcastSubject> = z.infer<(typeof broadcasts)[S]>;

/** Returned by `serve`, `onWake` and `subscribe`. `stop` takes no new messages, and resolves when the current ones are done. */
export interface Subscription {
  stop(): Promise<void>;
}

interface AskOptions {
  /** raw bytes that accompany the request; at most MAX_BYTES */
  bytes?: Uint8Array;
  /** time limit instead of that of the subject; milliseconds */
  limitMs?: number;
}

/** The message bus. The four transports (NATS, in-process, socket, two-process) pass the same test suite. */
export interface Bus {
  /**
   * Asks one server of the subject and awaits its reply. Throws BusTimeout (no reply in time), BusUnavailable (no connection or no server),
   * BusRemoteError (the server threw an error).
   */
  ask<S extends QuestionSubject>(subject: S, request: Request<S>, options?: AskOptions): Promise<Reply<S>>;
  /** Serves a question as a member of its queue group; `bytes` is empty if none were sent. */
  serve<S extends QuestionSubject>(
    subject: S,
    respond: (request: Request<S>, bytes: Uint8Array) => Promise<Reply<S>>,
  ): Subscription;
  /** Sends a wake to one member of the queue group. Never throws and never waits; may be lost. */
  wake<S extends WakeSubject>(subject: S, message: Wake<S>): void;
  onWake<S extends WakeSubject>(subject: S, work: (message: Wake<S>) => void | Promise<void>): Subscription;
  /** Sends a broadcast to every subscriber. Never throws and never waits; may be lost. */
  publish<S extends BroadcastSubject>(subject: S, message: Broadcast<S>): void;
  subscribe<S extends BroadcastSubject>(subject: S, take: (message: Broadcast<S>) => void): Subscription;
  /** returns whether questions can be asked now */
  isConnected(): boolean;
  /** Closes the bus. Pending questions fail with BusUnavailable. */
  close(): Promise<void>;
}

/** Maximum raw bytes of a message on the bus: the SMTP limit of 15,000,000 and room for trace headers. */
export const MAX_BYTES = 16_000_000;

/** No reply within the time limit. */
export class BusTimeout extends Error {
  override name = 'BusTimeout';
}
/** There is no connection, or no process serves the subject. */
export class BusUnavailable extends Error {
  override name = 'BusUnavailable';
}
/** The server of the question threw an error; this is its message. */
export class BusRemoteError extends Error {
  override name = 'BusRemoteError';
}
