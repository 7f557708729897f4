import { hash } from 'node:crypto';
import { Agent, request } from 'undici';
import { z } from 'zod';
import type { SpamOptions } from '../../core/screening/scanner-options.ts';
import { readFilterResult, type SpamCheck } from '../../core/screening/spam-check.ts';
import { storableText } from '../../core/shared/text.ts';
import { readAtMost } from '../network/read-at-most.ts';

/** What is known about a message besides its bytes. */
export interface MailEnvelope {
  reversePath: string;
  recipients: readonly string[];
  remoteAddress: string;
  helo: string;
}

/** Asks rspamd: https://rspamd.com/doc/developers/protocol.html */
export interface RspamdClient {
  /**
   * Returns the verdict for one workspace; null: rspamd did not look at the mail. Throws when it does not respond, or not in the form that its
   * documentation describes.
   */
  check(workspaceId: string, envelope: MailEnvelope, bytes: Uint8Array, signal: AbortSignal): Promise<SpamCheck | null>;
  /** Teaches the classifier of one workspace. Throws when rspamd did not learn; a message that it knows is learned. */
  learn(workspaceId: string, as: 'spam' | 'ham', bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  destroy(): Promise<void>;
}

const MAX_REPLY_BYTES = 1_000_000;
/** Questions that are asked at once; others wait for their turn. */
const MAX_CONNECTIONS = 32;
const MAX_HEADER_BYTES = 998;
/** Recipients of an envelope that are named. */
const MAX_RECIPIENTS = 100;
/** rspamd has learned this message before. */
const ALREADY_LEARNED = 208;
/** It has learned nothing from a message without words. */
const NOTHING_TO_LEARN = 204;

export function createRspamdClient({
  url,
  controllerUrl,
  password,
}: Pick<SpamOptions, 'url' | 'controllerUrl' | 'password'>): RspamdClient {
  // The signal limits all of it. Redirects are not followed.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connections: MAX_CONNECTIONS, pipelining: 1 });

  const post = async (
    to: string,
    headers: [string, string][],
    body: Uint8Array,
    signal: AbortSignal,
  ): Promise<{ status: number; text: string }> => {
    const response = await request(to, { dispatcher, method: 'POST', signal, headers: headers.flat(), body });
    response.body.on('error', () => undefined);
    const text = await readAtMost(response.body, MAX_REPLY_BYTES);
    if (text === null) throw new Error('rspamd replied with too much');
    return { status: response.statusCode, text };
  };

  return {
    async check(workspaceId, { reversePath, recipients, remoteAddress, helo }, bytes, signal) {
      const { status, text } = await post(
        `${url}/checkv2`,
        [
          ['From', headerValue(reversePath === '' ? '<>' : reversePath)],
          ...recipients.slice(0, MAX_RECIPIENTS).map((to): [string, string] => ['Rcpt', headerValue(to)]),
          ['IP', headerValue(remoteAddress)],
          ['Helo', headerValue(helo)],
          ['Hostname', 'unknown'],
          ['Deliver-To', classifierName(workspaceId)],
        ],
        bytes,
        signal,
      );
      if (status !== 200) throw new Error(`rspamd replied with status ${status}`);
      const reply = checkReply.safeParse(parseJson(text));
      if (!reply.success) throw new Error('rspamd replied in a form that is not its own');
      const { score, required_score: required, action, is_skipped: isSkipped, symbols } = reply.data;
      return readFilterResult({
        score,
        required: required ?? null,
        action,
        isSkipped,
        symbols: Object.entries(symbols).map(([name, symbol]) => ({
          name: storableText(name),
          score: symbol.score,
          description: storableText(symbol.description),
        })),
      });
    },
    async learn(workspaceId, as, bytes, signal) {
      const { status } = await post(
        `${controllerUrl}/learn${as}`,
        [
          ['Deliver-To', classifierName(workspaceId)],
          ...(password === null ? [] : [['Password', headerValue(password)] as [string, string]]),
        ],
        bytes,
        signal,
      );
      if (status !== 200 && status !== ALREADY_LEARNED && status !== NOTHING_TO_LEARN)
        throw new Error(`rspamd replied with status ${status} and did not learn`);
    },
    destroy: () => dispatcher.destroy(),
  };
}

/** The name of the classifier of a workspace. rspamd ignores case, so it is not the id. */
function classifierName(workspaceId: string): string {
  return hash('sha256', workspaceId, 'hex').slice(0, 32);
}

/** Returns a value as a header that HTTP allows: UTF-8, on one line, cut. */
function headerValue(value: string): string {
  const line = value.replace(/[^\P{Cc}]/gu, ' ').trim();
  return Buffer.from(line, 'utf8').subarray(0, MAX_HEADER_BYTES).toString('latin1');
}

/** Above all scores of rules and limits that anyone sets. */
const MAX_SCORE = 1_000_000_000;
const score = z.number().min(-MAX_SCORE).max(MAX_SCORE);
const checkReply = z.object({
  score,
  required_score: score.nullish(),
  action: z.string(),
  is_skipped: z.boolean().default(false),
  symbols: z.record(z.string(), z.object({ score: score.default(0), description: z.string().default('') })).default({}),
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
