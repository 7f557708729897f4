import type { Dispatcher } from 'undici';
import { loadOnce } from '../../core/shared/load-once.ts';
import type { CheckedDispatcherOptions } from './checked-dispatcher.ts';

export interface CheckedRequest {
  url: string;
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: Buffer;
  /** for everything from the name lookup to the last byte; milliseconds */
  timeoutMs: number;
  /** a longer response is a failure */
  maxBytes: number;
}

export type CheckedResponse =
  | { kind: 'responded'; statusCode: number; contentType: string; body: string }
  /** `code` is that of the error; null without one */
  | { kind: 'no-response'; code: string | null };

/** Returns the checked dispatcher that it creates at the first call. Few requests are made, and the HTTP client takes some MiB. */
export type OpenDispatcher = () => Promise<Dispatcher>;

export function openDispatcherLater(options: CheckedDispatcherOptions): OpenDispatcher {
  return loadOnce(async () => (await import('./checked-dispatcher.ts')).createCheckedDispatcher(options));
}

/** Makes one request through a checked dispatcher, without redirects. Never rejects. */
export async function requestChecked(
  openDispatcher: OpenDispatcher,
  options: CheckedRequest,
): Promise<CheckedResponse> {
  const { url, method, headers, body, timeoutMs, maxBytes } = options;
  try {
    const { request } = await import('undici');
    const response = await request(url, {
      dispatcher: await openDispatcher(),
      method,
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const chunks: Buffer[] = [];
    let size = 0;
    // Leaving the loop closes the connection.
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) return { kind: 'no-response', code: 'TOO_LARGE' };
      chunks.push(chunk);
    }
    return {
      kind: 'responded',
      statusCode: response.statusCode,
      contentType: [response.headers['content-type'] ?? ''].flat().join(),
      body: Buffer.concat(chunks).toString('utf8'),
    };
  } catch (error) {
    return { kind: 'no-response', code: findCode(error) };
  }
}

function findCode(error: unknown): string | null {
  if (error instanceof AggregateError) return findCode(error.errors[0]);
  if (!(error instanceof Error)) return null;
  if (error.name === 'TimeoutError') return 'ETIMEDOUT';
  return 'code' in error && typeof error.code === 'string' ? error.code : null;
}
